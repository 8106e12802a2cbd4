import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { type ProblemEntry, QueryPageSize, QueryPageToken, QueryText, QueryWord } from '#libs/http-server';
import { invalidParams } from '#libs/protocol';

/**
 * Status of a delivery:
 * - `pending`: an attempt failed, and the delivery will be retried.
 * - `delivered`: the receiver accepted the delivery.
 * - `failed`: the config of the delivery is disabled or deleted.
 */
const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface DeliveryPosition {
  /** Creation time of the delivery, in microseconds since 1970, as decimal digits. */
  createdAt: string;
  pushId: string;
  sequence: number;
}

const MAX_ID = 512;
const ID = '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11';
const TOKEN = /^(\d{1,17})\.([0-9a-f-]{36})\.(\d{1,9})$/;

/** Query parameters that filter and page the list of deliveries. */
export class DeliveriesQuery {
  static readonly exceptionFactory = (entries: ProblemEntry[]): Error =>
    invalidParams(...entries.map(({ path, detail }) => ({ field: path, description: detail })));

  @QueryText((text) => text.length <= MAX_ID, `must be an id of at most ${MAX_ID} characters`, {
    example: '0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52',
  })
  taskId?: string;

  @QueryWord(DELIVERY_STATUSES)
  @Transform(({ value }: { value: unknown }) => (value === '' ? undefined : value))
  status?: DeliveryStatus;

  @QueryPageSize(50)
  pageSize = 50;

  @QueryPageToken(
    (text) => positionOf(text) !== undefined,
    tokenAfter({ createdAt: '1769817600000000', pushId: ID, sequence: 7 }),
  )
  pageToken?: string;

  /** Position of the last delivery of the previous page; `undefined` for the first page. */
  get before(): DeliveryPosition | undefined {
    return this.pageToken ? positionOf(this.pageToken) : undefined;
  }
}

/** Returns the page token that continues a list after this delivery. */
export function tokenAfter({ createdAt, pushId, sequence }: DeliveryPosition): string {
  return Buffer.from(`${createdAt}.${pushId}.${sequence}`).toString('base64url');
}

function positionOf(token: string): DeliveryPosition | undefined {
  const match = TOKEN.exec(Buffer.from(token, 'base64url').toString());
  return match ? { createdAt: match[1]!, pushId: match[2]!, sequence: Number(match[3]) } : undefined;
}

/** Delivery as the API shows it: a notification with the outcome of its attempts so far. */
export class DeliveryView {
  @ApiProperty({
    description: 'Id of the notification, as its receiver sees it.',
    example: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11.7',
  })
  id!: string;

  @ApiProperty({ example: '0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52' })
  taskId!: string;

  @ApiProperty({ example: 'config-1' })
  configId!: string;

  @ApiProperty({ type: 'integer', description: 'Sequence number of the event in its Task.', example: 7 })
  sequence!: number;

  @ApiProperty({ description: 'URL of the receiver, without the query.', example: 'https://hooks.example.com/parley' })
  url!: string;

  @ApiProperty({
    enum: DELIVERY_STATUSES,
    description: '`pending`: to be retried; `failed`: the config is disabled; `delivered`: the receiver accepted it.',
  })
  status!: DeliveryStatus;

  @ApiProperty({ type: 'integer', example: 1 })
  attempts!: number;

  @ApiPropertyOptional({ type: 'integer', description: 'HTTP status of the last answer.', example: 200 })
  lastStatus?: number;

  @ApiPropertyOptional({ description: 'Kind of failure, if there was no answer.', example: 'timeout' })
  lastError?: string;

  @ApiPropertyOptional({ format: 'date-time' })
  nextAttemptAt?: string;

  @ApiPropertyOptional({
    description: 'Reason for which the config was disabled.',
    example: 'The receiver answered 410 Gone',
  })
  disabledReason?: string;

  @ApiProperty({ format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ format: 'date-time' })
  updatedAt!: string;
}

export class DeliveryPageView {
  @ApiProperty({ type: [DeliveryView] })
  deliveries!: DeliveryView[];

  @ApiProperty({ description: 'Empty on the last page.', example: '' })
  nextPageToken!: string;
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { DELIVERY_STATUSES, type DeliveryStatus } from './deliveries-query.js';

/** Notification as the ledger shows it. */
export class DeliveryView {
  @ApiProperty({
    description: "The notification's id, as its receiver sees it.",
    example: '0b7c6f0a-3f0e-4a49-8a57-6a7f3c1f2d11.7',
  })
  id!: string;

  @ApiProperty({ example: '0190c1de-7a53-7f0c-9a57-2f8f0f6f3b52' })
  taskId!: string;

  @ApiProperty({ example: 'config-1' })
  configId!: string;

  @ApiProperty({ type: 'integer', description: "The event's number in its Task.", example: 7 })
  sequence!: number;

  @ApiProperty({ description: 'Where it goes, without the query.', example: 'https://hooks.example.com/parley' })
  url!: string;

  @ApiProperty({
    enum: DELIVERY_STATUSES,
    description: '`pending`: will be tried again; `failed`: its config is disabled; `delivered`: the receiver took it.',
  })
  status!: DeliveryStatus;

  @ApiProperty({ type: 'integer', example: 1 })
  attempts!: number;

  @ApiPropertyOptional({ type: 'integer', description: 'The HTTP status of the last answer.', example: 200 })
  lastStatus?: number;

  @ApiPropertyOptional({ description: 'The kind of failure where there was no answer.', example: 'timeout' })
  lastError?: string;

  @ApiPropertyOptional({ format: 'date-time' })
  nextAttemptAt?: string;

  @ApiPropertyOptional({
    description: 'Why its config gets nothing more.',
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

import { invalidParams } from '#libs/protocol';

/** `pending`: will be tried again; `failed`: its config is disabled; `delivered`: the receiver took it. */
export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Which deliveries are asked for. */
export interface DeliveriesQuery {
  taskId?: string;
  status?: DeliveryStatus;
  pageSize: number;
  /** The last one of the page before. */
  before?: DeliveryPosition;
}

export interface DeliveryPosition {
  /** Microseconds: what a timestamp of the database holds. */
  createdAt: string;
  pushId: string;
  sequence: number;
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;
const MAX_ID = 512;
const TOKEN = /^(\d{1,17})\.([0-9a-f-]{36})\.(\d{1,9})$/;

/** @throws A2AError INVALID_PARAMS naming the parameter */
export function readDeliveriesQuery(query: Record<string, unknown>): DeliveriesQuery {
  const taskId = one(query, 'taskId');
  // PostgreSQL keeps no text with a NUL in it.
  if (taskId !== undefined && (taskId.length > MAX_ID || taskId.includes('\u0000'))) {
    throw invalidParams({ field: 'taskId', description: `must be an id of at most ${MAX_ID} characters` });
  }
  const token = one(query, 'pageToken');
  const status = one(query, 'status');
  return {
    ...(taskId && { taskId }),
    ...(status && { status: readStatus(status) }),
    ...(token && { before: readToken(token) }),
    pageSize: readPageSize(one(query, 'pageSize')),
  };
}

/** The token of the page after a delivery. */
export function tokenAfter({ createdAt, pushId, sequence }: DeliveryPosition): string {
  return Buffer.from(`${createdAt}.${pushId}.${sequence}`).toString('base64url');
}

function readStatus(status: string): DeliveryStatus {
  const known = DELIVERY_STATUSES.find((it) => it === status);
  if (known) return known;
  throw invalidParams({ field: 'status', description: `must be one of ${DELIVERY_STATUSES.join(', ')}` });
}

function readPageSize(value: string | undefined): number {
  if (value === undefined || value === '') return DEFAULT_PAGE_SIZE;
  const size = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (size >= 1 && size <= MAX_PAGE_SIZE) return size;
  throw invalidParams({ field: 'pageSize', description: `must be a number from 1 to ${MAX_PAGE_SIZE}` });
}

function readToken(token: string): DeliveryPosition {
  const match = TOKEN.exec(Buffer.from(token, 'base64url').toString());
  if (!match) throw invalidParams({ field: 'pageToken', description: 'is not a token of this list' });
  return { createdAt: match[1]!, pushId: match[2]!, sequence: Number(match[3]) };
}

function one(query: Record<string, unknown>, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw invalidParams({ field: name, description: 'must be given once' });
}

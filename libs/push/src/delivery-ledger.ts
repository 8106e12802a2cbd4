import { Injectable } from '@nestjs/common';
import { cutPage } from '#libs/http-server';
import { Database } from '#libs/postgres';
import { A2AError } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import {
  type DeliveriesQuery,
  type DeliveryPageView,
  type DeliveryStatus,
  type DeliveryView,
  tokenAfter,
} from './deliveries.dto.js';
import { DeliveryStore } from './delivery-store.js';
import { notificationId, readNotificationId } from './notification-request.js';
import { PushRepeats } from './push-repeats.js';

/** Ledger of push notifications: lists attempted notifications with their outcomes, and sends them again on request. */
@Injectable()
export class DeliveryLedger {
  constructor(
    private readonly database: Database,
    private readonly repeats: PushRepeats,
    private readonly store: DeliveryStore,
  ) {}

  /** Lists deliveries, newest first. */
  async listPage(scope: TaskScope, query: DeliveriesQuery): Promise<DeliveryPageView> {
    const { taskId, status, before, pageSize } = query;
    const values = [
      scope.tenant,
      scope.owner,
      taskId || null,
      status ?? null,
      before?.createdAt ?? null,
      before?.pushId ?? null,
      before?.sequence ?? null,
      pageSize + 1,
    ];
    const { rows } = await this.database.reads.queryInTurn<DeliveryRow>(scope, { text: PAGE, values });
    const { page, nextPageToken } = cutPage(rows, pageSize, ({ position: createdAt, push_id: pushId, sequence }) =>
      tokenAfter({ createdAt, pushId, sequence }),
    );
    return { deliveries: page.map(toDeliveryView), nextPageToken };
  }

  /**
   * Sends a notification again.
   * - A notification that was delivered before is sent alone.
   * - Any other notification is retried at once, even if its config is disabled. The later notifications of the config
   *   follow.
   * @throws A2AError with status 404 for an unknown delivery, 409 if the config was deleted
   */
  async sendAgain(scope: TaskScope, id: string): Promise<DeliveryView> {
    const named = readNotificationId(id);
    const row = named && (await this.findDelivery(scope, named.pushId, named.sequence));
    if (!row) throw new A2AError('TASK_NOT_FOUND', { message: 'delivery not found' });
    if (row.deleted)
      throw new A2AError('INVALID_REQUEST', { message: 'The config of the delivery was deleted', status: 409 });
    if (row.status === 'delivered') await this.repeats.add(named);
    else await this.store.retryNow(named.pushId);
    return toDeliveryView((await this.findDelivery(scope, named.pushId, named.sequence)) ?? row);
  }

  private async findDelivery(scope: TaskScope, pushId: string, sequence: number): Promise<DeliveryRow | undefined> {
    const { rows } = await this.database.pool.query<DeliveryRow>(ONE, [scope.tenant, scope.owner, pushId, sequence]);
    return rows[0];
  }
}

interface DeliveryRow {
  push_id: string;
  sequence: number;
  task_id: string;
  config_id: string;
  url: string;
  status: DeliveryStatus;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
  next_attempt_at: Date | null;
  disabled_reason: string | null;
  deleted: boolean;
  created_at: Date;
  updated_at: Date;
  position: string;
}

function toDeliveryView(row: DeliveryRow): DeliveryView {
  const { status, last_status, last_error, next_attempt_at } = row;
  const url = new URL(row.url);
  const reason = row.deleted ? 'The config was deleted' : row.disabled_reason;
  return {
    id: notificationId(row.push_id, row.sequence),
    taskId: row.task_id,
    configId: row.config_id,
    sequence: row.sequence,
    url: `${url.origin}${url.pathname}`,
    status,
    attempts: row.attempts,
    ...(last_status !== null && { lastStatus: last_status }),
    ...(last_error !== null && { lastError: last_error }),
    ...(status === 'pending' && next_attempt_at && { nextAttemptAt: next_attempt_at.toISOString() }),
    ...(reason !== null && { disabledReason: reason }),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

const DELIVERIES = `
  SELECT delivery.push_id, sequence, delivery.task_id, config_id, url, status, delivery.attempts, last_status, last_error,
         next_attempt_at, disabled_reason, deleted_at IS NOT NULL AS deleted, delivery.created_at, delivery.updated_at,
         (extract(epoch FROM delivery.created_at) * 1000000)::bigint::text AS position
  FROM push_delivery AS delivery JOIN push_config USING (push_id)
  WHERE delivery.tenant = $1 AND delivery.owner = $2`;

const PAGE = `${DELIVERIES}
  AND ($3::text IS NULL OR delivery.task_id = $3) AND ($4::text IS NULL OR status = $4)
  AND ($5::bigint IS NULL OR (delivery.created_at, delivery.push_id, sequence)
       < ('epoch'::timestamptz + $5::bigint * interval '1 microsecond', $6::text, $7::int))
  ORDER BY delivery.created_at DESC, delivery.push_id DESC, sequence DESC LIMIT $8`;

const ONE = `${DELIVERIES} AND delivery.push_id = $3 AND sequence = $4`;

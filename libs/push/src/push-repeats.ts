import { Injectable } from '@nestjs/common';
import { type PushLane, PushQueues, PushSessions } from './push-queues.js';

/** Notification to send again: the config, and the sequence number of the event. */
export interface Repeat {
  pushId: string;
  sequence: number;
}

/** Notification to send again that a lane has taken; `number` is the id of its row. */
export interface TakenRepeat extends Repeat {
  number: string;
}

/** Notifications that their owners requested again: they wait in the queues of their receivers like all others. */
@Injectable()
export class PushRepeats {
  constructor(
    private readonly database: PushSessions,
    private readonly queues: PushQueues,
  ) {}

  /** Adds a repeat; resolves when it is durable. A repeat of a deleted config is dropped. */
  async add({ pushId, sequence }: Repeat): Promise<void> {
    await this.database.pool.query(ADD, [pushId, sequence]);
    this.queues.announceDue();
  }

  /** Takes the oldest repeat of a lane's queue; `undefined` if there is none. */
  async takeNextRepeat({ tenant, owner, receiver, holder }: PushLane): Promise<TakenRepeat | undefined> {
    const { rows } = await this.database.pool.query<TakenRepeat>({
      name: 'push-repeat',
      text: NEXT,
      values: [tenant, owner, receiver, holder],
    });
    return rows[0];
  }

  /** Deletes a repeat after its notification was sent, or was dropped because its config or event no longer exists. */
  async forgetRepeat({ number }: TakenRepeat): Promise<void> {
    await this.database.pool.query('DELETE FROM push_repeat WHERE number = $1', [number]);
  }
}

/**
 * Adds a repeat, then makes its queue due. If a lane has locked the queue because it is about to end, the update of the
 * queue waits for that lane, and makes the queue due after the end of the lane.
 */
const ADD = `
  WITH added AS (
    INSERT INTO push_repeat (push_id, sequence, tenant, owner, receiver)
    SELECT push_id, $2::int, tenant, owner, receiver FROM push_config
    WHERE push_id = $1 AND deleted_at IS NULL AND receiver IS NOT NULL
    RETURNING tenant, owner, receiver
  )
  INSERT INTO push_queue AS held (tenant, owner, receiver, due_at) SELECT tenant, owner, receiver, now() FROM added
  ON CONFLICT (tenant, owner, receiver) DO UPDATE SET due_at = now(), updated_at = now()`;

const NEXT = `
  UPDATE push_repeat SET holder = $4 WHERE number = (
    SELECT number FROM push_repeat
    WHERE tenant = $1 AND owner = $2 AND receiver = $3 AND holder IS NULL
    ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING number, push_id AS "pushId", sequence`;

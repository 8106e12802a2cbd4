import { Injectable } from '@nestjs/common';
import { callerFlag } from '#libs/jobs';
import { Database } from '#libs/postgres';
import { TaskRetention } from '#libs/tasks';
import { type NextLook, type RemoteLook, remoteLookKey } from '../remote-look-job.js';
import { type LookPlace, RemoteLookStore } from '../remote-look-store.js';
import { MAKE_DUE } from '../run-waking.js';

/** RemoteLookStore on PostgreSQL. */
@Injectable()
export class PostgresRemoteLookStore extends RemoteLookStore {
  constructor(
    private readonly database: Database,
    retention: TaskRetention,
  ) {
    super();
    retention.purgeWith('DELETE FROM remote_moved_on WHERE run_id = ANY($1::text[])');
  }

  override async readPlace({ runId, node, asked }: RemoteLook): Promise<LookPlace> {
    const { rows } = await this.database.pool.query<LookPlace>(PLACE, [runId, node, asked]);
    return rows[0] ?? { ended: true, movedOn: false };
  }

  override async continueWith({ name, key, payload, pause, maxAttempts, priority }: NextLook): Promise<boolean> {
    const values = [
      key,
      payload.asked,
      name,
      JSON.stringify(payload),
      pause,
      maxAttempts,
      priority,
      callerFlag(payload.scope),
    ];
    return ((await this.database.pool.query(CONTINUE, values)).rowCount ?? 0) > 0;
  }

  override async reserveTurn(agent: string, spacing: number): Promise<number> {
    const { rows } = await this.database.pool.query<{ wait: number }>(RESERVE, [agent, spacing]);
    return rows[0]?.wait ?? 0;
  }

  override async keepMovedOn(look: RemoteLook): Promise<void> {
    const { runId, node, asked } = look;
    await this.database.pool.query(KEEP_MOVED_ON, [runId, node, asked, remoteLookKey(look)]);
  }

  override async wakeRun(runId: string): Promise<boolean> {
    return ((await this.database.pool.query(MAKE_DUE, [runId])).rowCount ?? 0) > 0;
  }

  override async forgetIdleAgents(): Promise<void> {
    await this.database.pool.query(`DELETE FROM remote_look_turn WHERE next_at < now() - interval '1 hour'`);
  }
}

const PLACE = `
  SELECT state NOT IN ('TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED',
                       'TASK_STATE_AUTH_REQUIRED') AS ended,
         EXISTS (SELECT FROM remote_moved_on WHERE run_id = $1 AND node_id = $2 AND asked = $3) AS "movedOn"
  FROM task WHERE task_id = $1`;

// A job that replaces a running one takes its key first. The lock on the row decides which of the two is seen.
const CONTINUE = `
  WITH mine AS MATERIALIZED (
    SELECT id FROM graphile_worker._private_jobs
    WHERE key = $1 AND payload->>'asked' = $2 AND locked_at IS NOT NULL FOR UPDATE)
  SELECT (graphile_worker.add_job($3, $4::json, run_at => now() + $5::float8 * interval '1 ms',
                                  max_attempts => $6::int, job_key => $1, priority => $7::int,
                                  flags => ARRAY[$8::text])).id
  FROM mine`;

const RESERVE = `
  INSERT INTO remote_look_turn AS turn (agent, next_at) VALUES ($1, now() + $2::float8 * interval '1 ms')
  ON CONFLICT (agent) DO UPDATE SET next_at = greatest(turn.next_at, now()) + $2::float8 * interval '1 ms'
  RETURNING greatest(0, extract(epoch FROM next_at - now()) * 1000 - $2::float8)::float8 AS wait`;

const KEEP_MOVED_ON = `
  INSERT INTO remote_moved_on (run_id, node_id, asked)
  SELECT $1, $2, $3
  WHERE EXISTS (SELECT FROM graphile_worker._private_jobs WHERE key = $4 AND payload->>'asked' = $3)
    AND EXISTS (SELECT FROM task WHERE task_id = $1)
  ON CONFLICT DO NOTHING`;

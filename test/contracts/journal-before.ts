import pg from 'pg';
import type { newDraft } from './task-draft.js';

/** A session of the version in which every commit updated its writer's row and its counts. */
export class JournalBefore {
  private constructor(
    private readonly session: pg.Client,
    readonly writer: string,
  ) {}

  static async connect(url: string): Promise<JournalBefore> {
    const session = new pg.Client({ connectionString: url });
    await session.connect();
    const writer = `before-${Math.random().toString(36).slice(2)}`;
    await session.query(`SET parley.journal = 'on'; SET parley.writer = '${writer}'`);
    return new JournalBefore(session, writer);
  }

  /** Commits a new Task without a log, as that version numbers and counts it. */
  async create({ taskId, created }: ReturnType<typeof newDraft>): Promise<void> {
    const { header } = created().create!;
    await this.session.query(CREATE, [
      taskId,
      header.contextId,
      header.tenant,
      header.owner,
      header.agent,
      header.state,
    ]);
  }

  /** Counts an owner's Tasks as that version does. */
  async count(owner: string): Promise<number> {
    const text = `SELECT coalesce(sum(tasks), 0)::int AS total FROM task_count WHERE tenant = '' AND owner = $1`;
    return (await this.session.query<{ total: number }>(text, [owner])).rows[0]!.total;
  }

  /** Reads how far all writers have come, as that version does. */
  async positions(): Promise<Map<string, bigint>> {
    const { rows } = await this.session.query<{ writer: string; position: string }>(
      'SELECT writer, position::text, now() AS at FROM (SELECT) AS one LEFT JOIN task_writer ON true',
    );
    return new Map(rows.map(({ writer, position }) => [writer, BigInt(position)]));
  }

  /** Shows that a replica of that version lives, as it does when it starts. */
  async join(replicaId: string): Promise<void> {
    await this.session.query(
      `INSERT INTO replica (id, lock_key) VALUES ($1, 1)
       ON CONFLICT (id) DO UPDATE SET lock_key = excluded.lock_key, heartbeat_at = now()`,
      [replicaId],
    );
  }

  end(): Promise<void> {
    return this.session.end();
  }
}

const CREATE = `
  WITH created AS (
    INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, $6, 1, now(), now())
    ON CONFLICT (task_id) DO NOTHING RETURNING task_id, 0 AS after, last_sequence
  ),
  written AS (SELECT task_id, after, last_sequence FROM created),
  positioned AS (
    INSERT INTO task_writer AS held (writer, position)
    SELECT current_setting('parley.writer'), (extract(epoch FROM now()) * 1000)::bigint FROM written LIMIT 1
    ON CONFLICT (writer) DO UPDATE SET position = held.position + 1
    RETURNING writer, position
  ),
  committed AS (
    INSERT INTO task_commit (writer, position, task_ids, afters, last_sequences, committed_at)
    SELECT positioned.writer, positioned.position, array_agg(task_id), array_agg(after), array_agg(last_sequence), now()
    FROM positioned, written GROUP BY positioned.writer, positioned.position
  )
  SELECT task_id FROM written`;

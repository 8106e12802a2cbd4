import type { RecordedEvent, TaskEvent } from '#libs/tasks';
import pg from 'pg';

/** What the version before asks of the log, with names, so that the database keeps how it answers. */
export const OF_BEFORE = {
  write: {
    name: 'write',
    text: `
      WITH continued AS (
        UPDATE task SET last_sequence = $3 WHERE task_id = $1 AND last_sequence = $2 RETURNING task_id
      ),
      logged AS (
        INSERT INTO task_event (task_id, sequence, payload, received, artifact, recorded_at)
        SELECT task_id, sequence, payload, received, artifact, now()
        FROM unnest($4::text[], $5::int[], $6::json[], $7::json[], $8::boolean[])
          AS event (task_id, sequence, payload, received, artifact)
        WHERE (event.task_id IN (SELECT task_id FROM continued)) IS TRUE
      )
      SELECT task_id FROM continued`,
  },
  read: {
    name: 'read',
    text: `SELECT task_id, sequence, payload::text, received::text FROM task_event
           WHERE task_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`,
  },
  commits: `
    SELECT task_id, sequence, payload::text, received::text
    FROM unnest($1::text[], $2::int[], $3::int[]) AS moved (task_id, after, last_sequence)
    CROSS JOIN LATERAL (
      SELECT sequence, payload, received FROM task_event
      WHERE task_event.task_id = moved.task_id AND sequence > moved.after AND sequence <= moved.last_sequence
    ) AS event`,
  purge: { name: 'purge', text: 'DELETE FROM task_event WHERE task_id = ANY($1::text[])' },
};

interface Written {
  taskId: string;
}

/** A session of the version in which each event had a row of its own. */
export class VersionBefore {
  private constructor(private readonly session: pg.Client) {}

  static async connect(url: string): Promise<VersionBefore> {
    const session = new pg.Client({ connectionString: url });
    await session.connect();
    return new VersionBefore(session);
  }

  query(statement: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    return this.session.query(statement, values);
  }

  /** Adds events to a log. @returns whether that ended where they begin, so that they are there now */
  async write({ taskId }: Written, after: number, ...events: readonly TaskEvent[]): Promise<boolean> {
    const received = events.map((event) => ('statusUpdate' in event ? event.received : undefined));
    const columns = [
      events.map(() => taskId),
      events.map((_event, index) => after + index + 1),
      events.map((event) => JSON.stringify({ ...event, received: undefined })),
      received.map((it) => it && JSON.stringify(it)),
      events.map((event) => 'artifactUpdate' in event),
    ];
    const values = [taskId, after, after + events.length, ...columns];
    return (await this.session.query({ ...OF_BEFORE.write, values })).rowCount === 1;
  }

  async read({ taskId }: Written, after = 0, limit = 1_000): Promise<unknown[]> {
    return (await this.session.query({ ...OF_BEFORE.read, values: [taskId, after, limit] })).rows;
  }

  async purge(...taskIds: readonly string[]): Promise<void> {
    await this.session.query({ ...OF_BEFORE.purge, values: [taskIds] });
  }

  end(): Promise<void> {
    return this.session.end();
  }
}

/** What the version before shows of events. */
export function asRows(events: readonly RecordedEvent[]): unknown[] {
  return events.map(({ taskId, sequence, json, event }) => {
    const received = 'statusUpdate' in event && event.received ? JSON.stringify(event.received) : null;
    return { task_id: taskId, sequence, payload: json, received };
  });
}

import pg from 'pg';
import type { TestDatabase } from '../../support/postgres.js';
import { until } from '../../support/until.js';

/**
 * Moment of a kill: as soon as possible `after` the commit of an event, or right `before` the commit of the next one,
 * when the process has done everything in between.
 */
export type Moment = 'after' | 'before';

export const MOMENTS: readonly Moment[] = ['after', 'before'];

/** Key of the advisory locks of the gates. The service uses no lock with this key. */
const LOCKS = 4_711;

const TRIGGER = `
  CREATE TABLE event_gate (agent text PRIMARY KEY, sequence int NOT NULL, moment text NOT NULL, key int NOT NULL);
  CREATE FUNCTION event_gate() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE gate event_gate;
  BEGIN
    SELECT it.* INTO gate FROM task LEFT JOIN task parent ON parent.task_id = task.parent_task_id
      JOIN event_gate it ON it.agent IN (task.agent, task.agent || ' of ' || parent.agent)
      WHERE task.task_id = NEW.task_id;
    IF gate.moment = 'before' AND NEW.sequence > gate.sequence THEN
      PERFORM pg_advisory_xact_lock_shared(${LOCKS}, gate.key);
    ELSIF gate.moment = 'after' AND NEW.sequence >= gate.sequence THEN
      PERFORM pg_notify('event_gate', json_build_object('key', gate.key, 'writer', current_setting('application_name'))::text);
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER event_gate BEFORE INSERT ON task_log FOR EACH ROW EXECUTE FUNCTION event_gate();`;

/** Replica that has arrived at a gate, by its process id. */
export interface Comer {
  pid: number;
  /**
   * Lets the next writer pass, and all others that wait. The replica that arrived is taken for dead: its session is
   * ended, and its events are not written.
   */
  open(): Promise<void>;
}

/**
 * Stops, in the database, the writer of a certain event of a certain agent's Task, or reports the event after its
 * commit.
 */
export class EventGates {
  private readonly told = new Map<number, number>();
  private keys = 0;

  private constructor(
    private readonly query: TestDatabase['query'],
    private readonly client: pg.Client,
  ) {
    client.on('notification', ({ payload = '{}' }) => {
      const { key, writer } = JSON.parse(payload) as { key: number; writer: string };
      this.told.set(key, pidOf(writer));
    });
    client.on('error', () => undefined);
  }

  static async on({ url, query }: Pick<TestDatabase, 'url' | 'query'>): Promise<EventGates> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(TRIGGER);
    await client.query('LISTEN event_gate');
    return new EventGates(query, client);
  }

  /**
   * Sets up a gate.
   * @param agent path of an agent with one future or active Task; `A of B` as in `Scenario.watched`
   * @returns the function that waits until a replica has arrived, or `isOver` is true
   */
  async put(
    agent: string,
    sequence: number,
    moment: Moment,
  ): Promise<(isOver: () => boolean | Promise<boolean>) => Promise<Comer | undefined>> {
    const key = ++this.keys;
    if (moment === 'before') await this.client.query('SELECT pg_advisory_lock($1, $2)', [LOCKS, key]);
    await this.query('INSERT INTO event_gate VALUES ($1, $2, $3, $4)', [agent, sequence, moment, key]);
    return async (isOver) => {
      const limit = { within: 300_000, what: `${moment} event ${sequence} of ${agent}` };
      const found = await until(async () => (await this.comer(key, moment)) ?? ((await isOver()) && 'none'), limit);
      if (found !== 'none') return { pid: found, open: () => this.open(key, moment, found) };
      await this.open(key, moment);
      return undefined;
    };
  }

  async end(): Promise<void> {
    await this.client.end();
  }

  private async comer(key: number, moment: Moment): Promise<number | undefined> {
    if (moment === 'after') return this.told.get(key);
    const [row] = await this.query<{ writer: string }>(
      `SELECT application_name AS writer FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND classid = ${LOCKS} AND objid = $1 AND NOT granted
         AND datname = current_database()`,
      [key],
    );
    return row && pidOf(row.writer);
  }

  private async open(key: number, moment: Moment, dead?: number): Promise<void> {
    await this.query('DELETE FROM event_gate WHERE key = $1', [key]);
    if (moment === 'after') return;
    await this.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND classid = ${LOCKS} AND objid = $1 AND NOT granted
         AND datname = current_database()
         AND split_part(application_name, ':', 2) = $2`,
      [key, String(dead)],
    );
    await this.client.query('SELECT pg_advisory_unlock($1, $2)', [LOCKS, key]);
  }
}

/** Returns the process id in the name of a session, as in `parley:PID:replica`. */
function pidOf(name: string): number {
  return Number(name.split(':')[1]);
}

import pg from 'pg';
import type { TestDatabase } from './postgres.js';
import { until } from './until.js';

const LOCK = 4_711;

/** Holds back the commit of events that contain a text, at any replica, until the test opens the gate. */
export class EventGate {
  private isOpen = false;
  private ended = false;

  private constructor(private readonly session: pg.Client) {}

  static async holding(database: TestDatabase, text: string): Promise<EventGate> {
    const session = new pg.Client({ connectionString: database.url });
    await session.connect();
    await session.query('SELECT pg_advisory_lock($1)', [LOCK]);
    await session.query(`
      CREATE FUNCTION held_event() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_xact_lock(${LOCK});
        RETURN NEW;
      END $$`);
    await session.query(`
      CREATE TRIGGER held_event BEFORE INSERT ON task_log FOR EACH ROW
      WHEN (NEW.events LIKE ${session.escapeLiteral(`%${text}%`)}) EXECUTE FUNCTION held_event()`);
    return new EventGate(session);
  }

  /** Resolves when such an event is about to be committed. */
  async reached(): Promise<void> {
    await until(() => this.isWaitedFor(), { what: 'an event to be held back' });
  }

  /** Lets all events pass from now on, even while other writes are held back. */
  async open(): Promise<void> {
    if (this.isOpen) return;
    this.isOpen = true;
    await this.session.query('SELECT pg_advisory_unlock($1)', [LOCK]);
  }

  /** Opens the gate, and removes its trigger from the database. */
  async end(): Promise<void> {
    if (this.ended) return;
    this.ended = true;
    await this.open();
    await this.session.query('DROP TRIGGER held_event ON task_log');
    await this.session.query('DROP FUNCTION held_event');
    await this.session.end();
  }

  private async isWaitedFor(): Promise<boolean> {
    // The view has the locks of every database of the server, and so those of other files' gates.
    const { rowCount } = await this.session.query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [LOCK],
    );
    return (rowCount ?? 0) > 0;
  }
}

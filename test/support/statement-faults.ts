import type { Database } from '#libs/postgres';
import type pg from 'pg';

/** What becomes of the statement that fails: it never reaches the database, or its answer is lost. */
export type Fault = 'refused' | 'unanswered';

type Query = (...args: unknown[]) => Promise<unknown>;

/** Lets chosen statements of a Database's pools fail as they do when the connection breaks. */
export class StatementFaults {
  /** The statements so far that were counted. */
  readonly statements: string[] = [];
  private matching: RegExp = /^/;
  private at = 0;
  private fault: Fault = 'refused';
  private error: () => Error = brokenConnection;
  private ahead: { matching: RegExp; act: () => Promise<unknown> } | undefined;

  constructor(database: Database) {
    this.watch(database.pool);
    const tunedPool = database.tunedPool.bind(database);
    database.tunedPool = (...args) => this.watch(tunedPool(...args));
  }

  /** From now on counts the statements that match, and fails the one with this number; 0: none. */
  fail(at: number, fault: Fault = 'refused', matching = /^/, error = brokenConnection): void {
    this.statements.length = 0;
    Object.assign(this, { at, fault, matching, error });
  }

  /** Does something right before the next statement that matches. */
  before(matching: RegExp, act: () => Promise<unknown>): void {
    this.ahead = { matching, act };
  }

  /** Whether the statement to fail has come. */
  get hasFailed(): boolean {
    return this.at > 0 && this.statements.length >= this.at;
  }

  private watch(pool: pg.Pool): pg.Pool {
    const query = pool.query.bind(pool) as unknown as Query;
    const watched: Query = async (...args) => {
      const [statement] = args as [string | { text: string }];
      const text = typeof statement === 'string' ? statement : statement.text;
      if (this.ahead?.matching.test(text)) {
        const { act } = this.ahead;
        this.ahead = undefined;
        await act();
      }
      if (!this.matching.test(text)) return query(...args);
      const fails = this.statements.push(text.trim()) === this.at;
      const { fault, error } = this;
      if (fails && fault === 'refused') throw error();
      const result = await query(...args);
      if (fails) throw error();
      return result;
    };
    pool.query = watched as unknown as typeof pool.query;
    return pool;
  }
}

function brokenConnection(): Error {
  return new Error('Connection terminated unexpectedly');
}

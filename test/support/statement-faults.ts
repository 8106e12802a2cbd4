import type { Database } from '#libs/postgres';
import type pg from 'pg';

/**
 * Kind of failure of a statement: `refused` never reaches the database; `unanswered` is executed, and its answer is
 * lost.
 */
export type Fault = 'refused' | 'unanswered';

type Query = (...args: unknown[]) => Promise<unknown>;

/** Makes chosen statements of a Database's pools fail as if the connection broke. */
export class StatementFaults {
  /** Statements that matched since the last call of `fail`. */
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

  /** Counts the statements that match from now on, and makes the one with the number `at` fail; 0: none. */
  fail(at: number, fault: Fault = 'refused', matching = /^/, error = brokenConnection): void {
    this.statements.length = 0;
    Object.assign(this, { at, fault, matching, error });
  }

  /** Calls a function right before the next statement that matches. */
  before(matching: RegExp, act: () => Promise<unknown>): void {
    this.ahead = { matching, act };
  }

  /** True if the statement that shall fail was executed. */
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

import { endsSession, sqlState } from './outage.js';

/**
 * Cause of a failed write:
 * - `server`: the server currently accepts no writes at all. Retry later.
 * - `refused`: the content was refused. The same write never succeeds.
 * - `unknown`: either may be the cause. If other writes succeed meanwhile, the content is.
 */
export type WriteFailure = 'server' | 'refused' | 'unknown';

/** SQLSTATEs of the server: read-only, disk full, too many connections, shutdown, crash, start. */
const OF_SERVER = /^(25006|53100|53300|57P..)$/;
/** SQLSTATEs of the content: cardinality, data, constraints, check options, and exceptions raised by triggers. */
const OF_CONTENT = /^(21|22|23|44|P0)...$/;
/** SQLSTATEs of the session: connection, internal error. A statement can break its session or server with these. */
const OF_SESSION = /^(08...|XX000)$/;
/** SQLSTATEs that may follow a committed transaction. */
const AFTER_COMMIT = /^(08...|57P..|40003)$/;

/** Reports a statement that was not sent, because an earlier one on its session failed. It may be sent again. */
export class StatementNotSent extends Error {
  override readonly name = 'StatementNotSent';

  constructor() {
    super('A statement before it failed');
  }
}

/** Classifies the error of a writing statement. */
export function classifyWriteFailure(error: unknown): WriteFailure {
  if (error instanceof StatementNotSent) return 'server';
  if (error instanceof TypeError || error instanceof RangeError) return 'refused';
  const state = sqlState(error);
  if (state === undefined) return 'unknown';
  if (OF_SERVER.test(state)) return 'server';
  if (endsSession(error) && !OF_SESSION.test(state)) return 'server';
  return OF_CONTENT.test(state) ? 'refused' : 'unknown';
}

/** True if the statement may have ended its session or the server: no answer, class 08, an internal error. */
export function mayBreakSession(error: unknown): boolean {
  if (error instanceof StatementNotSent) return false;
  const state = sqlState(error);
  return state === undefined || OF_SESSION.test(state);
}

/** True if the transaction may be committed although it failed: its answer was lost. */
export function mayBeCommitted(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof StatementNotSent) return false;
  const state = sqlState(error);
  return state === undefined || AFTER_COMMIT.test(state) || endsSession(error);
}

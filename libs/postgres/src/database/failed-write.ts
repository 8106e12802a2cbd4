import { endsSession, sqlState } from './outage.js';

/**
 * What a failed write says of its cause:
 * - `server`: the server takes no writes at the moment, whatever is written. Wait.
 * - `refused`: the content was refused. The same write never succeeds.
 * - `unknown`: either may be the cause. Where other writes succeed meanwhile, it is what was written.
 */
export type WriteFailure = 'server' | 'refused' | 'unknown';

/** Read-only, disk full, too many connections, shutdown, crash, start. */
const OF_SERVER = /^(25006|53100|53300|57P..)$/;
/** Cardinality, data, constraints, check options, and what a trigger raises on purpose. */
const OF_CONTENT = /^(21|22|23|44|P0)...$/;
/** Connection, internal error: what a statement can do to the session or the server that executes it. */
const OF_SESSION = /^(08...|XX000)$/;
/** Errors that may come although the transaction was committed. */
const AFTER_COMMIT = /^(08...|57P..|40003)$/;

/** A statement was not sent, because one before it on its session failed. It may be sent again. */
export class StatementNotSent extends Error {
  override readonly name = 'StatementNotSent';

  constructor() {
    super('A statement before it failed');
  }
}

/** Classifies the error of a statement that writes. */
export function classifyWriteFailure(error: unknown): WriteFailure {
  if (error instanceof StatementNotSent) return 'server';
  if (error instanceof TypeError || error instanceof RangeError) return 'refused';
  const state = sqlState(error);
  if (state === undefined) return 'unknown';
  if (OF_SERVER.test(state)) return 'server';
  if (endsSession(error) && !OF_SESSION.test(state)) return 'server';
  return OF_CONTENT.test(state) ? 'refused' : 'unknown';
}

/** True if the statement may have ended its session, or the server: no answer, class 08, an internal error. */
export function mayBreakSession(error: unknown): boolean {
  if (error instanceof StatementNotSent) return false;
  const state = sqlState(error);
  return state === undefined || OF_SESSION.test(state);
}

/** True if the transaction may be committed all the same: its answer was lost. */
export function mayBeCommitted(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof StatementNotSent) return false;
  const state = sqlState(error);
  return state === undefined || AFTER_COMMIT.test(state) || endsSession(error);
}

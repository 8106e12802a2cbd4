import { goneSignal } from '#libs/postgres';
import type { CallContext } from './agent-executor.js';

/** Returns a signal that aborts when the caller disconnects; `undefined` if the response stays in this process. */
export function callerGone({
  whenAnswered,
  whenGone = whenAnswered,
}: Pick<CallContext, 'whenAnswered' | 'whenGone'>): AbortSignal | undefined {
  return whenGone && goneSignal(whenGone);
}

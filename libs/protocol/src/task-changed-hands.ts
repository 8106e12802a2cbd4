/**
 * Another replica took over a Task before it was known whether a caller's Message was stored. Callers get status 503
 * over every protocol, with `TASK_CHANGED_HANDS` and `ADVICE`; the error's message is for the log.
 */
export class TaskChangedHands extends Error {
  static readonly REASON = 'TASK_CHANGED_HANDS';
  static readonly ADVICE =
    'The task went on in another replica before it was known whether the message was kept; try again later, under the same Idempotency-Key if there was one';

  override readonly name: string = 'TaskChangedHands';
}

/**
 * What a caller sent belongs to a Task that went on elsewhere before it was known whether that was kept. A caller gets
 * status 503 over every protocol, with `TASK_CHANGED_HANDS` and `ADVICE`; the message of the error is for the log.
 */
export class TaskChangedHands extends Error {
  static readonly REASON = 'TASK_CHANGED_HANDS';
  static readonly ADVICE =
    'The task went on in another replica before it was known whether the message was kept; try again later, under the same Idempotency-Key if there was one';

  override readonly name: string = 'TaskChangedHands';
}

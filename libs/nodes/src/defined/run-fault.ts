/** Error of work that cannot continue as written. The message becomes the failure of its Task. */
export class RunFault extends Error {
  override readonly name = 'RunFault';
}

/** Thrown where the work ends its own Task. */
export class WorkEnd extends Error {
  override readonly name = 'WorkEnd';

  constructor(
    readonly state: 'TASK_STATE_REJECTED' | 'TASK_STATE_FAILED',
    reason: string,
  ) {
    super(reason);
  }
}

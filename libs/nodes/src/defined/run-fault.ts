/** The work cannot go on as it is written; the message is the sentence that its Task fails with. */
export class RunFault extends Error {
  override readonly name = 'RunFault';
}

/** The work has said how its Task ends, and that it ends here. */
export class WorkEnd extends Error {
  override readonly name = 'WorkEnd';

  constructor(
    readonly state: 'TASK_STATE_REJECTED' | 'TASK_STATE_FAILED',
    reason: string,
  ) {
    super(reason);
  }
}

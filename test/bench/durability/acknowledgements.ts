/** Record of everything that a service has reported to its callers, each entry once its answer was complete. */
export class Acknowledgements {
  /** Last sequence number of each Task that a stream has shown. */
  readonly seen = new Map<string, number>();
  /** State of each Task in the answer to its Message. */
  readonly answered = new Map<string, string>();
  /** Number of requests with no answer or an error, for which nothing was promised. */
  refused = 0;

  task(taskId: string, state: string): void {
    this.answered.set(taskId, state);
  }

  event(taskId: string, sequence: number, state: string | undefined): void {
    this.seen.set(taskId, Math.max(sequence, this.seen.get(taskId) ?? 0));
    if (state !== undefined) this.answered.set(taskId, state);
    else if (!this.answered.has(taskId)) this.answered.set(taskId, 'TASK_STATE_SUBMITTED');
  }
}

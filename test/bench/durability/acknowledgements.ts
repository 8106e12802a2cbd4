/** What a service has told its callers so far, each thing only once its answer had come whole. */
export class Acknowledgements {
  /** The last sequence of each Task that a stream has shown. */
  readonly seen = new Map<string, number>();
  /** The state that each Task was answered with. */
  readonly answered = new Map<string, string>();
  /** Requests that got no answer, or an error: nothing was promised. */
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

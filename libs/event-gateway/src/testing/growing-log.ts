import type { Commit, CommitPosition } from '#libs/tasks';

/** Log that grows by one commit at a time, and may fail. */
export class GrowingLog {
  /** Error that the next read throws. */
  failure: Error | undefined;
  /** Promise that the next reader awaits before it reads. */
  held: Promise<void> | undefined;
  private readonly commits: Commit[] = [];
  private grown = Promise.withResolvers<void>();

  async readPosition(): Promise<{ position: CommitPosition; at: Date }> {
    return { position: new Map([['w', BigInt(this.commits.length)]]), at: new Date() };
  }

  async *followCommits(after: CommitPosition, signal: AbortSignal): AsyncGenerator<Commit> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const { held } = this;
    this.held = undefined;
    await held;
    for (let next = Number(after.get('w') ?? 0n); !signal.aborted;) {
      if (this.failure) throw this.takeFailure();
      const commit = this.commits[next];
      if (commit) {
        next += 1;
        yield commit;
      } else await Promise.race([this.grown.promise, aborted]);
    }
  }

  /** Commits an event of a Task. */
  add(taskId: string, owner = 'ann'): void {
    const statusUpdate = { taskId, contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
    const header = { taskId, contextId: 'c', tenant: '', owner, agent: 'a' };
    const event = { taskId, sequence: 1, header, place: 0, event: { statusUpdate }, json: '{}' };
    const position = BigInt(this.commits.length + 1);
    this.commits.push({
      writer: 'w',
      position,
      committedAt: new Date(),
      bytes: 0,
      events: [event],
    } as unknown as Commit);
    this.wake();
  }

  fail(failure: Error): void {
    this.failure = failure;
    this.wake();
  }

  private takeFailure(): Error {
    const failure = this.failure!;
    this.failure = undefined;
    return failure;
  }

  private wake(): void {
    this.grown.resolve();
    this.grown = Promise.withResolvers();
  }
}

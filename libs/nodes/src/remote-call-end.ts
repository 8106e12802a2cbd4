import { TaskCanceled } from '#libs/executor';

/** How long a canceled call goes on where the agent was only just called and its Task is not known yet. */
const SIGHT_MS = 500;

/** What ends the call of an agent before its answer does: the time it has, and the end of the Task that calls. */
export class RemoteCallEnd implements Disposable {
  readonly #end = new AbortController();
  readonly #deadline: NodeJS.Timeout;
  #patience: NodeJS.Timeout | undefined;
  #sighted = false;
  #outOfTime = false;

  constructor(
    private readonly task: AbortSignal,
    seconds: number,
  ) {
    this.#deadline = setTimeout(() => {
      this.#outOfTime = true;
      this.#end.abort();
    }, seconds * 1_000);
    if (task.aborted) this.#onTaskEnd();
    else task.addEventListener('abort', this.#onTaskEnd, { once: true });
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get outOfTime(): boolean {
    return this.#outOfTime;
  }

  /** The agent's Task is known: a cancel has nothing to wait for. */
  sighted(): void {
    this.#sighted = true;
    if (this.task.aborted) this.#end.abort(this.task.reason);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#deadline);
    clearTimeout(this.#patience);
    this.task.removeEventListener('abort', this.#onTaskEnd);
  }

  readonly #onTaskEnd = (): void => {
    const { reason } = this.task;
    if (this.#sighted || !(reason instanceof TaskCanceled)) return this.#end.abort(reason);
    this.#patience = setTimeout(() => this.#end.abort(reason), SIGHT_MS);
  };
}

import { retryWhileDatabaseDown } from '#libs/postgres';
import type { TaskStore } from '#libs/tasks';

/** Task ids by the reference of the call that created them. */
type TasksByReference = Iterable<readonly [reference: string, taskId: string]>;

export interface EarlierTaskSources {
  /** Store with the Tasks of agents of this service. */
  tasks: Pick<TaskStore, 'recordedChildren'>;
  /** Reads the Tasks that agents elsewhere created for earlier executions, if they are stored beside the log. */
  remembered?: (signal: AbortSignal) => Promise<TasksByReference>;
}

/** Tasks that earlier executions of a process created and its log does not name, as known at the first lookup. */
export class EarlierTasks {
  private readonly own: SharedRead;
  private readonly elsewhere: SharedRead;

  constructor({ tasks, remembered }: EarlierTaskSources, taskId: string) {
    this.own = new SharedRead(async (signal) => {
      const children = await retryWhileDatabaseDown(() => tasks.recordedChildren(taskId), signal);
      return children.map((it) => [it.parentReference ?? '', it.taskId]);
    });
    this.elsewhere = new SharedRead(async (signal) => remembered?.(signal) ?? []);
  }

  /**
   * Returns the Task of a call. Agents elsewhere are looked up only if it is not a Task of this service.
   * @throws the signal's reason, or the error of the read, which the next call retries
   */
  async findTask(reference: string, signal: AbortSignal): Promise<string | undefined> {
    return (await this.own.readOnce(signal)).get(reference) ?? (await this.elsewhere.readOnce(signal)).get(reference);
  }
}

/** Read that happens once, unless it fails. */
class SharedRead {
  private underWay: { found: Promise<ReadonlyMap<string, string>>; signal: AbortSignal } | undefined;

  constructor(private readonly read: (signal: AbortSignal) => Promise<TasksByReference>) {}

  /**
   * Returns the result, waiting for a read in progress. Reads again if only the other caller's signal ended that one.
   */
  async readOnce(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const reading = (this.underWay ??= { found: this.readFirst(signal), signal });
    try {
      return await reading.found;
    } catch (error) {
      if (this.underWay === reading) this.underWay = undefined;
      if (!reading.signal.aborted || signal.aborted) throw error;
      return this.readOnce(signal);
    }
  }

  private async readFirst(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    return new Map(await Promise.race([this.read(signal), rejectWhenAborted(signal)]));
  }
}

/** Rejects when the signal aborts: a running statement does not observe it. */
async function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw signal.reason;
}

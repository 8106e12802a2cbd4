import { throughOutage } from '#libs/postgres';
import type { TaskStore } from '#libs/tasks';

/** Tasks by what the process calls the call that made them. */
type TasksByReference = Iterable<readonly [reference: string, taskId: string]>;

export interface EarlierTaskSources {
  /** Knows the Tasks of agents of this service. */
  tasks: Pick<TaskStore, 'recordedChildren'>;
  /** The Tasks that agents elsewhere made for earlier executions, where they are kept beside the log. */
  remembered?: (signal: AbortSignal) => Promise<TasksByReference>;
}

/** The Tasks that earlier executions of a process made and its log does not name, as far as anybody knew when they were first asked for. */
export class EarlierTasks {
  private readonly own: Finding;
  private readonly elsewhere: Finding;

  constructor({ tasks, remembered }: EarlierTaskSources, taskId: string) {
    this.own = new Finding(async (signal) => {
      const children = await throughOutage(() => tasks.recordedChildren(taskId), signal);
      return children.map((it) => [it.parentReference ?? '', it.taskId]);
    });
    this.elsewhere = new Finding(async (signal) => remembered?.(signal) ?? []);
  }

  /**
   * Returns the Task of a call. Agents elsewhere are looked for only where it is not one of this service.
   * @throws the signal's reason, or why they could not be read: they are read again then
   */
  async find(reference: string, signal: AbortSignal): Promise<string | undefined> {
    return (await this.own.made(signal)).get(reference) ?? (await this.elsewhere.made(signal)).get(reference);
  }
}

/** Reads once, unless it fails. */
class Finding {
  private underWay: { found: Promise<ReadonlyMap<string, string>>; signal: AbortSignal } | undefined;

  constructor(private readonly read: (signal: AbortSignal) => Promise<TasksByReference>) {}

  /** Waits for a read that another call began, and reads again where only the signal of that call ended it. */
  async made(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const reading = (this.underWay ??= { found: this.first(signal), signal });
    try {
      return await reading.found;
    } catch (error) {
      if (this.underWay === reading) this.underWay = undefined;
      if (!reading.signal.aborted || signal.aborted) throw error;
      return this.made(signal);
    }
  }

  private async first(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    return new Map(await Promise.race([this.read(signal), aborted(signal)]));
  }
}

/** Rejects once the signal is aborted: a statement under way does not look at it. */
async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  throw signal.reason;
}

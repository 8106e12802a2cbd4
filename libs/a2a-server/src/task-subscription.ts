import { A2AError, invalidParams, isTerminalState, type Task } from '#libs/protocol';
import { foldLog, type TaskFeed, type TaskHeader, type TaskStore } from '#libs/tasks';
import { eventItem, type StreamItem, taskItem } from './stream-item.js';

export interface SubscriptionOptions {
  /** The last sequence that the caller has seen (`Last-Event-ID` or `?since=`). */
  since?: number;
  /** Ends the stream; the Task goes on. */
  signal?: AbortSignal;
}

interface Opening {
  taskId: string;
  since: number;
  opening: StreamItem[];
  /** Whether nothing follows. */
  replayed: boolean;
}

/**
 * Follows one Task for SubscribeToTask (section 3.1.6).
 *
 * Without a cursor the stream begins with the Task as it stands and goes on live; a Task that has ended is refused.
 *
 * With a cursor the stream begins with the Task *as it stood at the cursor*, whose sequence is the cursor itself, and
 * every event after it follows exactly once, first from the log and then live: a caller that folds events into its
 * copy of the Task is where it was and misses nothing. A cursor of 0 has seen nothing, so the log's first event, which
 * is the Task, begins the stream. A Task that has ended is replayed to its end. A cursor beyond the log is refused.
 */
export class TaskSubscription {
  constructor(
    private readonly tasks: TaskStore,
    private readonly feed: TaskFeed,
  ) {}

  /** @param find gives the Task; its refusal is thrown by the first `next()` */
  async *follow(
    find: () => Promise<TaskHeader>,
    options: SubscriptionOptions,
  ): AsyncGenerator<StreamItem, void, undefined> {
    const { taskId, since, opening, replayed } = await this.open(await find(), options.since);
    // Taken out: a stream may be open for hours, and keeps nothing of what it has sent.
    for (let item = opening.pop(); item; item = opening.pop()) yield item;
    if (replayed) return;
    for await (const event of this.feed.follow(taskId, since, { signal: options.signal, until: 'terminal' })) {
      yield eventItem(event);
    }
  }

  /** Where the stream begins, and with what. */
  private async open(header: TaskHeader, cursor: number | undefined): Promise<Opening> {
    const { taskId, lastSequence, state } = header;
    const since = cursor ?? lastSequence;
    const ended = isTerminalState(state);
    if (ended && cursor === undefined) throw alreadyEnded(header);
    if (since > lastSequence) {
      throw invalidParams({ field: 'since', description: `is beyond the task's last event, ${lastSequence}` });
    }
    const replayed = ended && since === lastSequence;
    if (since === 0) return { taskId, since, opening: [], replayed };
    return { taskId, since, opening: [taskItem(await this.taskAt(header, since), since)], replayed };
  }

  private async taskAt({ taskId, lastSequence }: TaskHeader, sequence: number): Promise<Task> {
    const stored = sequence === lastSequence ? await this.tasks.load(taskId) : undefined;
    if (stored?.header.lastSequence === sequence) return stored.task;
    const fold = await foldLog(this.tasks, taskId, sequence);
    if (!fold) throw new Error(`The log of task ${taskId} ends before ${sequence}`);
    return fold.task();
  }
}

function alreadyEnded({ taskId, state }: TaskHeader): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', {
    message: `The task has ended (${state}): there is nothing to subscribe to`,
    metadata: { taskId, state },
  });
}

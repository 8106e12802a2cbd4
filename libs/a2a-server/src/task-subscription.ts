import { A2AError, invalidParams, isTerminalState, type Task } from '#libs/protocol';
import {
  foldEvents,
  foldLog,
  type LogAdmission,
  type TaskFeed,
  type TaskHeader,
  type TaskLog,
  type TaskStore,
} from '#libs/tasks';
import { eventItem, type StreamItem, taskItem } from './stream-item.js';
import { type Beginning, TaskItems } from './task-items.js';

export interface SubscriptionOptions {
  /** Last sequence that the caller has seen (`Last-Event-ID` or `?since=`). */
  since?: number;
  /** Name of the field that contained it; default `since`. */
  sinceField?: string;
  /** Signal that ends the stream; the Task continues. */
  signal?: AbortSignal;
}

/**
 * Follows one Task for SubscribeToTask (section 3.1.6).
 *
 * - Without a cursor the stream begins with the current Task and continues live; an ended Task is rejected.
 * - With a cursor the stream begins with the Task *as of the cursor*, whose sequence is the cursor itself. Every later
 *   event follows exactly once, first from the log and then live, so a caller that folds events into its copy of the
 *   Task misses nothing.
 * - With cursor 0 the stream begins with the log's first event, which is the Task.
 * - With a cursor an ended Task is replayed to its end. A cursor beyond the log is rejected.
 */
export class TaskSubscription {
  constructor(
    private readonly tasks: TaskStore,
    private readonly feed: TaskFeed,
  ) {}

  /** @param find returns the Task's log; its rejection is thrown when the stream is opened */
  followTask(
    find: () => Promise<TaskLog>,
    options: SubscriptionOptions,
    admission: LogAdmission & Disposable,
  ): TaskItems {
    const beginFollowing = async (): Promise<Beginning> => this.streamBeginning(await find(), options, admission);
    return new TaskItems(this.feed, beginFollowing, options.signal);
  }

  /** Returns the beginning of the stream. */
  private async streamBeginning(
    log: TaskLog,
    options: SubscriptionOptions,
    room: LogAdmission & Disposable,
  ): Promise<Beginning> {
    const { header, events = [] } = log;
    const { taskId, lastSequence, state } = header;
    const { since: cursor, sinceField: field = 'since' } = options;
    const since = cursor ?? lastSequence;
    const ended = isTerminalState(state);
    if (ended && cursor === undefined) throw alreadyEnded(header);
    if (since > lastSequence) {
      throw invalidParams({ field, description: `is beyond the task's last event, ${lastSequence}` });
    }
    const opening = events.slice(since).map(eventItem);
    if (since > 0) opening.unshift(await this.taskAt(log, since, room));
    const reached = log.events ? lastSequence : since;
    const replayed = ended && reached === lastSequence;
    const reader = { tenant: header.tenant, owner: header.owner };
    return replayed ? { opening, room } : { opening, room, log: { taskId, after: reached, until: 'terminal', reader } };
  }

  private async taskAt({ header, events }: TaskLog, sequence: number, admission: LogAdmission): Promise<StreamItem> {
    // The first event of a log is the Task.
    if (events?.[0] && sequence === 1) return eventItem(events[0]);
    const { taskId } = header;
    const task = events
      ? foldEvents(events.slice(0, sequence))?.toTask()
      : await this.foldedTask(header, sequence, admission);
    if (!task) throw new Error(`The log of task ${taskId} ends before ${sequence}`);
    return taskItem(task, sequence);
  }

  /** @param admission admission for reading the log, which may be long */
  private async foldedTask(header: TaskHeader, sequence: number, admission: LogAdmission): Promise<Task | undefined> {
    const { taskId, tenant, owner, lastSequence, size } = header;
    const reader = { tenant, owner };
    const stored = sequence === lastSequence ? await this.tasks.loadTask(taskId, reader, admission) : undefined;
    if (stored?.header.lastSequence === sequence) return stored.task;
    await admission.admitBytes(size?.log ?? 0);
    return (await foldLog(this.tasks, taskId, sequence, reader))?.toTask();
  }
}

function alreadyEnded({ taskId, state }: TaskHeader): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', {
    message: `The task has ended (${state}): there is nothing to subscribe to`,
    metadata: { taskId, state },
  });
}

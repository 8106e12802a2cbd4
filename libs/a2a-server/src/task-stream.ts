import { A2AError, invalidParams, isTerminalState, type Message, type StreamResponse, type Task } from '#libs/protocol';
import {
  foldEvents,
  foldLog,
  type LogAdmission,
  type RecordedEvent,
  type TaskFeed,
  type TaskFollower,
  type TaskHeader,
  type TaskLog,
  type TaskScope,
  type TaskStore,
  toStreamResponse,
} from '#libs/tasks';

/** Item of a stream, for all bindings and in-process callers. */
export interface StreamItem {
  /**
   * Sequence of the newest event that the item reflects (for a Task, the last event folded into it); absent for a
   * direct Message.
   */
  readonly sequence?: number;
  /** Item as a serialized ProtoJSON StreamResponse. */
  readonly json: string;
  /** Item as a value, parsed when first used. */
  readonly response: StreamResponse;
}

/** Creates an item with the Task at a sequence of its log. */
export function taskItem(task: Task, sequence: number): StreamItem {
  const response = { task };
  return { sequence, json: JSON.stringify(response), response };
}

/** Creates an item with a direct Message. */
export function messageItem(message: Message): StreamItem {
  const response = { message };
  return { json: JSON.stringify(response), response };
}

/** Creates an item with a recorded event, whose stored JSON is sent unchanged. */
function eventItem(recorded: RecordedEvent): StreamItem {
  return new EventItem(recorded);
}

class EventItem implements StreamItem {
  readonly sequence: number;
  readonly json: string;

  constructor(private readonly recorded: RecordedEvent) {
    this.sequence = recorded.sequence;
    this.json = recorded.json;
  }

  get response(): StreamResponse {
    return toStreamResponse(this.recorded.event);
  }
}

/** Beginning of a stream: its first items, and from where in the Task's log it continues. */
export interface Beginning {
  /** First items, which are already known. */
  opening: StreamItem[];
  /** Memory that the first items hold, freed once they have been taken. */
  room?: Disposable;
  /**
   * Part of the Task's log to follow: the events after the sequence `after`, until the Task has ended (`terminal`), or
   * until it has ended or waits (`waiting`); absent if nothing follows.
   */
  log?: { taskId: string; after: number; until: 'terminal' | 'waiting'; reader?: TaskScope };
}

/**
 * Open stream of items. Its reader does not await the next item: the stream wakes the reader when there may be more.
 */
export interface OpenItems {
  /** Reader to wake when there may be more items, or the stream may have ended; `undefined`: none. */
  reader: { wake(): void } | undefined;
  /**
   * Resolves with the next items, `[]` if none are available yet, `undefined` at the end. Not to be called
   * concurrently.
   */
  readItems(): Promise<readonly StreamItem[] | undefined>;
  /** Stops reading. Idempotent. */
  close(): void;
}

type ItemResult = IteratorResult<StreamItem, void>;

/**
 * Items of one stream about a Task: the items that are known at the beginning, then every event as it is committed. Use
 * a stream in one way only: iterate it to take items one by one, or, if many streams wait, open it once with
 * `openItems`.
 */
export class TaskItems implements AsyncGenerator<StreamItem, void, undefined> {
  private iterator: AsyncGenerator<StreamItem, void, undefined> | undefined;

  /**
   * @param begin returns the beginning; its rejection is thrown by `openItems` or the first `next()`
   * @param signal ends the iteration; an opened stream is ended by `close` instead
   */
  constructor(
    private readonly feed: TaskFeed,
    private readonly begin: () => Promise<Beginning>,
    private readonly signal?: AbortSignal,
  ) {}

  async openItems(): Promise<OpenItems> {
    const { opening, room, log } = await this.begin();
    return new FollowedItems(
      opening,
      room,
      log && this.feed.openFollower(log.taskId, log.after, log.until, log.reader),
    );
  }

  next(): Promise<ItemResult> {
    return this.iteration.next();
  }

  return(): Promise<ItemResult> {
    return this.iteration.return();
  }

  throw(error: unknown): Promise<ItemResult> {
    return this.iteration.throw(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  private get iteration(): AsyncGenerator<StreamItem, void, undefined> {
    return (this.iterator ??= this.iterateItems());
  }

  private async *iterateItems(): AsyncGenerator<StreamItem, void, undefined> {
    const { opening, room, log } = await this.begin();
    try {
      // Removed as they are sent: a stream may be open for hours and must not retain what it has sent.
      for (let item = opening.shift(); item; item = opening.shift()) yield item;
    } finally {
      room?.[Symbol.dispose]();
    }
    if (!log) return;
    const { taskId, after, ...follow } = log;
    for await (const event of this.feed.followTask(taskId, after, { signal: this.signal, ...follow }))
      yield eventItem(event);
  }
}

/** Opened stream: gives its first items, then the events of the Task's log. */
class FollowedItems implements OpenItems {
  constructor(
    private opening: readonly StreamItem[] | undefined,
    private readonly room: Disposable | undefined,
    private readonly log: TaskFollower | undefined,
  ) {}

  get reader(): OpenItems['reader'] {
    return this.log?.reader;
  }

  set reader(reader: OpenItems['reader']) {
    if (this.log) this.log.reader = reader;
  }

  async readItems(): Promise<readonly StreamItem[] | undefined> {
    const { opening } = this;
    this.opening = undefined;
    if (opening && opening.length > 0) return opening;
    this.room?.[Symbol.dispose]();
    const events: readonly RecordedEvent[] | undefined = await this.log?.readNext();
    return events?.map(eventItem);
  }

  close(): void {
    this.room?.[Symbol.dispose]();
    this.log?.close();
  }
}

/** Adapts an iterable to OpenItems. It wakes no reader: instead, `readItems` stays pending until the next item. */
export function openIterated(items: AsyncIterable<StreamItem>): OpenItems {
  const iterator = items[Symbol.asyncIterator]();
  const readItems: OpenItems['readItems'] = async () => {
    const { done, value } = await iterator.next();
    return done ? undefined : [value];
  };
  return { reader: undefined, readItems, close: () => void iterator.return?.() };
}

export interface SubscriptionOptions {
  /**
   * Sequence of the last event that the caller has seen (`Last-Event-ID` or `?since=`); absent: the stream begins with
   * the current Task.
   */
  since?: number;
  /** Name of the request field that contained `since`, for errors; default `since`. */
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

  /**
   * Follows one Task from the cursor in the options, or from now.
   * @param find returns the Task's log; its rejection is thrown when the stream is opened
   * @param admission reservation of memory for reading the log; freed when the stream no longer needs it
   */
  followTask(
    find: () => Promise<TaskLog>,
    options: SubscriptionOptions,
    admission: LogAdmission & Disposable,
  ): TaskItems {
    const beginFollowing = async (): Promise<Beginning> => this.streamBeginning(await find(), options, admission);
    return new TaskItems(this.feed, beginFollowing, options.signal);
  }

  /**
   * Returns the beginning of the stream: the Task as of the cursor, or without a cursor the current Task; then the
   * later events that are already read.
   * @throws A2AError UNSUPPORTED_OPERATION for an ended Task without a cursor; INVALID_PARAMS for a cursor beyond the
   *   log
   */
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

  /**
   * Returns the Task as of a sequence, folded from its log.
   * @param admission admission for reading the log, which may be long
   */
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

import type { RecordedEvent, TaskFeed, TaskFollower, TaskScope } from '#libs/tasks';
import { eventItem, type StreamItem } from './stream-item.js';

/** Beginning of a stream. */
export interface Beginning {
  /** Items already known. */
  opening: StreamItem[];
  /** Room that the opening holds, freed once it has been taken. */
  room?: Disposable;
  /** Rest of the Task's log to follow; absent if there is none. */
  log?: { taskId: string; after: number; until: 'terminal' | 'waiting'; reader?: TaskScope };
}

/** Open stream. Its reader is woken when there may be more, so no promise has to be pending while it waits. */
export interface OpenItems {
  /** Reader to wake when there may be more items, or the end. */
  reader: { wake(): void } | undefined;
  /**
   * Resolves with the next items, `[]` if none are available yet, `undefined` at the end. Must not be called
   * concurrently.
   */
  readItems(): Promise<readonly StreamItem[] | undefined>;
  /** Stops reading. Idempotent. */
  close(): void;
}

type ItemResult = IteratorResult<StreamItem, void>;

/**
 * Items of one stream about a Task: the known ones, then every event as it is committed. Iterate it to take items one
 * by one, or open it once if many streams wait; do not do both.
 */
export class TaskItems implements AsyncGenerator<StreamItem, void, undefined> {
  private iterator: AsyncGenerator<StreamItem, void, undefined> | undefined;

  /**
   * @param begin returns the beginning; its rejection is thrown by `open` or the first `next()`
   * @param signal ends the iteration; an open stream is closed instead
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

/** State of a stream while it waits. */
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

/** Adapts an iterable to an open stream; it has no reader to wake, so reads stay pending. */
export function openIterated(items: AsyncIterable<StreamItem>): OpenItems {
  const iterator = items[Symbol.asyncIterator]();
  const readItems: OpenItems['readItems'] = async () => {
    const { done, value } = await iterator.next();
    return done ? undefined : [value];
  };
  return { reader: undefined, readItems, close: () => void iterator.return?.() };
}

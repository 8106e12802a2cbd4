import type { RecordedEvent, TaskFeed, TaskFollower, TaskScope } from '#libs/tasks';
import { eventItem, type StreamItem } from './stream-item.js';

/** How a stream begins. */
export interface Beginning {
  /** What is known already. */
  opening: StreamItem[];
  /** Room that the opening takes, given back once it has been taken. */
  room?: Disposable;
  /** What follows in a Task's log; absent where nothing does. */
  log?: { taskId: string; after: number; until: 'terminal' | 'waiting'; reader?: TaskScope };
}

/** A stream that is open. Who reads it is woken when there may be more, and so needs nothing that waits. */
export interface OpenItems {
  /** Told that `read` may have something to give, also that it is over. */
  reader: { wake(): void } | undefined;
  /**
   * The next items; none where there is nothing at present; `undefined` where nothing comes any more. Not to be called
   * again before it has answered.
   */
  read(): Promise<readonly StreamItem[] | undefined>;
  /** Nothing is read any more. Idempotent. */
  close(): void;
}

type Done = IteratorResult<StreamItem, void>;

/**
 * The items of one stream about a Task: what is known of it, then every event as it is committed. Whoever takes them in
 * its own time iterates; whoever holds many streams that wait opens them instead, once, and not both.
 */
export class TaskItems implements AsyncGenerator<StreamItem, void, undefined> {
  private iterator: AsyncGenerator<StreamItem, void, undefined> | undefined;

  /**
   * @param begin its refusal is thrown by `open` or the first `next()`
   * @param signal ends the iteration; what is open is closed
   */
  constructor(
    private readonly feed: TaskFeed,
    private readonly begin: () => Promise<Beginning>,
    private readonly signal?: AbortSignal,
  ) {}

  async open(): Promise<OpenItems> {
    const { opening, room, log } = await this.begin();
    return new FollowedItems(opening, room, log && this.feed.open(log.taskId, log.after, log.until, log.reader));
  }

  next(): Promise<Done> {
    return this.iteration.next();
  }

  return(): Promise<Done> {
    return this.iteration.return();
  }

  throw(error: unknown): Promise<Done> {
    return this.iteration.throw(error);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  private get iteration(): AsyncGenerator<StreamItem, void, undefined> {
    return (this.iterator ??= this.iterate());
  }

  private async *iterate(): AsyncGenerator<StreamItem, void, undefined> {
    const { opening, room, log } = await this.begin();
    try {
      // Taken out: a stream may be open for hours, and keeps nothing of what it has sent.
      for (let item = opening.shift(); item; item = opening.shift()) yield item;
    } finally {
      room?.[Symbol.dispose]();
    }
    if (!log) return;
    const { taskId, after, ...follow } = log;
    for await (const event of this.feed.follow(taskId, after, { signal: this.signal, ...follow }))
      yield eventItem(event);
  }
}

/** What there is of a stream while it waits. */
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

  async read(): Promise<readonly StreamItem[] | undefined> {
    const { opening } = this;
    this.opening = undefined;
    if (opening && opening.length > 0) return opening;
    this.room?.[Symbol.dispose]();
    const events: readonly RecordedEvent[] | undefined = await this.log?.read();
    return events?.map(eventItem);
  }

  close(): void {
    this.room?.[Symbol.dispose]();
    this.log?.close();
  }
}

/** What can only be iterated, opened: it waits as itself. */
export function openIterated(items: AsyncIterable<StreamItem>): OpenItems {
  const iterator = items[Symbol.asyncIterator]();
  const read: OpenItems['read'] = async () => {
    const { done, value } = await iterator.next();
    return done ? undefined : [value];
  };
  return { reader: undefined, read, close: () => void iterator.return?.() };
}

import { isTerminalState, isWaitingState } from '#libs/protocol';
import { parkedUntil, type RecordedEvent } from './task-event.js';

const MAX_EVENTS_PER_TASK = 1024;
const MAX_CHARACTERS_PER_TASK = 1024 * 1024;
/** Maximum characters over all Tasks that this process writes; the oldest writes are dropped first. */
const MAX_CHARACTERS = 16 * 1024 * 1024;
interface Tail {
  /** Newest sequence, also if its event was too large to be kept. */
  last: number;
  events: RecordedEvent[];
  characters: number;
}

/**
 * Newest committed events of Tasks that this process writes or has just finished writing, so that readers in this
 * process need no query. Committed events never change, so nothing here is stale. Other events are read from the store.
 */
export class RecentEvents {
  /** Tails of Tasks that this process writes now: the store has nothing newer than what was published here. */
  private readonly open = new TailsByAge(MAX_CHARACTERS);
  private readonly settled = new PassingTails();

  /** Adds newly committed events of one Task. */
  add(events: readonly RecordedEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    const tail = this.tailFor(events);
    for (const event of events) {
      tail.events.push(event);
      tail.characters += event.json.length;
    }
    while (tail.events.length > MAX_EVENTS_PER_TASK || tail.characters > MAX_CHARACTERS_PER_TASK) dropOlderHalf(tail);
    tail.last = last.sequence;
    (settlesTask(last) ? this.settled : this.open).put(last.taskId, tail);
  }

  /** Starts the tail of a Task that this process writes from now on, whose log ends at the sequence. */
  openTail(taskId: string, last: number): void {
    const known = this.open.get(taskId);
    if (known && known.last >= last) return;
    this.close(taskId);
    this.open.put(taskId, { last, events: [], characters: 0 });
  }

  /** Returns the events after a sequence if the first of them is here; `undefined`: ask the store. */
  findAfter(taskId: string, sequence: number): readonly RecordedEvent[] | undefined {
    const events = this.findTail(taskId)?.events;
    const first = events?.[0];
    if (!events || !first || first.sequence > sequence + 1) return undefined;
    const rest = events.slice(sequence + 1 - first.sequence);
    return rest.length > 0 ? rest : undefined;
  }

  /** True if this process writes the Task, so that every new event will be published here. */
  isOpen(taskId: string): boolean {
    return this.open.has(taskId);
  }

  /** True if nothing after the sequence is committed: this process writes the Task and has published no more. */
  isCurrent(taskId: string, sequence: number): boolean {
    const tail = this.open.get(taskId);
    return tail !== undefined && tail.last <= sequence;
  }

  /** Drops the tail of a Task that another process writes now. */
  close(taskId: string): void {
    this.open.takeTail(taskId);
    this.settled.takeTail(taskId);
  }

  private findTail(taskId: string): Tail | undefined {
    return this.open.get(taskId) ?? this.settled.get(taskId);
  }

  /**
   * Removes and returns the tail to extend. A tail has no gaps: if another process wrote in between, a new one begins.
   */
  private tailFor([first]: readonly RecordedEvent[]): Tail {
    const known = first && (this.open.takeTail(first.taskId) ?? this.settled.takeTail(first.taskId));
    if (known && known.last === first.sequence - 1) return known;
    return { last: 0, events: [], characters: 0 };
  }
}

/** Tails in the order in which they were written. Above the capacity in characters the oldest are dropped. */
class TailsByAge {
  private readonly tails = new Map<string, Tail>();
  private characters = 0;

  constructor(private readonly capacity: number) {}

  has(taskId: string): boolean {
    return this.tails.has(taskId);
  }

  get(taskId: string): Tail | undefined {
    return this.tails.get(taskId);
  }

  put(taskId: string, tail: Tail): void {
    this.tails.set(taskId, tail);
    this.characters += tail.characters;
    if (this.characters > this.capacity) this.evictOldest();
  }

  takeTail(taskId: string): Tail | undefined {
    const tail = this.tails.get(taskId);
    if (!tail) return undefined;
    this.tails.delete(taskId);
    this.characters -= tail.characters;
    return tail;
  }

  private evictOldest(): void {
    for (const taskId of this.tails.keys()) {
      if (this.characters <= this.capacity) return;
      this.takeTail(taskId);
    }
  }
}

/**
 * Tails of Tasks that have ended, wait or are parked, for the readers that their end wakes in the same turn of the
 * event loop. If kept longer, the events of a busy service would outlive V8's young generation, which makes every
 * collection ten times as long.
 */
class PassingTails {
  private fresh = new Map<string, Tail>();
  private passing = new Map<string, Tail>();
  private turning = false;

  get(taskId: string): Tail | undefined {
    return this.fresh.get(taskId) ?? this.passing.get(taskId);
  }

  put(taskId: string, tail: Tail): void {
    this.fresh.set(taskId, tail);
    this.turnLater();
  }

  takeTail(taskId: string): Tail | undefined {
    const tail = this.get(taskId);
    this.fresh.delete(taskId);
    this.passing.delete(taskId);
    return tail;
  }

  private turnLater(): void {
    if (this.turning) return;
    this.turning = true;
    setImmediate(() => {
      this.turning = false;
      this.passing = this.fresh;
      this.fresh = new Map();
      if (this.passing.size > 0) this.turnLater();
    });
  }
}

/** Drops half of the events at once, since shifting an array is expensive. */
function dropOlderHalf(tail: Tail): void {
  const gone = tail.events.splice(0, Math.ceil(tail.events.length / 2));
  tail.characters -= gone.reduce((sum, event) => sum + event.json.length, 0);
}

function settlesTask({ event }: RecordedEvent): boolean {
  if (!('statusUpdate' in event)) return false;
  const { state } = event.statusUpdate.status;
  return isTerminalState(state) || isWaitingState(state) || parkedUntil(event) !== undefined;
}

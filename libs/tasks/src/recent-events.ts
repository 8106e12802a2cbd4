import { isTerminalState, isWaitingState } from '#libs/protocol';
import type { RecordedEvent } from './task-event.js';

const MAX_EVENTS_PER_TASK = 1024;
const MAX_CHARACTERS_PER_TASK = 1024 * 1024;
/** Over all Tasks; what was written longest ago goes first. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

interface Tail {
  /** The newest sequence, also where its event was too large to be kept. */
  last: number;
  events: RecordedEvent[];
  characters: number;
  /** Written by this process now: the store has nothing newer than what was published here. */
  open: boolean;
}

/**
 * The newest committed events of Tasks that this process writes or wrote last, so that a reader beside the writer needs
 * no query. Committed events never change, so nothing here can be stale; what is not here is read from the store.
 */
export class RecentEvents {
  private readonly tails = new Map<string, Tail>();
  private characters = 0;

  /** Takes events of one Task that were just committed. */
  add(events: readonly RecordedEvent[]): void {
    const last = events.at(-1);
    if (!last) return;
    const tail = this.tailFor(events);
    // Moved to the end: the first of the map is what was written longest ago.
    this.tails.delete(last.taskId);
    this.tails.set(last.taskId, tail);
    for (const event of events) {
      tail.events.push(event);
      this.count(tail, event.json.length);
    }
    while (tail.events.length > MAX_EVENTS_PER_TASK || tail.characters > MAX_CHARACTERS_PER_TASK) this.shorten(tail);
    tail.last = last.sequence;
    tail.open = !settles(last);
    if (this.characters > MAX_CHARACTERS) this.evict();
  }

  /** The events after a sequence, if the first of them is here; `undefined`: ask the store. */
  after(taskId: string, sequence: number): readonly RecordedEvent[] | undefined {
    const events = this.tails.get(taskId)?.events;
    const first = events?.[0];
    if (!events || !first || first.sequence > sequence + 1) return undefined;
    const rest = events.slice(sequence + 1 - first.sequence);
    return rest.length > 0 ? rest : undefined;
  }

  /** Whether this process writes the Task, so that every new event will be published here. */
  isOpen(taskId: string): boolean {
    return this.tails.get(taskId)?.open ?? false;
  }

  /** Whether nothing after a sequence is committed: this process writes the Task and published no more. */
  isCurrent(taskId: string, sequence: number): boolean {
    const tail = this.tails.get(taskId);
    return tail !== undefined && tail.open && tail.last <= sequence;
  }

  /** The process lost the Task to another writer. */
  close(taskId: string): void {
    const tail = this.tails.get(taskId);
    if (tail) this.drop(taskId, tail);
  }

  /** A tail has no gap: where another process wrote in between, a new one begins. */
  private tailFor(events: readonly RecordedEvent[]): Tail {
    const first = events[0];
    const known = first && this.tails.get(first.taskId);
    const follows = known && known.last === first.sequence - 1;
    if (follows) return known;
    if (known) this.drop(first.taskId, known);
    return { last: 0, events: [], characters: 0, open: true };
  }

  /** Half of it at once, since an array is expensive to shift. */
  private shorten(tail: Tail): void {
    const gone = tail.events.splice(0, Math.ceil(tail.events.length / 2));
    this.count(tail, -gone.reduce((sum, event) => sum + event.json.length, 0));
  }

  private count(tail: Tail, characters: number): void {
    tail.characters += characters;
    this.characters += characters;
  }

  private drop(taskId: string, tail: Tail): void {
    this.characters -= tail.characters;
    this.tails.delete(taskId);
  }

  private evict(): void {
    for (const [taskId, tail] of this.tails) {
      if (this.characters <= MAX_CHARACTERS) return;
      this.drop(taskId, tail);
    }
  }
}

function settles({ event }: RecordedEvent): boolean {
  if (!('statusUpdate' in event)) return false;
  return isTerminalState(event.statusUpdate.status.state) || isWaitingState(event.statusUpdate.status.state);
}

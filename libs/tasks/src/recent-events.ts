import { isTerminalState, isWaitingState } from '#libs/protocol';
import type { RecordedEvent } from './task-event.js';

const MAX_TASKS = 4096;
const MAX_EVENTS_PER_TASK = 64;
const MAX_CHARACTERS_PER_TASK = 64 * 1024;

interface Tail {
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
      tail.characters += event.json.length;
    }
    while (tail.events.length > MAX_EVENTS_PER_TASK || tail.characters > MAX_CHARACTERS_PER_TASK) {
      tail.characters -= tail.events.shift()?.json.length ?? 0;
    }
    tail.open = !settles(last);
    if (this.tails.size > MAX_TASKS) this.evict();
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
    return tail !== undefined && tail.open && (tail.events.at(-1)?.sequence ?? 0) <= sequence;
  }

  /** The process lost the Task to another writer. */
  close(taskId: string): void {
    this.tails.delete(taskId);
  }

  /** A tail has no gap: where another process wrote in between, a new one begins. */
  private tailFor(events: readonly RecordedEvent[]): Tail {
    const first = events[0];
    const known = first && this.tails.get(first.taskId);
    const follows = known && known.events.at(-1)?.sequence === first.sequence - 1;
    return follows ? known : { events: [], characters: 0, open: true };
  }

  private evict(): void {
    for (const taskId of this.tails.keys()) {
      if (this.tails.size <= MAX_TASKS) return;
      this.tails.delete(taskId);
    }
  }
}

function settles({ event }: RecordedEvent): boolean {
  if (!('statusUpdate' in event)) return false;
  return isTerminalState(event.statusUpdate.status.state) || isWaitingState(event.statusUpdate.status.state);
}

import { isTerminalState, writeV03Task } from '#libs/protocol';
import { type RecordedEvent, TaskFold, type TaskStore } from '#libs/tasks';

interface Place {
  fold: TaskFold;
  sequence: number;
  /** Number of characters of the folded events. */
  characters: number;
}

/** Number of events read at a time. */
const PAGE = 100;
/**
 * Maximum number of Tasks with a cached state, which saves the next event another read of the whole log; and their
 * total size.
 */
const MOST_KEPT = 32;
const MOST_CHARACTERS = 16 * 1024 * 1024;

/**
 * Bodies of notifications for webhooks that were registered through A2A 0.3: the Task as it stood after an event (A2A
 * 0.3, section 9.5). The same event always has the same body.
 */
export class LegacyBodies {
  /** Cached states, the most recently used last. */
  private readonly places = new Map<string, Place>();
  private characters = 0;

  constructor(private readonly tasks: Pick<TaskStore, 'events'>) {}

  async of({ taskId, sequence }: Pick<RecordedEvent, 'taskId' | 'sequence'>): Promise<string> {
    // Removed from the cache: two configs of one Task must not apply the same events to one fold.
    const kept = this.taken(taskId);
    const place = await this.advanced(kept && kept.sequence <= sequence ? kept : undefined, taskId, sequence);
    this.keep(taskId, place);
    return JSON.stringify(writeV03Task(place.fold.task()));
  }

  private taken(taskId: string): Place | undefined {
    const place = this.places.get(taskId);
    if (!place) return undefined;
    this.places.delete(taskId);
    this.characters -= place.characters;
    return place;
  }

  /** Caches a state until its Task has ended. A single state is kept whatever its size. */
  private keep(taskId: string, place: Place): void {
    this.taken(taskId);
    if (isTerminalState(place.fold.state)) return;
    this.places.set(taskId, place);
    this.characters += place.characters;
    for (const oldest of this.places.keys()) {
      if (oldest === taskId || (this.places.size <= MOST_KEPT && this.characters <= MOST_CHARACTERS)) return;
      this.taken(oldest);
    }
  }

  private async advanced(from: Place | undefined, taskId: string, sequence: number): Promise<Place> {
    let place = from;
    for (let at = from?.sequence ?? 0; at < sequence; at = place.sequence) {
      const events = await this.tasks.events(taskId, at, Math.min(PAGE, sequence - at));
      for (const next of events) place = applied(place, next);
      if (!place || place.sequence === at) throw new Error(`The log of task ${taskId} ends before ${sequence}`);
    }
    if (!place) throw new Error(`There is no event ${sequence} of task ${taskId}`);
    return place;
  }
}

function applied(place: Place | undefined, { event, sequence, json }: RecordedEvent): Place {
  if (!place) return { fold: TaskFold.begin(event), sequence, characters: json.length };
  place.fold.apply(event);
  return { fold: place.fold, sequence, characters: place.characters + json.length };
}

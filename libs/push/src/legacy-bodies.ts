import { isTerminalState, writeV03Task } from '#libs/protocol';
import { type RecordedEvent, TaskFold, type TaskStore } from '#libs/tasks';

interface Place {
  fold: TaskFold;
  sequence: number;
  /** Of the events that it was folded from. */
  characters: number;
}

/** Events read at once. */
const PAGE = 100;
/** Tasks whose last state is kept at hand, so that the next event costs no new look at the whole log; and of how much. */
const MOST_KEPT = 32;
const MOST_CHARACTERS = 16 * 1024 * 1024;

/**
 * The bodies of notifications to webhooks that were named through A2A 0.3: the Task as it stood after an event
 * (its section 9.5). The same event has the same body whenever it is sent.
 */
export class LegacyBodies {
  /** The last one comes last. */
  private readonly places = new Map<string, Place>();
  private characters = 0;

  constructor(private readonly tasks: Pick<TaskStore, 'events'>) {}

  async of({ taskId, sequence }: Pick<RecordedEvent, 'taskId' | 'sequence'>): Promise<string> {
    // Taken out: two configs of one Task must not apply the same events to one fold.
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

  /** Until the Task has ended. A single one is kept however large it is. */
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

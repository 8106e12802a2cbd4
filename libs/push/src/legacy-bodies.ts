import { writeV03Task } from '#libs/protocol';
import { type RecordedEvent, TaskFold, type TaskStore } from '#libs/tasks';

interface Place {
  fold: TaskFold;
  sequence: number;
}

/** Events read at once. */
const PAGE = 100;
/** Tasks whose last state is kept at hand, so that the next event costs no new look at the whole log. */
const MOST_KEPT = 32;

/**
 * The bodies of notifications to webhooks that were named through A2A 0.3: the Task as it stood after an event
 * (its section 9.5). The same event has the same body whenever it is sent.
 */
export class LegacyBodies {
  private readonly places = new Map<string, Place>();

  constructor(private readonly tasks: Pick<TaskStore, 'events'>) {}

  async of({ taskId, sequence }: Pick<RecordedEvent, 'taskId' | 'sequence'>): Promise<string> {
    const kept = this.places.get(taskId);
    // Taken out: two configs of one Task must not apply the same events to one fold.
    this.places.delete(taskId);
    const place = await this.advanced(kept && kept.sequence <= sequence ? kept : undefined, taskId, sequence);
    this.places.set(taskId, place);
    if (this.places.size > MOST_KEPT) this.places.delete(this.places.keys().next().value!);
    return JSON.stringify(writeV03Task(place.fold.task()));
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

function applied(place: Place | undefined, { event, sequence }: RecordedEvent): Place {
  if (!place) return { fold: TaskFold.begin(event), sequence };
  place.fold.apply(event);
  return { fold: place.fold, sequence };
}

import { isTerminalState, writeV03Task } from '#libs/protocol';
import { type RecordedEvent, TaskFold, type TaskStore } from '#libs/tasks';

interface FoldedTask {
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
  private readonly places = new Map<string, FoldedTask>();
  private characters = 0;

  constructor(private readonly tasks: Pick<TaskStore, 'readEvents'>) {}

  async renderBody({ taskId, sequence }: Pick<RecordedEvent, 'taskId' | 'sequence'>): Promise<string> {
    // Removed from the cache: two configs of one Task must not apply the same events to one fold.
    const kept = this.takeOut(taskId);
    const place = await this.advanceTo(kept && kept.sequence <= sequence ? kept : undefined, taskId, sequence);
    this.keepPlace(taskId, place);
    return JSON.stringify(writeV03Task(place.fold.toTask()));
  }

  private takeOut(taskId: string): FoldedTask | undefined {
    const place = this.places.get(taskId);
    if (!place) return undefined;
    this.places.delete(taskId);
    this.characters -= place.characters;
    return place;
  }

  /** Caches a state until its Task has ended. A single state is kept whatever its size. */
  private keepPlace(taskId: string, place: FoldedTask): void {
    this.takeOut(taskId);
    if (isTerminalState(place.fold.state)) return;
    this.places.set(taskId, place);
    this.characters += place.characters;
    for (const oldest of this.places.keys()) {
      if (oldest === taskId || (this.places.size <= MOST_KEPT && this.characters <= MOST_CHARACTERS)) return;
      this.takeOut(oldest);
    }
  }

  private async advanceTo(from: FoldedTask | undefined, taskId: string, sequence: number): Promise<FoldedTask> {
    let place = from;
    for (let at = from?.sequence ?? 0; at < sequence; at = place.sequence) {
      const events = await this.tasks.readEvents(taskId, at, Math.min(PAGE, sequence - at));
      for (const next of events) place = applyEvent(place, next);
      if (!place || place.sequence === at) throw new Error(`The log of task ${taskId} ends before ${sequence}`);
    }
    if (!place) throw new Error(`There is no event ${sequence} of task ${taskId}`);
    return place;
  }
}

function applyEvent(place: FoldedTask | undefined, { event, sequence, json }: RecordedEvent): FoldedTask {
  if (!place) return { fold: TaskFold.beginTask(event), sequence, characters: json.length };
  place.fold.applyEvent(event);
  return { fold: place.fold, sequence, characters: place.characters + json.length };
}

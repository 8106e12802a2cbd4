import { Injectable, Optional } from '@nestjs/common';
import { Database, NO_KEY, ReplicaSignals, type SignalTopic } from '#libs/postgres';

/** Topic of runs that have got a slot. The key is the id of the run; the function `admit_runs` sends it. */
const RUN_SLOT: SignalTopic = { name: 'run_slot', shards: 1 };
/** Maximum number of runs that wait for slots in the memory of this replica. */
const MOST_ON_DECK = 64;
/** Milliseconds between two queries for the slots of all runs on deck, since a signal may be lost. */
const LOOK_MS = 500;
/** Maximum milliseconds of one wait. A run that waits longer requests its slot again. */
const LONGEST_MS = 86_400_000;

/** Run on deck. `isWoken` notes a signal that comes before the run waits. */
interface DeckPlace {
  isWoken: boolean;
  wake?: () => void;
}

/**
 * Runs on deck: the next runs of their gates, which wait for their slots in the memory of this replica instead of
 * being parked, so that each begins as soon as it has its slot. A deck has a bounded number of places.
 */
@Injectable()
export class RunDeck {
  private readonly places = new Map<string, DeckPlace>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    @Optional() signals?: ReplicaSignals,
  ) {
    const wakeAll = (): void => this.wakeRuns([...this.places.keys()]);
    signals
      ?.subscribeTopic(RUN_SLOT, { wakeFor: (taskId) => this.wakeRuns([taskId]), catchUp: wakeAll })
      .watchKey(NO_KEY);
  }

  /** Takes a place for a run. Call it before the run requests its slot. @returns false if no place is free */
  takePlace(taskId: string): boolean {
    if (!this.places.has(taskId) && this.places.size >= MOST_ON_DECK) return false;
    this.places.set(taskId, { isWoken: false });
    return true;
  }

  leavePlace(taskId: string): void {
    this.places.delete(taskId);
    if (this.places.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Waits until the run may have a slot, until its deadline, or until the signal aborts. Gives up the place then. */
  async waitForSlot(taskId: string, until: Date | undefined, signal: AbortSignal): Promise<void> {
    const place = this.places.get(taskId);
    if (place === undefined || place.isWoken || signal.aborted) return this.leavePlace(taskId);
    this.timer ??= setInterval(() => void this.lookForSlots(), LOOK_MS).unref();
    const { promise, resolve } = Promise.withResolvers<void>();
    place.wake = resolve;
    const left = Math.min(until === undefined ? LONGEST_MS : until.getTime() - Date.now(), LONGEST_MS);
    const timer = setTimeout(resolve, Math.max(left, 0));
    signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
    this.leavePlace(taskId);
  }

  private wakeRuns(taskIds: readonly string[]): void {
    for (const taskId of taskIds) {
      const place = this.places.get(taskId);
      if (place === undefined) continue;
      place.isWoken = true;
      place.wake?.();
    }
  }

  /** Wakes the runs that have slots, as their signals would. Never rejects: the next query follows. */
  private async lookForSlots(): Promise<void> {
    try {
      const { rows } = await this.database.pool.query<{ task_id: string }>(HELD, [[...this.places.keys()]]);
      this.wakeRuns(rows.map((row) => row.task_id));
    } catch {
      // The database is away.
    }
  }
}

const HELD = `
  SELECT task_id FROM run_slot WHERE task_id = ANY($1::text[]) GROUP BY task_id HAVING bool_and(is_held)`;

import type { RemoteIds, TaskEvent } from '#libs/tasks';

/** Maximum milliseconds that ids wait for an event in whose commit they are stored. */
const LONGEST_WAIT_MS = 10;

/**
 * Ids of an agent's Task that are not stored yet.
 * - They are stored in the commit of the next event, so no event of the agent is visible before them.
 * - If no event follows within a moment, the ids are stored without one: an agent may work for hours before its first
 *   event.
 * - Stores of one turn never overlap, so older ids never replace newer ones.
 */
export class UnstoredIds {
  private waiting: RemoteIds | undefined;
  private newest: RemoteIds | undefined;
  private timer: NodeJS.Timeout | undefined;
  private storing: Promise<void> | undefined;

  /** @param store stores ids without an event */
  constructor(private readonly store: (ids: RemoteIds) => Promise<void>) {}

  /** Records ids that the agent has named, to be stored with the next event or soon after. */
  noteIds(ids: RemoteIds): void {
    this.waiting = this.newest = ids;
    this.timer ??= setTimeout(() => this.storeSoon(), LONGEST_WAIT_MS);
  }

  /**
   * Returns a copy of the event with the ids that wait to be stored, or the event itself if none wait. The caller must
   * record the returned event next: its commit stores the ids.
   * @throws the error of an earlier store of ids that has failed
   */
  async addTo(event: TaskEvent): Promise<TaskEvent> {
    await this.storing;
    const ids = this.takeWaiting();
    return ids && !('task' in event) ? { ...event, remote: ids } : event;
  }

  /** Stores the ids that wait for an event. @throws the error of a store that has failed */
  async storeRest(): Promise<void> {
    if (this.waiting) this.storeSoon();
    await this.storing;
  }

  /**
   * Cancels the scheduled store, waits for a running one, and returns the newest ids; `undefined` if the agent has
   * named none. The caller stores these ids: an event that should store them may never be committed.
   */
  async takeNewest(): Promise<RemoteIds | undefined> {
    this.takeWaiting();
    await this.storing?.catch(() => undefined);
    return this.newest;
  }

  private takeWaiting(): RemoteIds | undefined {
    clearTimeout(this.timer);
    this.timer = undefined;
    const ids = this.waiting;
    this.waiting = undefined;
    return ids;
  }

  private storeSoon(): void {
    const before = this.storing;
    const ids = this.takeWaiting();
    if (!ids) return;
    this.storing = (before ?? Promise.resolve()).then(() => this.store(ids));
    // The turn gets the error with its next event.
    this.storing.catch(() => undefined);
  }
}

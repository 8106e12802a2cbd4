import type { Agent, Dispatcher } from 'undici';

const BEAT_MS = 250;
/** Longer than a busy process needs from one beat to the next, and as long as a connection is kept. */
const STANDSTILL_MS = 1_000;

/**
 * Notices when this process stood still: frozen, or busy for long. The timers that end idle connections stand still as
 * well then, and do not make up for it.
 */
export class StandstillWatch {
  private beatAt = performance.now();
  private standstills = 0;
  private isOver = false;
  private readonly timer = setInterval(() => this.count(), BEAT_MS).unref();

  /** Returns how often the process stood still up to now, also where no timer has run since. */
  count(): number {
    const now = performance.now();
    if (!this.isOver && now - this.beatAt > STANDSTILL_MS) this.standstills += 1;
    this.beatAt = now;
    return this.standstills;
  }

  /** Counts no more: nothing is opened again after the end. */
  stop(): void {
    this.isOver = true;
    clearInterval(this.timer);
  }
}

/**
 * Returns a dispatcher that uses no connection from before a standstill: its peer may have closed it meanwhile, and a
 * Message that is sent on it fails for good. What is under way on the connections from before ends as it would have.
 * @param open the agents that are to be destroyed in the end
 */
export function renewedConnections(watch: StandstillWatch, open: Set<Agent>, make: () => Agent): Dispatcher {
  const first = make();
  open.add(first);
  let current = first;
  let seen = watch.count();
  return first.compose(() => (request, handler) => {
    const standstills = watch.count();
    if (standstills !== seen) {
      seen = standstills;
      const old = current;
      current = make();
      open.add(current);
      void old
        .close()
        .catch(() => undefined)
        .finally(() => open.delete(old));
    }
    return current.dispatch(request, handler);
  });
}

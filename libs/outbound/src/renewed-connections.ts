import type { Agent, Dispatcher } from 'undici';

const BEAT_MS = 250;
/**
 * Gap in milliseconds that counts as a standstill: longer than a busy process needs between two beats, and as long as
 * an idle connection is kept.
 */
const STANDSTILL_MS = 1_000;

/**
 * Detects standstills of this process: frozen, or busy for long. The timers that close idle connections stand still
 * then, too, and do not catch up.
 */
export class StandstillWatch {
  private beatAt = performance.now();
  private standstills = 0;
  private isOver = false;
  private readonly timer = setInterval(() => this.countStandstills(), BEAT_MS).unref();

  /** Returns the number of standstills so far, even if no timer has run since the last. */
  countStandstills(): number {
    const now = performance.now();
    if (!this.isOver && now - this.beatAt > STANDSTILL_MS) this.standstills += 1;
    this.beatAt = now;
    return this.standstills;
  }

  /** Stops counting. */
  stop(): void {
    this.isOver = true;
    clearInterval(this.timer);
  }
}

/**
 * Returns a dispatcher that does not reuse connections from before a standstill: their peers may have closed them, and
 * a Message sent on one fails permanently. Active calls on old connections continue.
 * @param open agents to destroy at the end
 */
export function renewedConnections(watch: StandstillWatch, open: Set<Agent>, make: () => Agent): Dispatcher {
  const first = make();
  open.add(first);
  let current = first;
  let seen = watch.countStandstills();
  return first.compose(() => (request, handler) => {
    const standstills = watch.countStandstills();
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

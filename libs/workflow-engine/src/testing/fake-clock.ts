import { setImmediate as turn } from 'node:timers/promises';
import type { RunClock } from '../state/timers.js';

/** Number of turns of the event loop to wait before the clock advances. */
const TURNS = 20;

/** Clock for tests. It advances to the next alarm of a run when a test requests that and nothing else happens. */
export class FakeClock implements RunClock {
  /** Advances the fake time. A spec sets it when it fakes `Date`. */
  static advance: (milliseconds: number) => void = () => {
    throw new Error('No time can pass here');
  };
  private readonly alarms = new Set<{ time: number; callback: () => void }>();
  private watchers: (() => void)[] = [];

  /** True if an alarm is set. */
  get isAwaited(): boolean {
    return this.alarms.size > 0;
  }

  now(): number {
    return Date.now();
  }

  scheduleAt(time: number, callback: () => void): () => void {
    const alarm = { time, callback };
    this.alarms.add(alarm);
    for (const wake of this.watchers.splice(0)) wake();
    return () => this.alarms.delete(alarm);
  }

  /** Resolves when an alarm is set and nothing else happens, with the milliseconds until that alarm. */
  async awaited(): Promise<number> {
    for (let turns = 0; turns < TURNS || this.alarms.size === 0; turns += 1) {
      if (this.alarms.size === 0) await new Promise<void>((resolve) => this.watchers.push(resolve));
      await turn();
    }
    return Math.min(...[...this.alarms].map(({ time }) => time)) - this.now();
  }

  /** Advances the time without calling the alarms that become due. */
  skip(milliseconds: number): void {
    FakeClock.advance(milliseconds);
  }

  /** Waits until an alarm is set, advances the time to it and calls it. */
  async pass(): Promise<void> {
    FakeClock.advance(Math.max(0, await this.awaited()));
    const now = this.now();
    for (const alarm of [...this.alarms].filter(({ time }) => time <= now)) {
      this.alarms.delete(alarm);
      alarm.callback();
    }
  }
}

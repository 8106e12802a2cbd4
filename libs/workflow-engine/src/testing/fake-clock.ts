import { setImmediate as turn } from 'node:timers/promises';
import type { RunClock } from '../state/timers.js';

/** How often everything else has its turn before the time passes. */
const TURNS = 20;

/** A clock that a test moves on: to what a run waits for, once nothing else happens any more. */
export class FakeClock implements RunClock {
  /** Moves on what tells the time; a spec sets it that has made that a fake. */
  static advance: (milliseconds: number) => void = () => {
    throw new Error('No time can pass here');
  };
  private readonly alarms = new Set<{ time: number; callback: () => void }>();
  private watchers: (() => void)[] = [];

  /** Whether a time is waited for. */
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

  /** Resolves when a time is waited for, and nothing else happens; gives how far away it is, in milliseconds. */
  async awaited(): Promise<number> {
    for (let turns = 0; turns < TURNS || this.alarms.size === 0; turns += 1) {
      if (this.alarms.size === 0) await new Promise<void>((resolve) => this.watchers.push(resolve));
      await turn();
    }
    return Math.min(...[...this.alarms].map(({ time }) => time)) - this.now();
  }

  /** It is so many milliseconds later, while nobody waits for that. */
  skip(milliseconds: number): void {
    FakeClock.advance(milliseconds);
  }

  /** Waits until a time is waited for; it is that late then. */
  async pass(): Promise<void> {
    FakeClock.advance(Math.max(0, await this.awaited()));
    const now = this.now();
    for (const alarm of [...this.alarms].filter(({ time }) => time <= now)) {
      this.alarms.delete(alarm);
      alarm.callback();
    }
  }
}

import type { RunClock } from '../run-clock.js';

/** The time as it is, and later whenever a test says so. */
export class FakeClock implements RunClock {
  private ahead = 0;
  private readonly alarms = new Set<{ time: number; callback: () => void }>();
  private watchers: (() => void)[] = [];

  now(): number {
    return Date.now() + this.ahead;
  }

  at(time: number, callback: () => void): () => void {
    const alarm = { time, callback };
    this.alarms.add(alarm);
    for (const wake of this.watchers.splice(0)) wake();
    return () => this.alarms.delete(alarm);
  }

  /** Resolves when somebody waits for a time, and gives how far away the first one is, in milliseconds. */
  async awaited(): Promise<number> {
    while (this.alarms.size === 0) await new Promise<void>((resolve) => this.watchers.push(resolve));
    return Math.min(...[...this.alarms].map(({ time }) => time)) - this.now();
  }

  /** Waits until somebody waits for a time; it is that late then. */
  async pass(): Promise<void> {
    this.ahead += Math.max(0, await this.awaited());
    const now = this.now();
    for (const alarm of [...this.alarms].filter(({ time }) => time <= now)) {
      this.alarms.delete(alarm);
      alarm.callback();
    }
  }
}

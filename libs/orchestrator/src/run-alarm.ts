import type { RunClock } from './run-clock.js';

/** The single timer of an execution of a run. */
export class RunAlarm {
  private set: { at: number; forget: () => void } | undefined;

  constructor(
    private readonly clock: Pick<RunClock, 'scheduleAt'>,
    private readonly ring: () => void,
  ) {}

  /**
   * Sets the time of the alarm and replaces the previous one.
   * @param at in milliseconds of the epoch; absent: no alarm
   */
  setTo(at: number | undefined): void {
    if (this.set?.at === at) return;
    this.cancelAlarm();
    if (at === undefined) return;
    const ringOnce = (): void => {
      this.set = undefined;
      this.ring();
    };
    this.set = { at, forget: this.clock.scheduleAt(at, ringOnce) };
  }

  cancelAlarm(): void {
    this.set?.forget();
    this.set = undefined;
  }
}

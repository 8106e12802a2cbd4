import type { RunClock } from './run-clock.js';

/** The one time that an execution of a run waits for. */
export class RunAlarm {
  private set: { at: number; forget: () => void } | undefined;

  constructor(
    private readonly clock: Pick<RunClock, 'at'>,
    private readonly ring: () => void,
  ) {}

  /** Rings once at a time in milliseconds of the epoch, and at no time that was set before; absent: never. */
  setTo(at: number | undefined): void {
    if (this.set?.at === at) return;
    this.forget();
    if (at === undefined) return;
    const ring = (): void => {
      this.set = undefined;
      this.ring();
    };
    this.set = { at, forget: this.clock.at(at, ring) };
  }

  forget(): void {
    this.set?.forget();
    this.set = undefined;
  }
}

import { takeUpPause } from './take-up-pause.js';

/** Maximum number of remembered Tasks: each lookup sends their ids. */
const MOST_REMEMBERED = 10_000;

interface FailedWake {
  failures: number;
  dueAt: number;
}

/** Parked Tasks that could not be woken. Each is skipped until its pause is over, so that it hides no other Task. */
export class FailedWakes {
  /** Failed Tasks, the most recent failure last. */
  private readonly wakes = new Map<string, FailedWake>();

  /** @param firstPauseMs milliseconds after the first failure */
  constructor(private readonly firstPauseMs: number) {}

  /** Tasks whose pause is not over. */
  get pausing(): string[] {
    const now = performance.now();
    return [...this.wakes].flatMap(([taskId, { dueAt }]) => (dueAt > now ? taskId : []));
  }

  /** Adds a failure. @returns the number of earlier failures */
  addFailure(taskId: string, lasting: boolean): number {
    const { failures } = this.wakes.get(taskId) ?? { failures: 0 };
    this.wakes.delete(taskId);
    const pause = takeUpPause(failures + 1, this.firstPauseMs, lasting);
    this.wakes.set(taskId, { failures: failures + 1, dueAt: performance.now() + pause });
    if (this.wakes.size > MOST_REMEMBERED) this.wakes.delete(this.wakes.keys().next().value!);
    return failures;
  }

  /** Forgets a Task that was woken. */
  forgetWoken(taskId: string): void {
    this.wakes.delete(taskId);
  }

  /** Forgets the Tasks that a complete lookup has not found overdue and that are not pausing. */
  keepAmong(overdue: readonly string[], pausing: readonly string[]): void {
    const kept = new Set([...overdue, ...pausing]);
    for (const taskId of this.wakes.keys()) if (!kept.has(taskId)) this.wakes.delete(taskId);
  }
}

import { takeUpPause } from './take-up-pause.js';

/** Tasks that are remembered: their ids go with every look. */
const MOST_REMEMBERED = 10_000;

interface FailedWake {
  failures: number;
  dueAt: number;
}

/** Parked Tasks that could not be woken. Each is left out until its pause is over, so that it hides no other. */
export class FailedWakes {
  /** The one that failed last comes last. */
  private readonly wakes = new Map<string, FailedWake>();

  /** @param firstPauseMs milliseconds after the first failure */
  constructor(private readonly firstPauseMs: number) {}

  /** The Tasks whose pauses go on. */
  get pausing(): string[] {
    const now = performance.now();
    return [...this.wakes].flatMap(([taskId, { dueAt }]) => (dueAt > now ? taskId : []));
  }

  /** Notes one more failure. @returns how often it failed before */
  failed(taskId: string, lasting: boolean): number {
    const { failures } = this.wakes.get(taskId) ?? { failures: 0 };
    this.wakes.delete(taskId);
    const pause = takeUpPause(failures + 1, this.firstPauseMs, lasting);
    this.wakes.set(taskId, { failures: failures + 1, dueAt: performance.now() + pause });
    if (this.wakes.size > MOST_REMEMBERED) this.wakes.delete(this.wakes.keys().next().value!);
    return failures;
  }

  /** Forgets a Task that was woken. */
  woken(taskId: string): void {
    this.wakes.delete(taskId);
  }

  /** Forgets the Tasks that a whole look has not found overdue, though it would have. */
  keepAmong(overdue: readonly string[], pausing: readonly string[]): void {
    const kept = new Set([...overdue, ...pausing]);
    for (const taskId of this.wakes.keys()) if (!kept.has(taskId)) this.wakes.delete(taskId);
  }
}

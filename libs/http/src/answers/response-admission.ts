import type { InFlightOwner } from '#libs/service';
import { ProblemError } from '../problems/problem.js';
import { ResponseBudgetExceeded } from './byte-room.js';
import type { ResponseBudget } from './response-budget.js';

/** A page of Tasks with large logs ends there, whatever was asked for. */
const MOST_PAGE_BYTES = 8 * 1024 * 1024;

/** Call whose answer is made of logs. */
interface AnsweredCall {
  scope: InFlightOwner;
  /**
   * Calls back, once, when the answer or its caller has gone; returns false where the caller has left already. Absent
   * inside of this process, where nothing is limited.
   */
  whenAnswered?: (done: () => void) => boolean;
}

/**
 * Room that one call has in `ResponseBudget`, taken before large logs are read.
 *
 * - It is given back when the answer has gone, or its caller has, or once it is disposed of.
 * - Room that the call has already is enough for another read of as many bytes.
 */
export class ResponseAdmission implements Disposable {
  /** Bytes of large logs that a page of Tasks has at most; it has one Task at least. */
  readonly bytes: number = MOST_PAGE_BYTES;
  private admitted = 0;
  private readonly leaves = new Set<() => void>();

  constructor(
    private readonly budget: ResponseBudget | undefined,
    private readonly call: AnsweredCall,
  ) {}

  /** @throws an error with status 503 where there is no room in time, or nobody waits for the answer any more */
  async admit(bytes: number): Promise<void> {
    const { scope, whenAnswered } = this.call;
    if (!this.budget || !whenAnswered || bytes <= this.admitted) return;
    // What waits for more than it has would wait for itself.
    this[Symbol.dispose]();
    const leave = await this.budget.enter(bytes, scope).catch((error: unknown) => {
      throw error instanceof ResponseBudgetExceeded ? this.refusal(error.message) : error;
    });
    this.admitted = bytes;
    this.leaves.add(leave);
    if (whenAnswered(() => this.leave(leave))) return;
    this.leave(leave);
    throw this.refusal('The caller has left');
  }

  /** Gives all of the room back. */
  [Symbol.dispose](): void {
    this.admitted = 0;
    for (const leave of this.leaves) this.leave(leave);
  }

  /** Makes the error that the call ends with. */
  protected refusal(message: string): Error {
    return new ProblemError(503, message, [], 'OVERLOADED');
  }

  private leave(leave: () => void): void {
    if (this.leaves.delete(leave)) leave();
  }
}

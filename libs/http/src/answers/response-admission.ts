import type { InFlightOwner } from '#libs/service';
import { ProblemError } from '../problems/problem.js';
import { ResponseBudgetExceeded } from './byte-room.js';
import type { ResponseBudget } from './response-budget.js';

/** Maximum number of bytes of large logs in a page of Tasks, whatever page size was requested. */
const MOST_PAGE_BYTES = 8 * 1024 * 1024;

/** Call whose answer is built from logs. */
interface AnsweredCall {
  scope: InFlightOwner;
  /**
   * Calls back once, when the answer or its caller has gone; returns false if the caller has already left. Absent for
   * calls inside this process, which are not limited.
   */
  whenAnswered?: (done: () => void) => boolean;
}

/**
 * Room of one call in `ResponseBudget`, taken before large logs are read.
 *
 * - It is freed when the answer or its caller has gone, or on disposal.
 * - Room that the call already has suffices for another read of as many bytes.
 */
export class ResponseAdmission implements Disposable {
  /** Maximum number of bytes of large logs in a page of Tasks; a page has at least one Task. */
  readonly bytes: number = MOST_PAGE_BYTES;
  private admitted = 0;
  private readonly leaves = new Set<() => void>();

  constructor(
    private readonly budget: ResponseBudget | undefined,
    private readonly call: AnsweredCall,
  ) {}

  /** Takes room for bytes. @throws an error with status 503 if there is no room in time, or the caller has left */
  async admitBytes(bytes: number): Promise<void> {
    const { scope, whenAnswered } = this.call;
    if (!this.budget || !whenAnswered || bytes <= this.admitted) return;
    // Frees the room first: otherwise a call that needs more would wait for itself.
    this[Symbol.dispose]();
    const leave = await this.budget.enterAnswer(bytes, scope).catch((error: unknown) => {
      throw error instanceof ResponseBudgetExceeded ? this.createRefusal(error.message) : error;
    });
    this.admitted = bytes;
    this.leaves.add(leave);
    if (whenAnswered(() => this.leaveRoom(leave))) return;
    this.leaveRoom(leave);
    throw this.createRefusal('The caller has left');
  }

  /** Frees all of the room. */
  [Symbol.dispose](): void {
    this.admitted = 0;
    for (const leave of this.leaves) this.leaveRoom(leave);
  }

  /** Creates the error that the call ends with. */
  protected createRefusal(message: string): Error {
    return new ProblemError(503, message, [], 'OVERLOADED');
  }

  private leaveRoom(leave: () => void): void {
    if (this.leaves.delete(leave)) leave();
  }
}

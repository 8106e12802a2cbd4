import type { CallContext } from '#libs/executor';
import { type ResponseBudget, ResponseBudgetExceeded } from '#libs/http';
import { A2AError } from '#libs/protocol';
import type { PageAdmission } from '#libs/tasks';

/** A page of Tasks with large logs ends there, whatever was asked for. */
const MOST_PAGE_BYTES = 8 * 1024 * 1024;
const RETRY_AFTER_SECONDS = '5';

/**
 * Lets one call read large logs when there is room, which it gives back when its answer has gone, or earlier where it says
 * so. Room that the call has already is enough for another read of as many bytes.
 */
export class AnswerAdmission implements PageAdmission, Disposable {
  readonly bytes = MOST_PAGE_BYTES;
  private admitted = 0;
  private readonly leaves = new Set<() => void>();

  constructor(
    private readonly room: ResponseBudget | undefined,
    private readonly call: Pick<CallContext, 'scope' | 'whenAnswered'>,
  ) {}

  /** @throws A2AError with status 503 where there is no room in time, or nobody waits for the answer any more */
  async admit(bytes: number): Promise<void> {
    const { scope, whenAnswered } = this.call;
    if (!this.room || !whenAnswered || bytes <= this.admitted) return;
    // What waits for more than it has would wait for itself.
    this[Symbol.dispose]();
    const leave = await this.room.enter(bytes, scope).catch(refuseRoom);
    this.admitted = bytes;
    this.leaves.add(leave);
    if (whenAnswered(() => this.leave(leave))) return;
    this.leave(leave);
    throw overloaded('The caller has left');
  }

  /** Gives all of the room back. */
  [Symbol.dispose](): void {
    this.admitted = 0;
    for (const leave of this.leaves) this.leave(leave);
  }

  private leave(leave: () => void): void {
    if (this.leaves.delete(leave)) leave();
  }
}

/** @throws A2AError with status 503 where there was no room in time; the error that it is given */
export function refuseRoom(error: unknown): never {
  throw error instanceof ResponseBudgetExceeded ? overloaded(error.message) : error;
}

function overloaded(message: string): A2AError {
  const metadata = { limit: 'answers', retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new A2AError('INTERNAL', { message, metadata, detailReason: 'OVERLOADED', status: 503 });
}

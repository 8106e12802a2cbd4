import { Injectable } from '@nestjs/common';
import { A2AError } from '#libs/protocol';
import { MOST_AT_A_TIME } from './generation-limits.js';

const RETRY_AFTER_SECONDS = '5';

/** Requests of each caller that this replica answers at the moment. */
@Injectable()
export class GenerationSlots {
  /** A caller without any is not kept. */
  private readonly taken = new Map<string, number>();

  /**
   * Takes a slot of a caller.
   * @returns the function that gives it back; further calls of it do nothing
   * @throws A2AError RATE_LIMITED where the caller has all of its slots in use
   */
  enter(caller: string): () => void {
    const taken = this.taken.get(caller) ?? 0;
    if (taken >= MOST_AT_A_TIME) throw refused();
    this.taken.set(caller, taken + 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.leave(caller);
      isHeld = false;
    };
  }

  private leave(caller: string): void {
    const taken = (this.taken.get(caller) ?? 0) - 1;
    if (taken > 0) this.taken.set(caller, taken);
    else this.taken.delete(caller);
  }
}

function refused(): A2AError {
  return new A2AError('RATE_LIMITED', {
    message: `A caller may have ${MOST_AT_A_TIME} workflows written at a time; try again later`,
    metadata: { limit: 'generations', retryAfterSeconds: RETRY_AFTER_SECONDS },
    detailReason: 'RATE_LIMITED',
  });
}

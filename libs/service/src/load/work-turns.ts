import { Injectable } from '@nestjs/common';
import { LoopShares } from './loop-shares.js';

/** Pieces of work of one caller that are done in one turn of the event loop. */
const AT_ONCE = 4;
/** Milliseconds until work asks again where too many costly requests of its caller wait. */
const RETRY_MS = 100;

/** The turns of one caller's work on the event loop. */
export interface WorkTurn {
  /**
   * Resolves in the caller's turn, or as soon as the signal has aborted and a turn comes. Charges the caller with what is
   * done from then on until it waits for something.
   */
  next(signal: AbortSignal): Promise<void>;
  /** Charges the caller with milliseconds of the event loop that were used outside of a turn. */
  charge(ms: number): void;
}

interface WaitingWork {
  signal: AbortSignal;
  begin(): void;
}

/**
 * Gives work that goes on after a request was answered, as what streams are sent does, its turns on the event loop.
 *
 * - It is charged to its caller's share, and waits where its caller's costly requests do (see LoopShares).
 * - Work of one caller takes turns in its order, and is never refused.
 * - Work of callers without a name neither waits nor is charged.
 */
@Injectable()
export class WorkTurns {
  /** Waiting work by caller; that of a caller without any is not kept. */
  private readonly lines = new Map<string, WaitingWork[]>();

  constructor(private readonly shares: LoopShares) {}

  /** @param who the caller's account (`InFlight.accountOf`); `undefined` for one without a name */
  of(who: string | undefined): WorkTurn {
    if (who === undefined) return FREE;
    return {
      next: (signal) => this.wait(who, signal),
      charge: (ms) => this.shares.charge(who, ms),
    };
  }

  private wait(who: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const work = { signal, begin: resolve };
      const line = this.lines.get(who);
      if (line) return void line.push(work);
      this.lines.set(who, [work]);
      this.takeTurn(who);
    });
  }

  private takeTurn(who: string): void {
    const isTaken = this.shares.take(who, () => this.begin(who));
    if (!isTaken) setTimeout(() => this.takeTurn(who), RETRY_MS).unref();
  }

  /** Begins the oldest work; work that nobody wants any more takes no place. */
  private begin(who: string): void {
    const line = this.lines.get(who) ?? [];
    for (let begun = 0; begun < AT_ONCE && line.length > 0;) {
      const work = line.shift()!;
      if (!work.signal.aborted) begun += 1;
      work.begin();
    }
    if (line.length === 0) this.lines.delete(who);
    else this.takeTurn(who);
  }
}

/** Turns of whoever has no name. */
export const FREE: WorkTurn = { next: () => Promise.resolve(), charge: () => undefined };

import { Injectable } from '@nestjs/common';
import { LoopShares } from './loop-shares.js';

/** Maximum number of one caller's work items that start in one cycle of the event loop. */
const AT_ONCE = 4;
/**
 * Milliseconds until work of a caller is scheduled again, if LoopShares refused it because too many costly requests of
 * the caller wait.
 */
const RETRY_MS = 100;

/** Turns of one caller on the event loop: the moments at which the caller's work may use it. */
export interface WorkTurn {
  /**
   * Resolves when the caller may use the event loop. An abort of the signal does not end the wait early. Charges the
   * caller for the synchronous work that follows.
   */
  awaitTurn(signal: AbortSignal): Promise<void>;
  /** Charges the caller for milliseconds of the event loop used outside of a turn. */
  chargeTime(ms: number): void;
}

interface WaitingWork {
  signal: AbortSignal;
  startWork(): void;
}

/**
 * Schedules work that continues after its request was answered, such as sending to streams, on the event loop.
 *
 * - The work is charged to its caller's share, and waits like costly requests of the caller (see LoopShares).
 * - Work of one caller runs in order, and is never refused.
 * - Work of anonymous callers neither waits nor is charged.
 */
@Injectable()
export class WorkTurns {
  /** Waiting work by caller. Callers without waiting work have no entry. */
  private readonly lines = new Map<string, WaitingWork[]>();

  constructor(private readonly shares: LoopShares) {}

  /**
   * Returns the turns of a caller.
   * @param who account of the caller (`InFlight.accountOf`); `undefined` for an anonymous caller
   */
  createTurn(who: string | undefined): WorkTurn {
    if (who === undefined) return FREE;
    return {
      awaitTurn: (signal) => this.queueWork(who, signal),
      chargeTime: (ms) => this.shares.chargeCaller(who, ms),
    };
  }

  private queueWork(who: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const work = { signal, startWork: resolve };
      const line = this.lines.get(who);
      if (line) return void line.push(work);
      this.lines.set(who, [work]);
      this.takeTurn(who);
    });
  }

  private takeTurn(who: string): void {
    const isTaken = this.shares.scheduleCostly(who, () => this.startOldest(who));
    if (!isTaken) setTimeout(() => this.takeTurn(who), RETRY_MS).unref();
  }

  /** Starts the oldest waiting work of a caller. Aborted work does not count towards AT_ONCE. */
  private startOldest(who: string): void {
    const line = this.lines.get(who) ?? [];
    for (let begun = 0; begun < AT_ONCE && line.length > 0;) {
      const work = line.shift()!;
      if (!work.signal.aborted) begun += 1;
      work.startWork();
    }
    if (line.length === 0) this.lines.delete(who);
    else this.takeTurn(who);
  }
}

/** Turn of anonymous callers, which never waits. */
export const FREE: WorkTurn = { awaitTurn: () => Promise.resolve(), chargeTime: () => undefined };

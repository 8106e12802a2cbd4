import { addCount, callerKey } from './caller-counts.js';

/** Whom work is done for. */
export interface Caller {
  tenant: string;
  owner: string;
}

/** Units of work at a time: in all, for one caller and for one tenant. */
export interface TurnLimits {
  places: number;
  placesOfACaller: number;
  placesOfATenant: number;
  /** Longest wait for a turn, in milliseconds. */
  waitMs: number;
}

/** Work had no turn in time: too much of the caller, or of others, was ahead of it. */
export class NoTurnInTime extends Error {
  override readonly name = 'NoTurnInTime';
}

interface Waiting {
  caller: Caller;
  begin(): void;
}

/**
 * Does the work of callers in turns: each caller has a queue of its own, the queues are served one after the other, and a
 * caller, and a tenant, has a share of the places. So whoever asks for much waits behind its own work.
 */
export class CallerTurns {
  /** By caller, in the order in which they have their turns. */
  private readonly queues = new Map<string, Waiting[]>();
  private readonly ofCallers = new Map<string, number>();
  private readonly ofTenants = new Map<string, number>();
  private underWay = 0;

  constructor(private readonly limits: TurnLimits) {}

  /**
   * Does the work when it is the caller's turn.
   * @param gone gives the work up while it waits
   * @throws NoTurnInTime; the signal's reason
   */
  async run<T>(caller: Caller, work: () => Promise<T>, gone?: AbortSignal): Promise<T> {
    gone?.throwIfAborted();
    await this.turn(caller, gone);
    try {
      return await work();
    } finally {
      this.count(caller, -1);
      this.beginNext();
    }
  }

  /** Work that waits. */
  get waiting(): number {
    return this.queues.values().reduce((sum, queue) => sum + queue.length, 0);
  }

  private turn(caller: Caller, gone: AbortSignal | undefined): Promise<void> {
    if (this.hasRoom(caller)) {
      this.count(caller, 1);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const refuse = (reason: Error): void => {
        forget();
        this.leave(waiting);
        reject(reason);
      };
      const onGone = (): void => refuse(gone?.reason as Error);
      const timer = setTimeout(() => refuse(new NoTurnInTime()), this.limits.waitMs);
      const forget = (): void => {
        clearTimeout(timer);
        gone?.removeEventListener('abort', onGone);
      };
      const waiting: Waiting = {
        caller,
        begin: () => {
          forget();
          resolve();
        },
      };
      gone?.addEventListener('abort', onGone, { once: true });
      const key = callerKey(caller);
      const queue = this.queues.get(key);
      if (queue) queue.push(waiting);
      else this.queues.set(key, [waiting]);
    });
  }

  private hasRoom(caller: Caller): boolean {
    return (
      this.underWay < this.limits.places &&
      (this.ofCallers.get(callerKey(caller)) ?? 0) < this.limits.placesOfACaller &&
      (this.ofTenants.get(caller.tenant) ?? 0) < this.limits.placesOfATenant
    );
  }

  private beginNext(): void {
    for (const [key, queue] of [...this.queues]) {
      if (this.underWay >= this.limits.places) return;
      const next = queue[0];
      if (!next || !this.hasRoom(next.caller)) continue;
      queue.shift();
      // Behind all others that wait.
      this.queues.delete(key);
      if (queue.length > 0) this.queues.set(key, queue);
      this.count(next.caller, 1);
      next.begin();
    }
  }

  private leave(waiting: Waiting): void {
    const key = callerKey(waiting.caller);
    const rest = (this.queues.get(key) ?? []).filter((it) => it !== waiting);
    if (rest.length > 0) this.queues.set(key, rest);
    else this.queues.delete(key);
  }

  private count(caller: Caller, by: 1 | -1): void {
    this.underWay += by;
    addCount(this.ofCallers, callerKey(caller), by);
    addCount(this.ofTenants, caller.tenant, by);
  }
}

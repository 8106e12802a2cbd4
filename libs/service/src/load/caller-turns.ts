/** Returns a text key for a caller, for use in maps: equal callers have equal keys. */
export function callerKey({ tenant, owner }: { tenant: string; owner: string }): string {
  return JSON.stringify([tenant, owner]);
}

/** Adds `by` to the count of a key. A key whose count drops to zero is removed. @returns the new count */
export function addCount(counts: Map<string, number>, key: string, by: number): number {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
  return count;
}

/** Caller for whom work is executed. */
export interface CallerIdentity {
  tenant: string;
  owner: string;
}

/** Maximum number of concurrent units of work: in total, for one caller and for one tenant. */
export interface TurnLimits {
  places: number;
  placesOfACaller: number;
  placesOfATenant: number;
  /** Maximum time that a unit of work waits before it starts, in milliseconds. */
  waitMs: number;
}

/**
 * Reports that a unit of work did not start within the maximum wait, since too much other work was queued before it.
 */
export class NoTurnInTime extends Error {
  override readonly name = 'NoTurnInTime';
}

interface WaitingTurn {
  caller: CallerIdentity;
  startWork(): void;
}

/**
 * Limits how much asynchronous work of callers, such as queries, executes at the same time; other work waits in a
 * queue.
 * - Each caller has its own queue; the queues are served round-robin.
 * - A caller, and a tenant, may occupy only some of the places. A busy caller therefore waits behind its own work.
 *
 * This class does not measure time on the event loop: see LoopShares for requests, WorkTurns for work after a response.
 */
export class CallerTurns {
  /** Waiting work by caller. The caller whose work starts next comes first. */
  private readonly queues = new Map<string, WaitingTurn[]>();
  private readonly ofCallers = new Map<string, number>();
  private readonly ofTenants = new Map<string, number>();
  private underWay = 0;

  constructor(private readonly limits: TurnLimits) {}

  /**
   * Queues the work of a caller, and executes it when it is the caller's turn.
   * @param gone signal that cancels the work while it waits
   * @throws NoTurnInTime; the signal's reason; the error of the work
   */
  async runInTurn<T>(caller: CallerIdentity, work: () => Promise<T>, gone?: AbortSignal): Promise<T> {
    gone?.throwIfAborted();
    await this.waitForTurn(caller, gone);
    try {
      return await work();
    } finally {
      this.countUnderWay(caller, -1);
      this.beginNext();
    }
  }

  /** Number of waiting units of work. */
  get waiting(): number {
    return this.queues.values().reduce((sum, queue) => sum + queue.length, 0);
  }

  private waitForTurn(caller: CallerIdentity, gone: AbortSignal | undefined): Promise<void> {
    if (this.hasRoom(caller)) {
      this.countUnderWay(caller, 1);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const rejectWait = (reason: Error): void => {
        stopWaiting();
        this.removeWaiting(waiting);
        reject(reason);
      };
      const onGone = (): void => rejectWait(gone?.reason as Error);
      const timer = setTimeout(() => rejectWait(new NoTurnInTime()), this.limits.waitMs);
      const stopWaiting = (): void => {
        clearTimeout(timer);
        gone?.removeEventListener('abort', onGone);
      };
      const waiting: WaitingTurn = {
        caller,
        startWork: () => {
          stopWaiting();
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

  private hasRoom(caller: CallerIdentity): boolean {
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
      // Requeue the caller behind all others that wait.
      this.queues.delete(key);
      if (queue.length > 0) this.queues.set(key, queue);
      this.countUnderWay(next.caller, 1);
      next.startWork();
    }
  }

  private removeWaiting(waiting: WaitingTurn): void {
    const key = callerKey(waiting.caller);
    const rest = (this.queues.get(key) ?? []).filter((it) => it !== waiting);
    if (rest.length > 0) this.queues.set(key, rest);
    else this.queues.delete(key);
  }

  private countUnderWay(caller: CallerIdentity, by: 1 | -1): void {
    this.underWay += by;
    addCount(this.ofCallers, callerKey(caller), by);
    addCount(this.ofTenants, caller.tenant, by);
  }
}

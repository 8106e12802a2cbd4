import { Injectable } from '@nestjs/common';
import { AsyncResource } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';
import { Metrics } from '../metrics.js';

/**
 * Utilization of the event loop, from 0 to 1, above which it counts as busy: more work would noticeably delay requests.
 */
const BUSY = 0.75;
/** Minimum milliseconds over which the utilization is measured. */
const WINDOW_MS = 100;

/** Clock and utilization meter of an event loop. */
export type LoopMeter = Pick<typeof performance, 'now' | 'eventLoopUtilization'>;

/**
 * Returns a function that returns true while the event loop is busy: if it worked for at least 75 % of the last
 * measured period. A period lasts 100 milliseconds, or longer if the function is called less often.
 */
export function watchLoopLoad(loop: LoopMeter = performance): () => boolean {
  let start = loop.eventLoopUtilization();
  let measuredAt = loop.now();
  let isBusy = false;
  return () => {
    const now = loop.now();
    if (now < measuredAt + WINDOW_MS) return isBusy;
    const end = loop.eventLoopUtilization();
    isBusy = loop.eventLoopUtilization(end, start).utilization >= BUSY;
    start = end;
    measuredAt = now;
    return isBusy;
  };
}

/** Minimum bytes of a request body that counts as costly to parse. */
export const COSTLY_BODY = 16 * 1024;

/** Milliseconds of the event loop that a caller may owe before its requests wait. */
const BURST_MS = 100;
/** Maximum wait, in milliseconds, of the request at the head of its caller's queue. */
const LONGEST_WAIT_MS = 2_000;
/** Milliseconds after its newest request for which a caller counts as active. */
const ACTIVE_MS = 1_000;
/**
 * Maximum number of waiting requests of one caller while other callers are active; further requests are refused. Their
 * bytes count as in flight.
 */
const MOST_WAITING = 256;
/**
 * Number of equal shares of the event loop that are reserved for everything except costly requests. Each caller with
 * costly requests gets one additional share.
 */
const CHEAP_SHARES = 4;
/** Milliseconds between two removals of the accounts of callers that owe nothing. */
const SWEEP_MS = 100;

interface LoopAccount {
  /** Milliseconds of the event loop that the caller has used beyond its share, as of `at`. */
  owed: number;
  at: number;
  readonly waiting: (() => void)[];
  isRunning: boolean;
  /** True from the caller's first costly request, or its first debt above BURST_MS, until the caller owes nothing. */
  isCostly: boolean;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Shares the time of the event loop among callers with costly requests, such as large bodies.
 *
 * - A caller that was alone in the last second never waits, whatever its requests cost. Neither does a caller whose
 *   turn comes while the loop has time to spare (see watchLoopLoad). A wait that has begun is not cut short.
 * - Otherwise, a caller that has used a tenth of a second more than its share waits until this debt is paid.
 * - The share of each costly caller is a fifth of the time with one costly caller, a sixth with two, and so on. The
 *   rest is left to cheap requests, and to what costly requests cause later, such as database statements and garbage
 *   collection.
 * - Costly requests of one caller execute one at a time, in order. The head of a queue waits at most two seconds.
 * - Only requests given to `scheduleCostly` wait; cheap requests do not.
 */
@Injectable()
export class LoopShares {
  private readonly accounts = new Map<string, LoopAccount>();
  /** Caller that sent the most recent request, and the time of that request. */
  private readonly newest = { who: '', at: -Infinity };
  /** Most recent caller that differs from `newest.who`, and the time of that caller's last request. */
  private readonly other = { who: '', at: -Infinity };
  private sweptAt = -Infinity;
  /** Number of callers whose accounts are costly (`isCostly`). */
  private costly = 0;
  private readonly delayed;

  constructor(
    metrics: Pick<Metrics, 'counter'>,
    private readonly now: () => number = () => performance.now(),
    private readonly isLoopBusy: () => boolean = watchLoopLoad(),
  ) {
    this.delayed = metrics.counter(
      'parley_requests_delayed_total',
      'Costly requests that waited because their caller had used more than its share of the event loop',
      [],
    );
  }

  /** Records a request of a caller. The caller then counts as active for a second. */
  noteRequest(who: string): void {
    const { newest, other } = this;
    if (newest.who !== who) {
      other.who = newest.who;
      other.at = newest.at;
      newest.who = who;
    }
    newest.at = this.now();
  }

  /** Charges a caller for milliseconds used on the event loop. */
  chargeCaller(who: string, ms: number): void {
    const account = this.accountOf(who);
    this.payDown(account);
    account.owed = Math.min(account.owed + ms, BURST_MS + LONGEST_WAIT_MS * this.computeShare());
    if (account.owed > BURST_MS) this.markCostly(account);
  }

  /** True if costly requests of a caller currently have to wait. */
  isOwing(who: string): boolean {
    return this.delayMs(who) > 0;
  }

  /** Returns the milliseconds until costly work of a caller may continue; 0 if it may now. */
  delayMs(who: string): number {
    const account = this.accounts.get(who);
    return account === undefined ? 0 : this.waitMs(who, account);
  }

  /**
   * Executes a costly request when it is the caller's turn, in a separate cycle of the event loop, and charges the
   * caller for the time.
   * @returns false if too many requests of the caller wait; the request is not executed then
   */
  scheduleCostly(who: string, act: () => void): boolean {
    const account = this.accountOf(who);
    if (account.waiting.length >= MOST_WAITING && this.isContended(who)) return false;
    this.markCostly(account);
    account.waiting.push(AsyncResource.bind(act));
    if (!account.isRunning && account.timer === undefined) this.scheduleNext(who, account);
    return true;
  }

  private scheduleNext(who: string, account: LoopAccount): void {
    account.timer = undefined;
    const act = account.waiting[0];
    if (act === undefined) return;
    const wait = this.waitMs(who, account);
    if (wait > 0) {
      this.delayed.inc();
      account.timer = setTimeout(() => this.scheduleNext(who, account), Math.ceil(wait));
      return;
    }
    account.waiting.shift();
    account.isRunning = true;
    setImmediate(() => this.runNow(who, account, act));
  }

  private runNow(who: string, account: LoopAccount, act: () => void): void {
    const start = this.now();
    try {
      act();
    } finally {
      // Resolved promises run before ticks that they queue: by then everything that waits for nothing is done.
      queueMicrotask(() =>
        process.nextTick(() => {
          this.chargeRun(who, this.now() - start);
          account.isRunning = false;
          this.scheduleNext(who, account);
        }),
      );
    }
  }

  private chargeRun(who: string, ms: number): void {
    this.chargeCaller(who, ms);
    // The loop was blocked, so no caller could send a request meanwhile.
    this.newest.at += ms;
    this.other.at += ms;
  }

  private accountOf(who: string): LoopAccount {
    this.forgetIdleAccounts();
    let account = this.accounts.get(who);
    if (!account) {
      account = { owed: 0, at: this.now(), waiting: [], isRunning: false, isCostly: false, timer: undefined };
      this.accounts.set(who, account);
    }
    return account;
  }

  /**
   * Returns the milliseconds until the time that a caller owes has sunk to BURST_MS, at most LONGEST_WAIT_MS. Returns 0
   * if the caller owes no more than that, no other caller is active, or the event loop is not busy.
   */
  private waitMs(who: string, account: LoopAccount): number {
    this.payDown(account);
    const beyond = account.owed - BURST_MS;
    return beyond <= 0 || !this.isContended(who) || !this.isLoopBusy()
      ? 0
      : Math.min(beyond / this.computeShare(), LONGEST_WAIT_MS);
  }

  private payDown(account: LoopAccount): void {
    const now = this.now();
    account.owed = Math.max(0, account.owed - (now - account.at) * this.computeShare());
    account.at = now;
  }

  /** Removes the accounts of callers that owe nothing. */
  private forgetIdleAccounts(): void {
    const now = this.now();
    if (now < this.sweptAt + SWEEP_MS) return;
    this.sweptAt = now;
    for (const [who, account] of this.accounts) {
      this.payDown(account);
      if (account.owed > 0 || account.waiting.length > 0 || account.isRunning) continue;
      this.accounts.delete(who);
      if (account.isCostly) this.costly -= 1;
    }
  }

  /** Returns the fraction of the time that each caller with costly requests gets. */
  private computeShare(): number {
    return 1 / (Math.max(1, this.costly) + CHEAP_SHARES);
  }

  private markCostly(account: LoopAccount): void {
    if (account.isCostly) return;
    account.isCostly = true;
    this.costly += 1;
  }

  private isContended(who: string): boolean {
    const { newest, other } = this;
    const active = this.now() - ACTIVE_MS;
    return (newest.who !== who && newest.at >= active) || (other.who !== who && other.at >= active);
  }
}

import { AsyncResource } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { Metrics } from '../metrics/metrics.js';

/** Bytes of a body from which on it is costly to read. */
export const COSTLY_BODY = 16 * 1024;

/** Milliseconds of the event loop that a caller may owe before its requests wait. */
const BURST_MS = 100;
/** Milliseconds that a request at the head of its caller's queue waits at most. */
const LONGEST_WAIT_MS = 2_000;
/** Milliseconds for which a caller counts after its newest request. */
const ACTIVE_MS = 1_000;
/** Requests of one caller that wait, while others have requests; what is more is refused. Their bytes count as in flight. */
const MOST_WAITING = 256;
/** Milliseconds between two looks for callers that owe nothing any more. */
const SWEEP_MS = 100;

interface Account {
  /** Milliseconds of the event loop that the caller has used beyond its share, as of `at`. */
  owed: number;
  at: number;
  readonly waiting: (() => void)[];
  isRunning: boolean;
  /** True from when it waits for a turn, or owes more than its burst, until it owes nothing. */
  isCostly: boolean;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Shares the event loop among callers whose requests are costly, as large bodies are.
 *
 * - A caller that was alone in the last second never waits, whatever its requests cost.
 * - Beside others, a caller that has used a tenth of a second more than its share waits until that is paid. With one
 *   costly caller the share is a third of the time, with two it is a fourth each: the rest is left to requests that cost
 *   little.
 * - Costly requests of one caller take turns, in their order. The first of them waits at most two seconds.
 * - Only what is given to `take` waits; requests that cost little do not.
 */
@Injectable()
export class LoopShares {
  private readonly accounts = new Map<string, Account>();
  /** The newest request of the caller that came last, and of the last one before that was another. */
  private readonly newest = { who: '', at: -Infinity };
  private readonly other = { who: '', at: -Infinity };
  private sweptAt = -Infinity;
  /** Number of accounts that are costly. */
  private costly = 0;
  private readonly delayed;

  constructor(
    metrics: Pick<Metrics, 'counter'>,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.delayed = metrics.counter(
      'parley_requests_delayed_total',
      'Costly requests that waited because their caller had used more than its share of the event loop',
      [],
    );
  }

  /** Notes a request of a caller. */
  note(who: string): void {
    const { newest, other } = this;
    if (newest.who !== who) {
      other.who = newest.who;
      other.at = newest.at;
      newest.who = who;
    }
    newest.at = this.now();
  }

  /** Charges a caller with time of the event loop that it has used. */
  charge(who: string, ms: number): void {
    const account = this.accountOf(who);
    this.pay(account);
    account.owed = Math.min(account.owed + ms, BURST_MS + LONGEST_WAIT_MS * this.share());
    if (account.owed > BURST_MS) this.markCostly(account);
  }

  /** True if requests of a caller that are not small have to wait at present. */
  isOwing(who: string): boolean {
    const account = this.accounts.get(who);
    return account !== undefined && this.waitMs(who, account) > 0;
  }

  /**
   * Does what a costly request asks for, once it is its caller's turn, in a turn of the event loop of its own, and charges
   * the caller with that.
   * @returns false where too many wait already: then it is not done
   */
  take(who: string, act: () => void): boolean {
    const account = this.accountOf(who);
    if (account.waiting.length >= MOST_WAITING && this.isContended(who)) return false;
    this.markCostly(account);
    account.waiting.push(AsyncResource.bind(act));
    if (!account.isRunning && account.timer === undefined) this.next(who, account);
    return true;
  }

  private next(who: string, account: Account): void {
    account.timer = undefined;
    const act = account.waiting[0];
    if (act === undefined) return;
    const wait = this.waitMs(who, account);
    if (wait > 0) {
      this.delayed.inc();
      account.timer = setTimeout(() => this.next(who, account), Math.ceil(wait));
      return;
    }
    account.waiting.shift();
    account.isRunning = true;
    setImmediate(() => this.run(who, account, act));
  }

  private run(who: string, account: Account, act: () => void): void {
    const start = this.now();
    try {
      act();
    } finally {
      // Promises that are resolved run before what is queued by one of them: by then all is done that waits for nothing.
      queueMicrotask(() =>
        process.nextTick(() => {
          this.finish(who, this.now() - start);
          account.isRunning = false;
          this.next(who, account);
        }),
      );
    }
  }

  private finish(who: string, ms: number): void {
    this.charge(who, ms);
    // Nobody could ask for anything meanwhile.
    this.newest.at += ms;
    this.other.at += ms;
  }

  private accountOf(who: string): Account {
    this.sweep();
    let account = this.accounts.get(who);
    if (!account) {
      account = { owed: 0, at: this.now(), waiting: [], isRunning: false, isCostly: false, timer: undefined };
      this.accounts.set(who, account);
    }
    return account;
  }

  /** Milliseconds until a caller has paid; 0 where nobody else asks for anything. */
  private waitMs(who: string, account: Account): number {
    this.pay(account);
    const beyond = account.owed - BURST_MS;
    return beyond <= 0 || !this.isContended(who) ? 0 : Math.min(beyond / this.share(), LONGEST_WAIT_MS);
  }

  private pay(account: Account): void {
    const now = this.now();
    account.owed = Math.max(0, account.owed - (now - account.at) * this.share());
    account.at = now;
  }

  /** Forgets callers that owe nothing. */
  private sweep(): void {
    const now = this.now();
    if (now < this.sweptAt + SWEEP_MS) return;
    this.sweptAt = now;
    for (const [who, account] of this.accounts) {
      this.pay(account);
      if (account.owed > 0 || account.waiting.length > 0 || account.isRunning) continue;
      this.accounts.delete(who);
      if (account.isCostly) this.costly -= 1;
    }
  }

  /** Returns the part of the time that each caller with costly requests has. */
  private share(): number {
    return 1 / (Math.max(1, this.costly) + 2);
  }

  private markCostly(account: Account): void {
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

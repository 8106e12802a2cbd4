import type { AttemptOutcome } from './retry-plan.js';

/** Attempts at one receiver at a time, in this replica: half of the replica's jobs. */
const AT_ONCE = 2;
const CROWDED_MS = 500;
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 60_000;
/** Beyond it those whose rest is over are forgotten. */
const MOST_KNOWN = 1_000;

interface Receiver {
  underWay: number;
  failures: number;
  restsUntil: number;
}

/**
 * Keeps receivers that do not answer from taking all the room for jobs: few attempts at one origin at a time, and none
 * for a while after one that got no answer. Other receivers and other jobs go on. What it knows is of this process alone.
 */
export class Receivers {
  private readonly known = new Map<string, Receiver>();

  constructor(private readonly now: () => number = Date.now) {}

  /** 0 where an attempt at the origin may begin, which `leave` has to end; else how many milliseconds to wait. */
  enter(origin: string): number {
    const receiver = this.known.get(origin) ?? { underWay: 0, failures: 0, restsUntil: 0 };
    const rest = receiver.restsUntil - this.now();
    if (rest > 0) return rest;
    if (receiver.underWay >= AT_ONCE) return CROWDED_MS;
    receiver.underWay += 1;
    if (this.known.size >= MOST_KNOWN) this.forgetRested();
    this.known.set(origin, receiver);
    return 0;
  }

  /** @param outcome absent where the attempt was broken off */
  leave(origin: string, outcome?: AttemptOutcome): void {
    const receiver = this.known.get(origin);
    if (!receiver) return;
    receiver.underWay -= 1;
    if (outcome?.error === 'connect' || outcome?.error === 'timeout') {
      receiver.failures += 1;
      receiver.restsUntil = this.now() + Math.min(FIRST_REST_MS * 2 ** (receiver.failures - 1), LONGEST_REST_MS);
    } else if (outcome) {
      receiver.failures = 0;
      receiver.restsUntil = 0;
    }
    if (receiver.underWay === 0 && receiver.failures === 0) this.known.delete(origin);
  }

  private forgetRested(): void {
    for (const [origin, { underWay, restsUntil }] of this.known) {
      if (underWay === 0 && restsUntil <= this.now()) this.known.delete(origin);
    }
  }
}

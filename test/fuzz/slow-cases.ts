import type { FuzzCase } from './fuzz-case.js';

/** Milliseconds from which a case may have been delayed by a pause. */
const SLOW_MS = 50;
const MOST_KEPT = 100_000;
const MOST_NAMED = 8;

interface SlowCase {
  name: string;
  from: number;
  to: number;
}

/** Cases that took long, to find those that were in progress when the service was blocked. */
export class SlowCases {
  private readonly kept: SlowCase[] = [];

  /** Adds a case. @param from start in milliseconds since 1970, like `to` */
  add({ index, endpoint }: FuzzCase, from: number, to: number): void {
    if (to - from < SLOW_MS || this.kept.length >= MOST_KEPT) return;
    this.kept.push({ name: `${index} ${endpoint}`, from, to });
  }

  /** Returns the cases that were in progress during a period, the last sent first. */
  during(from: number, to: number): string[] {
    const found = this.kept.filter((it) => it.from <= to && it.to >= from);
    return found
      .toSorted((a, b) => b.from - a.from)
      .slice(0, MOST_NAMED)
      .map(({ name }) => name);
  }
}

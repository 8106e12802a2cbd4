import type { FuzzCase } from './fuzz-case.js';

/** A case that waited for a pause took at least about as long. */
const SLOW_MS = 50;
const MOST_KEPT = 100_000;
const MOST_NAMED = 8;

interface SlowCase {
  name: string;
  from: number;
  to: number;
}

/** The cases that took long, to be asked which of them were under way when the service stood still. */
export class SlowCases {
  private readonly kept: SlowCase[] = [];

  /** @param from Unix milliseconds, as `to` */
  add({ index, endpoint }: FuzzCase, from: number, to: number): void {
    if (to - from < SLOW_MS || this.kept.length >= MOST_KEPT) return;
    this.kept.push({ name: `${index} ${endpoint}`, from, to });
  }

  /** Those that were sent before a time had ended, and answered after it had begun; the last sent first. */
  during(from: number, to: number): string[] {
    const found = this.kept.filter((it) => it.from <= to && it.to >= from);
    return found
      .toSorted((a, b) => b.from - a.from)
      .slice(0, MOST_NAMED)
      .map(({ name }) => name);
  }
}

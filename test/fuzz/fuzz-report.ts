import type { FuzzCase, Outcome } from './fuzz-case.js';
import type { ServiceOptions } from './options.js';
import { SlowCases } from './slow-cases.js';
import type { LoopDelay, Memory, Pause } from './watched-service.js';

/** Maximum growth of the heap in bytes between a tenth of the cases and their end: caches fill, and heap sizes vary. */
const HEAP_GROWTH = 24 * 1024 * 1024;
const MOST_SHOWN = 20;

interface Failure {
  fuzzCase: FuzzCase;
  outcome: Outcome;
}

/** Outcomes of all cases that were sent to one service. */
export class FuzzReport {
  readonly failures: Failure[] = [];
  /** Memory after the first tenth of the cases. `end` is that at the end. */
  start: Memory = { resident: 0, heap: 0 };
  end: Memory = { resident: 0, heap: 0 };
  loop: LoopDelay = { max: 0, p999: 0, pauses: [] };
  /** Lines that the service logged as errors. */
  logged: string[] = [];
  exitCode: number | null = null;
  private readonly endpoints = new Map<string, Map<string, number>>();
  private readonly slow = new SlowCases();
  private readonly begun = performance.now();
  private seconds = 0;
  private unavailable = 0;

  constructor(private readonly options: ServiceOptions) {}

  /** Adds an outcome. @param from time at which the case was sent, in milliseconds since 1970 */
  add(fuzzCase: FuzzCase, outcome: Outcome, from = Date.now()): void {
    const statuses = this.endpoints.get(fuzzCase.endpoint) ?? new Map<string, number>();
    this.endpoints.set(fuzzCase.endpoint, statuses);
    statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1);
    if (outcome.status.startsWith('503')) this.unavailable++;
    this.slow.add(fuzzCase, from, Date.now());
    if (outcome.failure !== undefined) this.failures.push({ fuzzCase, outcome });
    this.seconds = (performance.now() - this.begun) / 1000;
  }

  get cases(): number {
    return [...this.endpoints.values()].flatMap((it) => [...it.values()]).reduce((sum, count) => sum + count, 0);
  }

  /** Number of bytes by which the heap has grown beyond its limit; 0 if it has not. */
  get excess(): number {
    return Math.max(0, this.end.heap - this.start.heap - HEAP_GROWTH);
  }

  /** Returns all problems, one line each; an empty list if there are none. */
  problems(): string[] {
    const { pauseLimit } = this.options;
    return [
      ...this.failures.map(
        ({ fuzzCase, outcome }) => `case ${fuzzCase.index}, ${fuzzCase.endpoint}: ${outcome.failure}`,
      ),
      ...this.logged.map((line) => `logged: ${line.slice(0, 1000)}`),
      ...(this.exitCode === 0 ? [] : [`the service ended with ${this.exitCode}`]),
      ...(this.excess > 0 ? [`the heap grew by ${megabytes(this.excess + HEAP_GROWTH)}`] : []),
      ...(pauseLimit > 0 && this.loop.max > pauseLimit
        ? [`the event loop stood still for ${this.loop.max.toFixed(0)} ms; ${pauseLimit} ms are allowed`]
        : []),
    ];
  }

  /** Returns the failures with their requests, so that they can be read and sent again. */
  details(): string {
    const shown = this.failures.slice(0, MOST_SHOWN).map(({ fuzzCase, outcome }) => {
      const { index, endpoint, bytes, headers, delivery } = fuzzCase;
      return [
        `case ${index}, ${endpoint}: ${outcome.failure}`,
        `  npm run fuzz -- --seed ${this.options.seed} --auth ${this.options.auth} --only ${index}`,
        `  sent (${JSON.stringify(delivery)}): ${headers ? JSON.stringify(headers) : ''} ${JSON.stringify(bytes.toString('latin1')).slice(0, 4000)}`,
        `  answer: ${JSON.stringify(outcome.text.slice(0, 1500))}`,
      ].join('\n');
    });
    return shown.join('\n\n');
  }

  table(): string {
    const rows = [...this.endpoints].map(([endpoint, statuses]) => {
      const counts = [...statuses].toSorted().map(([status, count]) => `${status}: ${count}`);
      const all = [...statuses.values()].reduce((sum, count) => sum + count, 0);
      return `${endpoint.padEnd(72)} ${String(all).padStart(7)}   ${counts.join(', ')}`;
    });
    return [`AUTH_MODE=${this.options.auth}`, ...rows].join('\n');
  }

  summary(): string {
    const { cases, seconds, start, end, loop, unavailable } = this;
    const faults = this.failures.filter(({ outcome }) => /^5|^grpc (2|13|15)$/.test(outcome.status)).length;
    const hangs = this.failures.filter(({ outcome }) => outcome.status === 'hang').length;
    const share = ((unavailable / Math.max(1, cases)) * 100).toFixed(3);
    return [
      `AUTH_MODE=${this.options.auth}: ${cases} cases at ${this.endpoints.size} endpoints in ${seconds.toFixed(0)} s, ${(cases / seconds).toFixed(0)} a second`,
      `  ${faults} answers of 5xx, ${hangs} hangs, ${this.failures.length} failures in all; 503 with Retry-After: ${unavailable} (${share} %); logged as errors: ${this.logged.length}`,
      `  event loop: at most ${loop.max.toFixed(0)} ms late, p99.9 ${loop.p999.toFixed(1)} ms`,
      ...loop.pauses.map((pause) => `    ${this.told(pause)}`),
      `  heap after a collection: ${megabytes(start.heap)} at 10 %, ${megabytes(end.heap)} at the end; resident: ${megabytes(start.resident)}, ${megabytes(end.resident)}`,
    ].join('\n');
  }

  /** Describes a pause, and the cases that may have caused it. */
  private told(pause: Pause): string {
    const { ms, cpuMs, gcMs, gc } = pause;
    const collected = gcMs > 0 ? `, ${gcMs.toFixed(0)} ms in collections (${gc.join(', ')})` : '';
    // Where the thread hardly worked, no case made it.
    const cases = cpuMs > ms / 3 ? this.slow.during(pause.from, pause.to) : [];
    const suspects = cases.length > 0 ? `; under way: ${cases.join(', ')}` : '';
    return `${ms.toFixed(0)} ms, of which its thread worked ${cpuMs.toFixed(0)} ms${collected}${suspects}`;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

import type { FuzzCase, Outcome } from './fuzz-case.js';
import type { FuzzOptions } from './options.js';
import type { Memory } from './watched-service.js';

/** What memory may grow by between a tenth of the cases and their end: caches fill, and a heap is never quite the same. */
const HEAP_GROWTH = 24 * 1024 * 1024;
const MOST_SHOWN = 20;

interface Failure {
  fuzzCase: FuzzCase;
  outcome: Outcome;
}

/** What came of all cases. */
export class FuzzReport {
  readonly failures: Failure[] = [];
  /** After the first tenth, and at the end. */
  start: Memory = { resident: 0, heap: 0 };
  end: Memory = { resident: 0, heap: 0 };
  /** Lines that the service logged as errors. */
  logged: string[] = [];
  exitCode: number | null = null;
  private readonly endpoints = new Map<string, Map<string, number>>();
  private readonly begun = performance.now();

  constructor(private readonly options: FuzzOptions) {}

  add(fuzzCase: FuzzCase, outcome: Outcome): void {
    const statuses = this.endpoints.get(fuzzCase.endpoint) ?? new Map<string, number>();
    this.endpoints.set(fuzzCase.endpoint, statuses);
    statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1);
    if (outcome.failure !== undefined) this.failures.push({ fuzzCase, outcome });
  }

  get cases(): number {
    return [...this.endpoints.values()].flatMap((it) => [...it.values()]).reduce((sum, count) => sum + count, 0);
  }

  /** Everything that is wrong, one line each; empty: nothing is. */
  problems(): string[] {
    const { heap } = this.start;
    const grown = this.end.heap - heap;
    return [
      ...this.failures.map(
        ({ fuzzCase, outcome }) => `case ${fuzzCase.index}, ${fuzzCase.endpoint}: ${outcome.failure}`,
      ),
      ...this.logged.map((line) => `logged: ${line.slice(0, 1000)}`),
      ...(this.exitCode === 0 ? [] : [`the service ended with ${this.exitCode}`]),
      ...(grown > HEAP_GROWTH ? [`the heap grew by ${megabytes(grown)}`] : []),
    ];
  }

  /** The failures with their requests, so that they can be read and sent again. */
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
    const seconds = (performance.now() - this.begun) / 1000;
    const faults = this.failures.filter(({ outcome }) => /^5|^grpc (2|13|15)$/.test(outcome.status)).length;
    const hangs = this.failures.filter(({ outcome }) => outcome.status === 'hang').length;
    return [
      ...rows,
      '',
      `${this.cases} cases at ${this.endpoints.size} endpoints in ${seconds.toFixed(0)} s: ${faults} answers of 5xx, ${hangs} hangs, ${this.failures.length} failures in all`,
      `heap after a collection: ${megabytes(this.start.heap)} at 10 %, ${megabytes(this.end.heap)} at the end; resident: ${megabytes(this.start.resident)}, ${megabytes(this.end.resident)}`,
      `logged as errors: ${this.logged.length}`,
    ].join('\n');
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

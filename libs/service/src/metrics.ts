import { Controller, Get, Header, Injectable } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { withinTime } from './waits.js';

/**
 * Bounds the values of a label that callers choose: the first `most` distinct values are kept, all later ones become
 * `other`. No caller can therefore exhaust the memory of metrics readers.
 */
export class BoundedLabel {
  private readonly known = new Set<string>();

  constructor(private readonly most: number) {}

  boundValue(value: string): string {
    if (this.known.has(value)) return value;
    if (this.known.size >= this.most) return 'other';
    this.known.add(value);
    return value;
  }
}

/** Bucket bounds in seconds: from half a millisecond to the longest wait of a caller. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Maximum milliseconds for reading one gauge: scrapers give up after some seconds, and would then get no metrics at
 * all.
 */
const READING_MS = 2_000;

/** Metrics for Prometheus at `/metrics`. Requesting a name twice returns the same metric. */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  counter<T extends string = string>(name: string, help: string, labelNames: readonly T[] = []): Counter<T> {
    return this.findMetric<Counter<T>>(name) ?? new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** Creates a histogram. The default buckets are for durations in seconds. */
  histogram<T extends string = string>(
    name: string,
    help: string,
    labelNames: readonly T[] = [],
    buckets: number[] = DURATION_BUCKETS,
  ): Histogram<T> {
    return (
      this.findMetric<Histogram<T>>(name) ??
      new Histogram({ name, help, labelNames, buckets, registers: [this.registry] })
    );
  }

  /**
   * Creates a gauge.
   * @param collect called at each scrape; returns the value of the gauge, or an object with one value for each value of
   *   the first label. It must not fail. If it takes longer than two seconds, the gauge keeps its value, and `collect`
   *   is not called again before it ends.
   */
  gauge<T extends string = string>(
    name: string,
    help: string,
    labelNames: readonly T[] = [],
    collect?: () => Reading | Promise<Reading>,
  ): Gauge<T> {
    const known = this.findMetric<Gauge<T>>(name);
    if (known) return known;
    const gauge: Gauge<T> = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect: collect && inTime(async () => setTo(gauge, labelNames[0], await collect())),
    });
    return gauge;
  }

  /** Returns the text exposition of all metrics. */
  readExposition(): Promise<string> {
    return this.registry.metrics();
  }

  private findMetric<M>(name: string): M | undefined {
    return this.registry.getSingleMetric(name) as M | undefined;
  }
}

/**
 * Returns a function that waits for a reading for at most READING_MS, and then resolves without the reading. If it is
 * called while an earlier reading is still running, it waits for that reading and starts no other.
 */
function inTime(read: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined;
  return async () => {
    underWay ??= read().finally(() => {
      underWay = undefined;
    });
    await withinTime(underWay, READING_MS);
  };
}

/** Value of a gauge, or one value for each value of its first label. */
type Reading = number | Readonly<Record<string, number>>;

function setTo<T extends string>(gauge: Gauge<T>, label: T | undefined, reading: Reading): void {
  if (typeof reading === 'number') return gauge.set(reading);
  for (const [value, number] of Object.entries(reading))
    gauge.set({ [label ?? 'value']: value } as Record<T, string>, number);
}

const SAMPLE = '# HELP parley_tasks_total Tasks\n# TYPE parley_tasks_total counter\nparley_tasks_total 7\n';

@ApiTags('operations')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Returns the metrics in the format of Prometheus.' })
  @ApiOkResponse({ content: { 'text/plain': { schema: { type: 'string' }, example: SAMPLE } } })
  getMetrics(): Promise<string> {
    return this.metrics.readExposition();
  }
}

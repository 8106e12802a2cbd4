import { NODE_FLOOR } from './cases/subject-names.ts';
import type { LoadResult, RequestTemplate } from './load/closed-loop.ts';
import type { LoadProcess } from './load/load-process.ts';
import { type Measurement, medians } from './measure/measurement.ts';
import { keepApart } from './measure/cores.ts';
import { startMeter } from './measure/meter.ts';
import { residentBytes } from './measure/processes.ts';
import type { BenchOptions } from './options.ts';
import type { BenchServer } from './servers/bench-server.ts';
import type { BenchPostgres } from './servers/postgres.ts';

/** Seconds for which a subject that was suspended works before it is measured. */
const AWAKE_SECONDS = 1;

/** Server in a comparison. */
export interface Subject {
  name: string;
  server: BenchServer;
  /** PostgreSQL with the server's data; absent if it stores none. */
  postgres?: BenchPostgres;
  /** Request that the load generator sends. */
  template?: RequestTemplate;
  /** Function that does the work in place of the load generator. */
  drive?: (connections: number, seconds: number) => Promise<LoadResult>;
  /** Number of units of work in one request, if work is not counted in requests. */
  units?: number;
}

/** Work that several servers are measured with. */
export interface Comparison {
  id: string;
  title: string;
  /** Unit that is counted: 'request', 'node', … */
  unit: string;
  connections: number[];
  subjects: Subject[];
}

export interface Row {
  id: string;
  title: string;
  unit: string;
  subject: string;
  connections: number;
  measurement: Measurement;
}

/** Table of results that do not compare requests. */
export interface FactTable {
  title: string;
  header: string[];
  rows: (string | number)[][];
}

/** Results that goals refer to and that no row contains. */
export interface Facts {
  kilobytesBeyondFloor: number;
  chunkCostRatio: number;
  /** CPU time of Node for a Message with an API key, in relation to that without: the median of pairs of processes. */
  costOfKey: number;
  /** CPU time of Node for a Message with spans, in relation to that without: the median of turns of one process. */
  costOfSpans: number;
  /**
   * CPU time of a Message with four replicas, in relation to one replica with the load of each of them: the cost of
   * more replicas, without that of smaller batches.
   */
  costOfFourReplicas: number;
  /** Last measurements with a held snapshot, in relation to those before: the worst of all numbers of replicas. */
  heldSnapshot: { throughput: number; p99: number };
  /** Interruption of a run in milliseconds. */
  takeover: Pick<LoadResult, 'p50' | 'max'>;
  takeoverFloor: Facts['takeover'];
  /** Milliseconds until the first, and until all of 4,000 Tasks of a dead replica execute in another replica. */
  massTakeover: { first: number; all: number };
}

/** Functions and options that a case gets from the run of the benchmark. */
export interface Bench {
  options: BenchOptions;
  postgres: BenchPostgres;
  load: LoadProcess;
  /** Starts something that ends with the case. */
  using<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T>;
  table(figures: FactTable): void;
  /** Records a result that a goal refers to. */
  fact<Name extends keyof Facts>(name: Name, value: Facts[Name]): void;
  /** Adds a note about something that no number shows, mainly what could not be measured and why. */
  note(text: string): void;
  progress(text: string): void;
}

/**
 * Warms every subject up once, then measures the subjects in turn for several rounds, so that other load of the machine
 * affects all of them. A subject with a wrong answer is noted and left out.
 */
export async function compare(bench: Bench, asked: Comparison): Promise<Row[]> {
  const { warmUpSeconds, check } = bench.options;
  const comparison = check ? { ...asked, subjects: asked.subjects.filter(isGuarded) } : asked;
  if (bench.options.apart)
    keepApart(
      comparison.subjects.map(({ server }) => server.pid),
      [bench.load.pid, bench.postgres.pid],
    );
  const sound = new Set(comparison.subjects);
  const guarded = async (subject: Subject, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      sound.delete(subject);
      bench.note(
        `${comparison.title}, ${subject.name}: ${(error as Error).message.replace(/\s+/g, ' ').slice(0, 500)}`,
      );
    }
  };
  const busiest = Math.max(...comparison.connections);
  for (const subject of comparison.subjects) {
    await guarded(subject, () => measure(bench, subject, busiest, warmUpSeconds).then(() => undefined));
  }
  const rows: Row[] = [];
  for (const connections of comparison.connections) {
    const rounds = new Map<Subject, Measurement[]>(comparison.subjects.map((subject) => [subject, []]));
    for (let round = 0; round < bench.options.rounds; round += 1) {
      for (const subject of comparison.subjects.filter((one) => sound.has(one))) {
        await guarded(subject, async () => {
          rounds.get(subject)?.push(await measure(bench, subject, connections, bench.options.seconds));
        });
      }
    }
    rows.push(
      ...[...rounds].flatMap(([subject, measured]) => rowOf(bench, comparison, subject, connections, measured)),
    );
  }
  return rows;
}

/** True for a subject that a check needs: Parley, and the floor, which shows how fast the machine is. */
function isGuarded({ name }: Subject): boolean {
  return name.startsWith('Parley') || name === NODE_FLOOR;
}

async function measure(bench: Bench, subject: Subject, connections: number, seconds: number): Promise<Measurement> {
  const { server, postgres, units = 1 } = subject;
  // V8 gives memory back to the machine while others are measured, and with it much of what it had compiled.
  await work(bench, subject, connections, Math.min(seconds, AWAKE_SECONDS));
  const meters = [await startMeter(server.pid, postgres), await startMeter(bench.load.pid, undefined)];
  const result = await work(bench, subject, connections, seconds);
  const [used = { nodeCpu: 0 }, load = { nodeCpu: 0 }] = await Promise.all(meters.map((stop) => stop()));
  const done = result.requests * units;
  const each = (total: number | undefined): number | undefined => (total === undefined ? undefined : total / done);
  return {
    perSecond: done / result.seconds,
    p50: result.p50,
    p99: result.p99,
    nodeCpu: used.nodeCpu / done,
    postgresCpu: each(used.postgresCpu),
    walBytes: each(used.walBytes),
    commits: each(used.commits),
    residentBytes: residentBytes(server.pid),
    loadCpu: load.nodeCpu / done,
  };
}

function work(bench: Bench, subject: Subject, connections: number, seconds: number): Promise<LoadResult> {
  const { name, server, template, drive } = subject;
  if (drive) return drive(connections, seconds);
  if (!template) throw new Error(`${name} has nothing to do`);
  return bench.load.load({ url: server.url, connections, seconds, template });
}

function rowOf(
  bench: Bench,
  { id, title, unit }: Comparison,
  { name }: Subject,
  connections: number,
  measured: Measurement[],
): Row[] {
  if (measured.length === 0) return [];
  const measurement = medians(measured);
  const { perSecond, p50, p99, nodeCpu, postgresCpu } = measurement;
  bench.progress(
    `${title} · ${connections} · ${name}: ${perSecond.toFixed(0)} ${unit}s/s, p50 ${p50.toFixed(2)} ms, ` +
      `p99 ${p99.toFixed(2)} ms, node ${nodeCpu.toFixed(0)} µs, postgres ${postgresCpu?.toFixed(0) ?? '-'} µs`,
  );
  return [{ id, title, unit, subject: name, connections, measurement }];
}

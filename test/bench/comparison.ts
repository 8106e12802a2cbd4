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

/** So long a subject that has stood still works before it is measured. */
const AWAKE_SECONDS = 1;

/** One server in a comparison. */
export interface Subject {
  name: string;
  server: BenchServer;
  /** Where it keeps its data; absent where it keeps none. */
  postgres?: BenchPostgres;
  /** What the load generator sends … */
  template?: RequestTemplate;
  /** … or how the work is done otherwise. */
  drive?: (connections: number, seconds: number) => Promise<LoadResult>;
  /** How much one request does, where that is not counted in requests. */
  units?: number;
}

/** The same work asked of several servers. */
export interface Comparison {
  id: string;
  title: string;
  /** What is counted: 'request', 'node', … */
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

/** Figures that are no comparison of requests. */
export interface FactTable {
  title: string;
  header: string[];
  rows: (string | number)[][];
}

/** Figures that goals are about and no row holds. */
export interface Facts {
  kilobytesBeyondFloor: number;
  chunkCostRatio: number;
  /** Node's CPU of a Message, × without: the median of pairs of processes, … */
  costOfKey: number;
  /** … and of turns of one process. */
  costOfSpans: number;
  /** CPU of a Message, × with one that has as much to do as each of them: what more replicas cost, not smaller batches. */
  costOfFourReplicas: number;
  /** The last figures while a snapshot is held, × those of before: the worst by the number of replicas. */
  heldSnapshot: { throughput: number; p99: number };
  /** Milliseconds. */
  takeover: Pick<LoadResult, 'p50' | 'max'>;
  takeoverFloor: Facts['takeover'];
  /** Until the first, and until all of 4,000 Tasks of a dead replica are at work in another one. */
  massTakeover: { first: number; all: number };
}

/** What a case needs from the run that it is part of. */
export interface Bench {
  options: BenchOptions;
  postgres: BenchPostgres;
  load: LoadProcess;
  /** Starts something that ends with the case. */
  using<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T>;
  table(figures: FactTable): void;
  /** A figure that a goal is about. */
  fact<Name extends keyof Facts>(name: Name, value: Facts[Name]): void;
  /** Tells something that no figure tells: above all, what could not be measured and why. */
  note(text: string): void;
  progress(text: string): void;
}

/**
 * Warms every subject up once, then measures them in turn for several rounds, so that whatever else happens on the
 * machine meets all of them. A subject that answers wrongly is noted and left out.
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

/** A check needs Parley, and the floor that tells how fast the machine is. */
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

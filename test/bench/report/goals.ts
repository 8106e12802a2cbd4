import { PARLEY, PARLEY_CLIENT, PARLEY_TRACED, SDK_MEMORY, SDK_POSTGRES } from '../cases/subject-names.ts';
import type { Row } from '../comparison.ts';
import type { Measurement } from '../measure/measurement.ts';
import type { Report } from './bench-report.ts';
import { number, table } from './tables.ts';

/** One promise of the project about its cost, with what the run measured of it. */
interface Goal {
  text: string;
  measured: number | undefined;
  wanted: number;
  /** Whether more is better, or less. */
  sense: 'at least' | 'at most';
}

/** Each goal that the run measured, met or not. */
export function goalTable(report: Report): string[] {
  const goals = goalsOf(report).filter(({ measured }) => measured !== undefined && !Number.isNaN(measured));
  if (goals.length === 0) return [];
  const rows = goals.map(({ text, measured = 0, wanted, sense }) => [
    text,
    `${sense} ${number(wanted)}`,
    number(measured),
    (sense === 'at least' ? measured >= wanted : measured <= wanted) ? 'met' : '**missed**',
  ]);
  return ['### Goals', table(['goal', 'wanted', 'measured', ''], rows)];
}

function goalsOf({ rows, facts }: Report): Goal[] {
  return [
    ...sendingGoals(rows, 'send', 'SendMessage', [32, 128], { 32: 2.5, 128: 3.5 }),
    ...sendingGoals(rows, 'stream', 'SendStreamingMessage', [32, 128], { 32: 2.5, 128: 2.5 }),
    atMost('SendMessage at 32: Node µs', of(rows, 'send', PARLEY, 32)?.nodeCpu, 150),
    atMost('SendMessage at 32: PostgreSQL µs', of(rows, 'send', PARLEY, 32)?.postgresCpu, 110),
    atMost('Spans of one trace in ten: Node CPU of SendMessage at 32, × without', timesUntraced(rows), 1.03),
    atMost('Outbound at 32 in flight: µs per call', of(rows, 'outbound', PARLEY_CLIENT, 32)?.nodeCpu, 120),
    atLeast('DAG chain-100, one run: nodes/s', of(rows, 'chain', PARLEY, 1)?.perSecond, 1_700),
    atLeast('DAG chain-100, one run, × a commit per node', timesFloor(rows), 0.5),
    atLeast('DAG fan-100, one run: nodes/s', of(rows, 'fan', PARLEY, 1)?.perSecond, 9_000),
    atLeast('DAG fan-100, one run, × the fastest durable peer', timesDurablePeers(rows), 10),
    atMost('Open streams: kB per stream', facts.kilobytesPerStream, 20),
    atMost('Chunks: cost of one among many, × one among few', facts.chunkCostRatio, 1.2),
  ];
}

function sendingGoals(
  rows: readonly Row[],
  id: string,
  name: string,
  connections: number[],
  timesMemory: Record<number, number>,
): Goal[] {
  return connections.flatMap((at) => {
    const [parley, memory, stored] = [PARLEY, SDK_MEMORY, SDK_POSTGRES].map((subject) => of(rows, id, subject, at));
    const goals: Goal[] = [];
    const wanted = timesMemory[at];
    if (wanted !== undefined) {
      goals.push(atLeast(`${name} at ${at}, × the SDK in memory`, ratio(parley, memory), wanted));
      const lowest = Math.min(memory?.p99 ?? Number.NaN, stored?.p99 ?? Number.NaN);
      goals.push(atMost(`${name} at ${at}: p99 ms, at most that of either SDK`, parley?.p99, lowest));
    }
    return [...goals, atLeast(`${name} at ${at}, × the SDK on PostgreSQL`, ratio(parley, stored), 10)];
  });
}

function of(rows: readonly Row[], id: string, subject: string, connections: number): Measurement | undefined {
  return rows.find((row) => row.id === id && row.subject === subject && row.connections === connections)?.measurement;
}

function ratio(one: Measurement | undefined, other: Measurement | undefined): number | undefined {
  return one && other && one.perSecond / other.perSecond;
}

function timesUntraced(rows: readonly Row[]): number | undefined {
  const [traced, plain] = [PARLEY_TRACED, PARLEY].map((subject) => of(rows, 'traces', subject, 32));
  return traced && plain && traced.nodeCpu / plain.nodeCpu;
}

function timesFloor(rows: readonly Row[]): number | undefined {
  return ratio(of(rows, 'chain', PARLEY, 1), of(rows, 'chain', 'floor: a commit per node', 1));
}

function timesDurablePeers(rows: readonly Row[]): number | undefined {
  const peers = ['LangGraph, PostgreSQL', 'DBOS', 'Mastra, PostgreSQL'].flatMap(
    (name) => of(rows, 'fan', name, 1) ?? [],
  );
  const fastest = peers.toSorted((a, b) => b.perSecond - a.perSecond)[0];
  return ratio(of(rows, 'fan', PARLEY, 1), fastest);
}

function atLeast(text: string, measured: number | undefined, wanted: number): Goal {
  return { text, measured, wanted, sense: 'at least' };
}

function atMost(text: string, measured: number | undefined, wanted: number): Goal {
  return { text, measured: Number.isNaN(wanted) ? undefined : measured, wanted, sense: 'at most' };
}

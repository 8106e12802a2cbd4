import {
  AGENT_ITSELF,
  BATCH_FLOOR,
  COMMIT_FLOOR,
  DOOR,
  DURABLE_PEERS,
  PARLEY,
  PARLEY_CLIENT,
  RELAY_FLOOR,
  SDK_MEMORY,
  SDK_POSTGRES,
  SELECT_FLOOR,
  UNDICI_FLOOR,
} from '../cases/subject-names.ts';
import type { Row } from '../comparison.ts';
import type { Measurement } from '../measure/measurement.ts';
import type { Report } from './bench-report.ts';
import { number, table } from './tables.ts';

/** Performance goal of the project, with the measured value. */
interface Goal {
  text: string;
  measured: number | undefined;
  wanted: number;
  /** Direction of the goal. */
  sense: 'at least' | 'at most';
  /** Value of the floor that was measured at the same time: a server that does only the unavoidable work. */
  floor?: number | undefined;
}

/** Returns a table of each goal that the run measured, met or not. */
export function goalTable(report: Report): string[] {
  const goals = goalsOf(report).filter(({ measured }) => measured !== undefined && !Number.isNaN(measured));
  if (goals.length === 0) return [];
  const rows = goals.map(({ text, measured = 0, wanted, sense, floor }) => [
    text,
    `${sense} ${number(wanted)}`,
    number(measured),
    (sense === 'at least' ? measured >= wanted : measured <= wanted) ? 'met' : '**missed**',
    number(floor),
  ]);
  return ['### Goals', table(['goal', 'wanted', 'measured', '', 'its floor'], rows)];
}

function goalsOf({ rows, facts }: Report): Goal[] {
  const { kilobytesBeyondFloor, costOfFourReplicas, chunkCostRatio, costOfKey, costOfSpans } = facts;
  return [
    ...sendGoals(rows),
    ...streamGoals(rows),
    ...readGoals(rows),
    ...graphGoals(rows),
    atMost('Open streams: kB per stream beyond bare node:http', kilobytesBeyondFloor, 2, 0),
    ...takeoverGoals(facts),
    atLeast('A snapshot is held: throughput × that of before', facts.heldSnapshot?.throughput, 0.9),
    atMost('A snapshot is held: p99 × that of before', facts.heldSnapshot?.p99, 1.5),
    atMost('CPU of a Message with four replicas, × with one as busy as each', costOfFourReplicas, 1.1),
    atMost('SendMessage at 32: Node CPU with an API key × without', costOfKey, 1.05),
    atMost('Spans of one trace in ten: Node CPU of SendMessage at 32, × without', costOfSpans, 1.03),
    atMost(
      'Outbound at 32 in flight: µs per call',
      of(rows, 'outbound', PARLEY_CLIENT, 32)?.nodeCpu,
      120,
      of(rows, 'outbound', UNDICI_FLOOR, 32)?.nodeCpu,
    ),
    ...doorGoals(rows),
    atMost('Chunks: cost of one among many, × one among few', chunkCostRatio, 1.2),
  ];
}

function sendGoals(rows: readonly Row[]): Goal[] {
  const at = (connections: number, subject = PARLEY) => of(rows, 'send', subject, connections);
  const [ours, memory, floor] = [at(32), at(32, SDK_MEMORY), at(32, COMMIT_FLOOR)];
  const cpu = memory?.nodeCpu;
  const name = 'SendMessage at 32:';
  return [
    atMost(`${name} Node CPU × the SDK in memory`, times(ours?.nodeCpu, cpu), 0.33, times(floor?.nodeCpu, cpu)),
    atMost(
      `${name} PostgreSQL CPU × the SDK in memory`,
      times(ours?.postgresCpu, cpu),
      0.22,
      times(floor?.postgresCpu, cpu),
    ),
    ...rates(rows, 'send', 'SendMessage', { 1: 0.6, 32: 2.5, 128: 3.5 }),
    ...[32, 128].map((connections) => {
      const p99 = at(connections, SDK_MEMORY)?.p99;
      const [own, least] = [at(connections), at(connections, COMMIT_FLOOR)].map((it) => times(it?.p99, p99));
      const text = `SendMessage at ${connections}: p99 × the SDK in memory`;
      return atMost(text, own, connections === 32 ? 0.8 : 0.5, least);
    }),
    atMost('SendMessage at 1: µs of Node and PostgreSQL', cpuOf(at(1)), 495, cpuOf(at(1, COMMIT_FLOOR))),
    atLeast(`${name} rate × the SDK on PostgreSQL`, faster(ours, at(32, SDK_POSTGRES)), 10),
    atMost(`${name} bytes of WAL`, ours?.walBytes, 2_000, floor?.walBytes),
  ];
}

function streamGoals(rows: readonly Row[]): Goal[] {
  return rates(rows, 'stream', 'SendStreamingMessage', { 32: 2.5, 128: 3.5 });
}

function doorGoals(rows: readonly Row[]): Goal[] {
  const rate = (id: string, connections: number, subject = DOOR) =>
    faster(of(rows, id, subject, connections), of(rows, id, AGENT_ITSELF, connections));
  const p50 = (subject: string): number => of(rows, 'door-send', subject, 1)?.p50 ?? Number.NaN;
  return [
    atLeast(
      'A door, SendMessage at 32: rate × the agent itself',
      rate('door-send', 32),
      0.8,
      rate('door-send', 32, RELAY_FLOOR),
    ),
    atMost(
      'A door, SendMessage at 1: p50, ms more than the agent itself',
      p50(DOOR) - p50(AGENT_ITSELF),
      3,
      p50(RELAY_FLOOR) - p50(AGENT_ITSELF),
    ),
    atLeast('A door, a stream of chunks at 1: rate × the agent itself', rate('door-stream', 1), 0.9),
  ];
}

/** @param wanted wanted rates by the number of connections */
function rates(rows: readonly Row[], id: string, name: string, wanted: Record<number, number>): Goal[] {
  return Object.entries(wanted).map(([connections, least]) => {
    const [ours, memory, floor] = [PARLEY, SDK_MEMORY, COMMIT_FLOOR].map((it) => of(rows, id, it, Number(connections)));
    const text = `${name} at ${connections}: rate × the SDK in memory`;
    return atLeast(text, faster(ours, memory), least, faster(floor, memory));
  });
}

function readGoals(rows: readonly Row[]): Goal[] {
  const goals = [1, 32, 128].flatMap((connections) => {
    const at = (id: string, subject = PARLEY) => of(rows, id, subject, connections);
    const [get, stored, floor] = [at('get'), at('get', SDK_POSTGRES), at('get', SELECT_FLOOR)];
    const what = `at ${connections}:`;
    const p99 = stored?.p99;
    return [
      atLeast(`GetTask ${what} rate × the SDK on PostgreSQL`, faster(get, stored), 1.3, faster(floor, stored)),
      atMost(`GetTask ${what} p99 × the SDK on PostgreSQL`, times(get?.p99, p99), 1, times(floor?.p99, p99)),
      atLeast(`ListTasks ${what} rate × the SDK on PostgreSQL`, faster(at('list'), at('list', SDK_POSTGRES)), 10),
    ];
  });
  const [get, subscribe] = ['get', 'subscribe'].map((id) => of(rows, id, PARLEY, 32)?.nodeCpu);
  return [...goals, atMost('SubscribeToTask replay at 32: Node CPU × GetTask', times(subscribe, get), 1.3)];
}

function graphGoals(rows: readonly Row[]): Goal[] {
  return [['chain', 8] as const, ['fan', 10] as const].flatMap(([id, wanted]) => {
    const ours = of(rows, id, PARLEY, 1);
    const floor = of(rows, id, BATCH_FLOOR, 1);
    const peer = fastestDurablePeer(rows, id);
    const name = `DAG ${id}-100, one run:`;
    return [
      atLeast(`${name} rate × the fastest durable peer`, faster(ours, peer), wanted, faster(floor, peer)),
      atMost(`${name} bytes of WAL a node`, ours?.walBytes, 3_000, floor?.walBytes),
    ];
  });
}

function takeoverGoals({ takeover, takeoverFloor, massTakeover }: Report['facts']): Goal[] {
  const name = 'kill -9 of the executing replica: the run continues,';
  return [
    atMost(`${name} p50 ms`, takeover?.p50, 500, takeoverFloor?.p50),
    atMost(`${name} longest ms`, takeover?.max, 1_000, takeoverFloor?.max),
    atMost('kill -9 of a replica with 4,000 Tasks: all are at work, ms', massTakeover?.all, 1_500),
  ];
}

function fastestDurablePeer(rows: readonly Row[], id: string): Measurement | undefined {
  const peers = DURABLE_PEERS.flatMap((name) => of(rows, id, name, 1) ?? []);
  return peers.toSorted((a, b) => b.perSecond - a.perSecond)[0];
}

function of(rows: readonly Row[], id: string, subject: string, connections: number): Measurement | undefined {
  return rows.find((row) => row.id === id && row.subject === subject && row.connections === connections)?.measurement;
}

function faster(one: Measurement | undefined, other: Measurement | undefined): number | undefined {
  return times(one?.perSecond, other?.perSecond);
}

function times(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

function cpuOf(measurement: Measurement | undefined): number | undefined {
  return measurement && measurement.nodeCpu + (measurement.postgresCpu ?? 0);
}

function atLeast(text: string, measured: number | undefined, wanted: number, floor?: number): Goal {
  return { text, measured, wanted, sense: 'at least', floor };
}

function atMost(text: string, measured: number | undefined, wanted: number, floor?: number): Goal {
  return { text, measured, wanted, sense: 'at most', floor };
}

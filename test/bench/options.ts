import { parseArgs } from 'node:util';
import { ATTACKS, type AttackName } from './attacks/index.ts';

const CASES = [
  'send',
  'stream',
  'extras',
  'read',
  'dag',
  'dag-scale',
  'parked',
  'streams',
  'gateway',
  'chunks',
  'outbound',
  'door',
  'door-waiting',
  'flood',
  'kill',
  'takeover',
  'replicas',
  'start',
  'soak',
  'snapshot',
  'attacks',
  'instructions',
  'console',
  'runs',
  'triggers',
] as const;
export type CaseName = (typeof CASES)[number];

/** Options of a run of the benchmark: cases, durations and sizes. */
export interface BenchOptions {
  cases: CaseName[];
  quick: boolean;
  /** True to compare with the recorded results. `record` is true to record them. */
  check: boolean;
  record: boolean;
  /** True to run servers on a separate processor. */
  apart: boolean;
  connections: number[];
  /** Numbers of concurrent runs of a graph. */
  runsAtOnce: number[];
  rounds: number;
  /** Seconds of one measurement. `warmUp` is that of the warm-up. */
  seconds: number;
  warmUpSeconds: number;
  /** Number of Tasks in the database for GetTask and ListTasks. */
  storedTasks: number;
  openStreams: number;
  /** Number of parked runs, and of waiting Tasks of an agent. */
  parkedRuns: number;
  chunks: { few: number; many: number };
  /** Number of kills of each kind. */
  kills: number;
  /** Minutes of the soak test. */
  minutes: number;
  /** Minutes for which a snapshot is held. */
  heldMinutes: number;
  /** Numbers of replicas with which a held snapshot is measured. */
  heldReplicas: number[];
  /** Names of the attacks to make, each alone; empty: each alone, then all together. */
  attacks: (AttackName | 'together')[];
}

export const USAGE = `npm run bench [-- options]
  --quick           in three to five minutes: fewer rounds, 32 connections, smaller tables, nothing killed or flooded, no large runs
  --case name …     only these: ${CASES.join(', ')}
  --minutes n       how long the case soak lasts (30 unless said otherwise), and for how long the case snapshot holds
                    one (2); both run only where they are named, and so do attacks, console, runs, and instructions, which needs
                    valgrind
  --replicas n,…    of the case snapshot (1,2 unless said otherwise)
  --attack name …   only these attacks of the case attacks, each alone; \`together\` stands for all of them at once
  --check           measure Parley alone and compare its CPU with results/baseline.json; exits 1 where it grew
  --record          write results/baseline.json, which holds the figures of a full and of a quick run
  --apart           servers on the first core; the load and PostgreSQL on the others
  --connections n,… --rounds n --seconds s --stored n   in place of the usual ones; stored Tasks are what reads choose from`;

/** Cases whose CPU time per request is recorded and checked. */
const GUARDED: CaseName[] = ['send', 'stream', 'read', 'dag', 'outbound'];

/** Cases that a quick run leaves out. */
const SLOW: CaseName[] = [
  'extras',
  'kill',
  'takeover',
  'flood',
  'dag-scale',
  'parked',
  'door-waiting',
  'replicas',
  'start',
];

/** Cases that run only if they are named. */
const NAMED: CaseName[] = ['soak', 'snapshot', 'attacks', 'instructions', 'console', 'runs', 'triggers'];

/** Parses the arguments. @throws Error that names a wrong argument */
export function readOptions(args: string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      case: { type: 'string', multiple: true, default: [] },
      check: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
      apart: { type: 'boolean', default: false },
      connections: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      stored: { type: 'string' },
      minutes: { type: 'string' },
      replicas: { type: 'string' },
      attack: { type: 'string', multiple: true, default: [] },
    },
  });
  const { quick, check, record, apart } = values;
  const named = [...values.case, ...positionals].map(caseName);
  const everything = CASES.filter((name) => !NAMED.includes(name));
  const measured = quick ? everything.filter((name) => !SLOW.includes(name)) : everything;
  const usual = check ? GUARDED : measured;
  const { connections, rounds, seconds, stored, minutes, replicas } = values;
  return {
    ...(quick ? QUICK : FULL),
    // Without its peers Parley can be measured more often in the same time.
    ...(check && { rounds: 5 }),
    quick,
    check,
    record,
    apart,
    cases: named.length > 0 ? named : usual,
    attacks: values.attack.map(attackName),
    ...(connections !== undefined && { connections: connections.split(',').map(positive) }),
    ...(rounds !== undefined && { rounds: positive(rounds) }),
    ...(seconds !== undefined && { seconds: positive(seconds) }),
    ...(stored !== undefined && { storedTasks: positive(stored) }),
    ...(minutes !== undefined && { minutes: positive(minutes), heldMinutes: positive(minutes) }),
    ...(replicas !== undefined && { heldReplicas: replicas.split(',').map(positive) }),
  };
}

const FULL = {
  connections: [1, 32, 128],
  runsAtOnce: [1, 10],
  rounds: 5,
  seconds: 3,
  // V8 goes on compiling for longer than a floor needs: a server of much code is as fast as it stays after about so long.
  warmUpSeconds: 8,
  storedTasks: 1_000_000,
  openStreams: 10_000,
  parkedRuns: 10_000,
  chunks: { few: 1_000, many: 10_000 },
  kills: 5,
  minutes: 30,
  heldMinutes: 2,
  heldReplicas: [1, 2],
};

const QUICK = {
  connections: [32],
  runsAtOnce: [1],
  rounds: 2,
  seconds: 0.5,
  warmUpSeconds: 1.2,
  storedTasks: 100_000,
  openStreams: 2_000,
  parkedRuns: 1_000,
  chunks: { few: 250, many: 2_500 },
  kills: 1,
  minutes: 3,
  heldMinutes: 0.5,
  heldReplicas: [1, 2],
};

function caseName(text: string): CaseName {
  const found = CASES.find((name) => name === text);
  if (found === undefined) throw new Error(`There is no case "${text}"`);
  return found;
}

function attackName(text: string): AttackName | 'together' {
  if (text === 'together') return text;
  const found = (Object.keys(ATTACKS) as AttackName[]).find((name) => name === text);
  if (found === undefined) throw new Error(`There is no attack "${text}"`);
  return found;
}

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new Error(`"${text}" is not a number above 0`);
  return number;
}

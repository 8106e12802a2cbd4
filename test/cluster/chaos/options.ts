import { parseArgs } from 'node:util';
import { FAULT_KINDS, SERVER_FAULTS } from './faults/all-faults.js';
import type { FaultKind } from './faults/fault-kind.js';
import { faultKinds } from './fault-plan.js';

export interface ChaosOptions {
  minutes: number;
  /** Number of Tasks known to clients after which the faults end. */
  tasks: number;
  /** Number of clients that only send Messages to an agent which answers at once. */
  messengers: number;
  /** Number of schedules that each begin a run every two seconds. */
  schedules: number;
  /** Seed of the fault plan. */
  seed: number;
  replicas: number;
  /** Names of the kinds of faults; empty: all kinds. */
  faults: string[];
  /** Commit whose version runs beside this one, with the fault `mixed`. */
  beside: string;
  /** True to call local nodes over HTTP, through the balancer. */
  http: boolean;
  /** Number of lost leaders after which the trial ends, with the fault `failover`. */
  kills: number;
  /** True to kill a replica at each event of runs with every construct, instead of random faults. */
  eachEvent: boolean;
  /** True to use runs with an agent that has tools, with `eachEvent`. */
  agents: boolean;
  /** Places to kill at, with `eachEvent`; empty: all. */
  places: string[];
}

export const USAGE = `npm run chaos -- [--minutes 2] [--tasks N] [--messengers N] [--schedules N] [--seed S] [--replicas 3] [--faults kill,database] [--beside HEAD~1] [--http]
npm run chaos -- --faults failover [--kills 10] [--seed S] [--replicas 2]
npm run chaos -- --each-event [--agents] [--replicas 4] [--places child,whole:12,late:3:before]

--minutes   how long the faults go on; about one more to recover and to check
--tasks     with it, the faults end when clients were told of so many Tasks, however long it takes, unless --minutes is
            there as well
--messengers  how many more clients send Messages to an agent that answers at once; none unless told otherwise
--schedules  how many schedules begin a run every two seconds; none unless told otherwise
--seed      the plan of faults to repeat; one by chance otherwise
--replicas  how many processes share the database
--faults    only these of ${FAULT_KINDS.map(({ name }) => name).join(', ')}; or
            failover, alone or with those of them that need no server of their own: PostgreSQL is a Patroni cluster of
            two nodes then, whose leader is lost again and again
--beside    with mixed: the commit that is built and runs beside this one; HEAD~1 unless told otherwise
--kills     with failover: how many leaders are lost, however long it takes, unless --minutes is there as well
--each-event  after each event of runs with every construct of the language, and before each next one, the replica that
            executes the run is killed; it lasts as long as that takes. Where something is broken, the logs of all Tasks are
            kept in a file, and said where
--places    with each-event: only the events of these kinds of runs (whole, child, rerun, late), or these events of them
--agents    with each-event: of runs with an agent of five steps (agent, run), which calls a tool over HTTP and one of a
            program in each, of runs with an agent that calls two agents by tools (caller), and of runs with two agents
            that talk by a tool (poet, conversation, critic); on two replicas unless it says otherwise
--http      NODE_DISPATCH=http: a run's own nodes are called through the balancer`;

/** Name of the fault that needs a PostgreSQL cluster instead of a single server. */
export const FAILOVER = 'failover';

/** Parses the arguments. @throws Error that names a wrong argument */
export function readOptions(args: string[]): ChaosOptions {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string' },
      kills: { type: 'string' },
      tasks: { type: 'string' },
      messengers: { type: 'string', default: '0' },
      schedules: { type: 'string', default: '0' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      replicas: { type: 'string' },
      faults: { type: 'string', default: '' },
      beside: { type: 'string', default: 'HEAD~1' },
      http: { type: 'boolean', default: false },
      'each-event': { type: 'boolean', default: false },
      agents: { type: 'boolean', default: false },
      places: { type: 'string', default: '' },
    },
  });
  const faults = listed(values.faults);
  if (values.kills !== undefined && !faults.includes(FAILOVER)) throw new Error('--kills goes with --faults failover');
  if (values.places !== '' && !values['each-event']) throw new Error('--places goes with --each-event');
  if (values.agents && !values['each-event']) throw new Error('--agents goes with --each-event');
  const onServer = kindsOf({ faults }).find((it) => SERVER_FAULTS.includes(it));
  if (faults.includes(FAILOVER) && onServer) throw new Error(`--faults: ${FAILOVER}, or ${onServer.name}`);
  return {
    minutes: above(0, 'minutes', values.minutes ?? ((values.kills ?? values.tasks) === undefined ? '2' : 'Infinity')),
    tasks: above(0, 'tasks', values.tasks ?? 'Infinity'),
    messengers: above(-1, 'messengers', values.messengers),
    schedules: above(-1, 'schedules', values.schedules),
    seed: above(-1, 'seed', values.seed),
    replicas: above(1, 'replicas', values.replicas ?? (values.agents ? '2' : '3')),
    faults,
    beside: values.beside,
    http: values.http,
    kills: above(0, 'kills', values.kills ?? 'Infinity'),
    eachEvent: values['each-event'],
    agents: values.agents,
    places: listed(values.places),
  };
}

/**
 * Returns the kinds of faults of a random trial, except the loss of leaders; an empty list if only leaders are lost.
 */
export function kindsOf({ faults }: Pick<ChaosOptions, 'faults'>): FaultKind[] {
  const others = faults.filter((name) => name !== FAILOVER);
  return faults.length > 0 && others.length === 0 ? [] : faultKinds(others);
}

/** Returns the command that repeats the trial. */
export function commandOf({ minutes, seed, replicas, faults, http, kills, ...each }: ChaosOptions): string {
  const dispatch = http ? ['--http'] : [];
  if (each.eachEvent) return ['npm run chaos -- --each-event', ...chosenOf(each, replicas), ...dispatch].join(' ');
  return [
    'npm run chaos --',
    ...(Number.isFinite(minutes) ? ['--minutes', minutes] : []),
    ...(Number.isFinite(each.tasks) ? ['--tasks', each.tasks] : []),
    ...(each.messengers > 0 ? ['--messengers', each.messengers] : []),
    ...(each.schedules > 0 ? ['--schedules', each.schedules] : []),
    ...(Number.isFinite(kills) ? ['--kills', kills] : []),
    ...['--seed', seed, '--replicas', replicas],
    ...(faults.length > 0 ? ['--faults', faults.join(',')] : []),
    ...(each.beside === 'HEAD~1' ? [] : ['--beside', each.beside]),
    ...dispatch,
  ].join(' ');
}

function listed(text: string): string[] {
  return text.split(',').filter((it) => it !== '');
}

function chosenOf({ agents, places }: Pick<ChaosOptions, 'agents' | 'places'>, replicas: number): string[] {
  const chosen = places.length > 0 ? ['--places', places.join(',')] : [];
  return [...(agents ? ['--agents'] : []), '--replicas', String(replicas), ...chosen];
}

function above(least: number, name: string, text: string): number {
  const number = Number(text);
  if (!(number > least)) throw new Error(`--${name} must be above ${least}: ${text}`);
  return number;
}

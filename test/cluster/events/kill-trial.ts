import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { FakeAgent } from '../../support/fake-agent.js';
import type { ReplicaCluster } from '../../support/replica-cluster.js';
import { type StoredLog, storedLogs } from '../../support/stored-log.js';
import { until } from '../../support/until.js';
import type { Api } from '../../support/workflow.js';
import { Answerer } from './answerer.js';
import { EventGates } from './event-gates.js';
import { type Disturbed, EventKills, type Whole } from './event-kills.js';
import { forsaken, leftBehind, logsOf } from './left-behind.js';
import { isCalled, nameOf, type Place, placesOf } from './places.js';
import { runProblems } from './run-problems.js';
import type { Scenario } from './scenarios.js';

/**
 * Number of consecutive checks, two seconds apart, in which a Task without an owner and a wake-up counts as forsaken.
 */
const LOOKS = 3;
const LOOK_MS = 2_000;
/** Milliseconds for the remaining work to settle, such as repeated cancels at an agent that was unreachable. */
const SETTLING_MS = 180_000;
/** Number of attempts to hit a place, since the kill for another run may be first. */
const ATTEMPTS = 4;

export interface TrialStage {
  cluster: ReplicaCluster;
  api: Api;
  agent: FakeAgent;
}

export interface TrialOptions {
  scenarios: readonly Scenario[];
  /** Number of events of each scenario at which to kill, evenly spread; absent: all events. */
  most?: number;
  /** Places at which to kill; absent: all (see `placesOf`). */
  places?: readonly string[];
  /** Number of concurrent runs. */
  side: number;
  say(line: string): void;
  /** Called with all logs if a promise was broken. */
  keep?(logs: readonly StoredLog[]): Promise<void>;
}

export interface TrialResult {
  /** Scenarios with their numbers of events, of runs, and of runs whose replica was killed. */
  scenarios: { name: string; events: number; runs: number; hits: number }[];
  kills: number;
  calls: number;
  /** Broken promises, one sentence each. */
  problems: string[];
}

/**
 * Kills the replica that executes a run at each event of the run, or at some events, and checks the outcome of the
 * runs.
 */
export async function killAtEvents(stage: TrialStage, options: TrialOptions): Promise<TrialResult> {
  const gates = await EventGates.on(stage.cluster.database);
  const answerer = new Answerer(stage.api);
  const kills = new EventKills(stage, gates);
  const looks = new AbortController();
  const looked = look(stage, looks.signal);
  try {
    const wholes = await Promise.all(options.scenarios.map((scenario) => kills.whole(scenario)));
    const places = wholes.flatMap((whole) => placesOf(whole, options.most ?? Infinity, options.places));
    const none = (options.places ?? []).filter((name) => !places.some((place) => isCalled(place, name)));
    if (none.length > 0) throw new Error(`There is no such place: ${none.join(', ')}. ${describeEnds(wholes)}`);
    const { runs, problems } = await tryAll(stage, kills, places, options);
    looks.abort();
    problems.push(...(await looked), ...(await lastProblems(stage, [...wholes, ...runs])));
    if (problems.length > 0) await options.keep?.(await storedLogs(stage.cluster.database.query));
    const counted = wholes.map(({ scenario: { name }, events }) => {
      const own = runs.filter(({ scenario }) => scenario.name === name);
      return { name, events, runs: own.length, hits: own.filter(({ isHit }) => isHit).length };
    });
    return { scenarios: counted, kills: kills.kills, calls: stage.agent.sends.length, problems };
  } finally {
    looks.abort();
    await answerer.stop();
    await gates.end();
  }
}

/** Describes how the undisturbed runs ended. */
function describeEnds(wholes: readonly Whole[]): string {
  return wholes
    .map(
      ({ scenario, events, run }) => `${scenario.name}: ${events} events, ${JSON.stringify(run.error ?? run.status)}`,
    )
    .join('; ');
}

/** Executes all runs of a trial. @returns the ended runs, and the problems that were found */
async function tryAll(
  { agent }: TrialStage,
  kills: EventKills,
  places: readonly Place[],
  { side, say }: TrialOptions,
): Promise<{ runs: Disturbed[]; problems: string[] }> {
  const open = [...places];
  const [runs, problems]: [Disturbed[], string[]] = [[], []];
  let done = 0;
  const worker = async (): Promise<void> => {
    for (let place = open.shift(); place !== undefined; place = open.shift()) {
      const { whole, sequence, moment } = place;
      let [found, isHit]: [string[], boolean] = [[], false];
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        try {
          const run = await kills.disturbed(whole.scenario, sequence, moment);
          runs.push(run);
          found = [...found, ...outcomeProblems(run, whole, agent)];
          isHit = run.isHit;
          if (isHit) break;
        } catch (error) {
          found = [...found, `${nameOf(place)}: ${(error as Error).message}`];
          break;
        }
      }
      problems.push(...found);
      done += 1;
      say(`${done} of ${places.length}: ${nameOf(place)} of ${whole.events}`);
      for (const problem of found) say(`  ${problem}`);
      if (!isHit && found.length === 0) say(`  not hit in ${ATTEMPTS} runs`);
    }
  };
  await Promise.all(Array.from({ length: side }, worker));
  return { runs, problems };
}

function outcomeProblems(it: Disturbed, whole: Whole, { texts }: FakeAgent): string[] {
  const { outcome } = it.scenario;
  const [came, expected] = [outcome(it.run), outcome(whole.run)];
  const difference = `came to ${JSON.stringify(came)} in place of ${JSON.stringify(expected)}`;
  return [
    ...(isDeepStrictEqual(came, expected) ? [] : [at(it, difference)]),
    ...(texts.includes(`never of ${it.about}`) ? [at(it, 'has called an agent that no edge leads to')] : []),
  ];
}

/** Returns the problems that remain after a time to settle. */
async function lastProblems(stage: TrialStage, all: readonly (Whole | Disturbed)[]): Promise<string[]> {
  const looked = async (): Promise<string[]> => {
    const found = [...(await leftBehind(stage.cluster))];
    for (const { run, ...it } of all)
      found.push(...runProblems(await logsOf(stage.cluster, run.runId), stage.agent).map((what) => at(it, what)));
    return found;
  };
  let problems = await looked();
  const settles = async (): Promise<boolean> => (problems = await looked()).length === 0;
  await until(settles, { within: SETTLING_MS }).catch(() => undefined);
  return problems;
}

function at(it: Partial<Disturbed> & Pick<Whole, 'about' | 'scenario'>, what: string): string {
  const place = it.moment === undefined ? 'undisturbed' : `killed ${it.moment} event ${it.sequence}`;
  return `${it.about} (${it.scenario.name}, ${place}): ${what}`;
}

/** Checks, while runs are active, for Tasks without an owner that nothing will wake. */
async function look({ cluster }: TrialStage, signal: AbortSignal): Promise<string[]> {
  const found = new Set<string>();
  let seen = new Map<string, number>();
  while (!signal.aborted) {
    const now = await forsaken(cluster);
    seen = new Map(now.map((what) => [what, (seen.get(what) ?? 0) + 1]));
    for (const [what, times] of seen) if (times >= LOOKS) found.add(what);
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
  return [...found];
}

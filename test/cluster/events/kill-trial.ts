import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { FakeAgent } from '../../support/fake-agent.js';
import type { ReplicaCluster } from '../../support/replica-cluster.js';
import { until } from '../../support/until.js';
import type { Api } from '../../support/workflow.js';
import { Answerer } from './answerer.js';
import { EventGates, type Moment, MOMENTS } from './event-gates.js';
import { type Disturbed, EventKills, type Whole } from './event-kills.js';
import { forsaken, leftBehind, logsOf } from './left-behind.js';
import { runProblems } from './run-problems.js';
import type { Scenario } from './scenarios.js';

/** What is nobody's at so many looks in a row, two seconds apart, is forsaken. */
const LOOKS = 3;
const LOOK_MS = 2_000;
/** What is tried again when an agent could not be told of a cancel, and what has ended, need a moment. */
const SETTLING_MS = 60_000;
/** A kill for another run may have come first: it is tried again. */
const ATTEMPTS = 4;

export interface TrialStage {
  cluster: ReplicaCluster;
  api: Api;
  agent: FakeAgent;
}

export interface TrialOptions {
  scenarios: readonly Scenario[];
  /** At how many events of each scenario, spread evenly; all where absent. */
  most?: number;
  /** How many runs are under way at once. */
  side: number;
  say(line: string): void;
}

export interface TrialResult {
  /** By scenario: how many events there are, how many runs there were, and in how many of them it was killed. */
  scenarios: { name: string; events: number; runs: number; hits: number }[];
  kills: number;
  calls: number;
  /** One sentence for each promise that was broken. */
  problems: string[];
}

interface Place {
  whole: Whole;
  sequence: number;
  moment: Moment;
}

/** Kills the replica that executes a run at each event of it, or at some, and looks at what became of the runs. */
export async function killAtEvents(stage: TrialStage, options: TrialOptions): Promise<TrialResult> {
  const gates = await EventGates.on(stage.cluster.database);
  const answerer = new Answerer(stage.api);
  const kills = new EventKills(stage, gates);
  const looks = new AbortController();
  const looked = look(stage, looks.signal);
  try {
    const wholes = await Promise.all(options.scenarios.map((scenario) => kills.whole(scenario)));
    const places = wholes.flatMap((whole) => placesOf(whole, options.most ?? Infinity));
    const runs = await tryAll(kills, places, options);
    looks.abort();
    const problems = [...(await looked), ...(await problemsOf(stage, wholes, runs))];
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

/** Both moments of each event by turns, where there are not to be as many. */
function placesOf(whole: Whole, most: number): Place[] {
  const all = Array.from({ length: whole.events }, (_, index) => index + 1).flatMap((sequence) =>
    MOMENTS.map((moment) => ({ whole, sequence, moment })),
  );
  // Nothing comes after the last one.
  const there = all.filter(({ sequence, moment }) => moment === 'after' || sequence < whole.events);
  if (there.length <= most) return there;
  return Array.from({ length: most }, (_, index) => there[Math.floor(((index + 0.5) * there.length) / most)] as Place);
}

async function tryAll(kills: EventKills, places: readonly Place[], { side, say }: TrialOptions): Promise<Disturbed[]> {
  const open = [...places];
  const done: Disturbed[] = [];
  const worker = async (): Promise<void> => {
    for (let place = open.shift(); place !== undefined; place = open.shift()) {
      const { whole, sequence, moment } = place;
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const run = await kills.disturbed(whole.scenario, sequence, moment);
        done.push(run);
        if (run.isHit) break;
      }
      say(`${done.length}: ${whole.scenario.name}, killed ${moment} event ${sequence} of ${whole.events}`);
    }
  };
  await Promise.all(Array.from({ length: side }, worker));
  return done;
}

async function problemsOf(stage: TrialStage, wholes: readonly Whole[], runs: readonly Disturbed[]): Promise<string[]> {
  const looked = async (): Promise<string[]> => {
    const found = [...(await leftBehind(stage.cluster))];
    for (const { run, ...it } of [...wholes, ...runs])
      found.push(...runProblems(await logsOf(stage.cluster, run.runId), stage.agent).map((what) => at(it, what)));
    return found;
  };
  let problems = await looked();
  const settles = async (): Promise<boolean> => (problems = await looked()).length === 0;
  await until(settles, { within: SETTLING_MS }).catch(() => undefined);
  const expected = new Map(wholes.map(({ scenario, run }) => [scenario.name, scenario.outcome(run)]));
  const other = runs.filter(
    ({ scenario, run }) => !isDeepStrictEqual(scenario.outcome(run), expected.get(scenario.name)),
  );
  const sent = runs.flatMap((it) => (it.about && stage.agent.texts.includes(`never of ${it.about}`) ? [it] : []));
  return [
    ...problems,
    ...other.map((it) => at(it, `came to ${JSON.stringify(it.scenario.outcome(it.run))}`)),
    ...sent.map((it) => at(it, 'has called an agent that no edge leads to')),
  ];
}

function at(it: Partial<Disturbed> & Pick<Whole, 'about' | 'scenario'>, what: string): string {
  const place = it.moment === undefined ? 'undisturbed' : `killed ${it.moment} event ${it.sequence}`;
  return `${it.about} (${it.scenario.name}, ${place}): ${what}`;
}

/** Looks, while runs are under way, for what is nobody's. */
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

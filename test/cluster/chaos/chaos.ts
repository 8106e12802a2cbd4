import 'reflect-metadata';
import { mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { copyBuiltService } from '../../support/built-service.mjs';
import { STALLABLE } from '../../support/commit-stall.js';
import { asleepThoughDue, claimsWithoutExecutor } from '../../support/idle-claims.js';
import { FakeAgent } from '../../support/fake-agent.js';
import { NoClusterHere } from '../../support/patroni/debian-packages.js';
import { OwnPostgres } from '../../support/own-postgres.js';
import { ReplicaCluster } from '../../support/replica-cluster.js';
import { SeededRandom } from '../../support/seeded-random.js';
import { storedPages } from '../../support/stored-log.js';
import { until } from '../../support/until.js';
import { Api } from '../../support/workflow.js';
import { ClientLog } from './client-log.js';
import { FailoverDriver } from './failover-driver.js';
import { FaultDriver } from './fault-driver.js';
import { faultPlan } from './fault-plan.js';
import { CLOCK_SHIFT } from './faults/clock-shift.js';
import type { FaultKind } from './faults/fault-kind.js';
import { ONE_WAY_CUT } from './faults/one-way-cut.js';
import { DISK_FULL, SLOWABLE, SLOW_DISK } from './faults/disk-faults.js';
import { VERSION_CHANGE } from './faults/version-change.js';
import { builtVersion, commitHere } from './earlier-version.js';
import { Load } from './load.js';
import { type ChaosOptions, commandOf, FAILOVER, kindsOf, readOptions, USAGE } from './options.js';
import { ReplicaErrors } from './replica-errors.js';
import { ReplicaMemory } from './replica-memory.js';
import { agentReport, eventReport, report, type Trial } from './report.js';
import { SdkCallers } from './sdk-callers.js';
import { setStage } from './stage.js';
import { takeovers, watchTakeovers } from './takeovers.js';
import { ThinkingModel } from './thinking-model.js';
import { TrialReplicas } from './trial-replicas.js';
import { killAgents } from '../agents/agent-trial.js';
import { ToolWorld } from '../agents/tool-world.js';
import { killAtEvents, type TrialOptions } from '../events/kill-trial.js';
import { behaviour, scenarios } from '../events/scenarios.js';
import { TriedDatabase } from './tried-database.js';
import { TriedSchedules } from './tried-schedules.js';
import { Judge } from './verdict.js';

/** Milliseconds after the last fault, after which a Task that has not ended counts as stuck. */
const RECOVERY_MS = 60_000;
/** Duration that slightly exceeds the time for which a run waits in its replica before it is parked. */
const PARKED = '31s';
/**
 * Seconds after which a parked Task that is due counts as overdue. A job wakes it in time, or else a sweep after ten
 * seconds.
 */
const OVERDUE_SECONDS = 15;
/** Maximum length of a trial whose length is given as a number of leaders. */
const LONGEST_PLAN_MS = 24 * 60 * 60_000;
/** Settings of the server that vacuum often: a held snapshot matters only if dead rows would be removed otherwise. */
const VACUUMED = ['autovacuum=on', 'autovacuum_naptime=5s'];
/** Milliseconds between two counts of what clients know. */
const COUNT_MS = 1_000;
/** Exit code if this machine cannot do what was requested. */
const NOT_HERE = 3;

const ends: (() => Promise<unknown>)[] = [];
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupted.abort());
// The script that started this is gone: nobody reads a report any more.
process.stdin.once('close', () => void endAll().then(() => process.exit(1))).resume();

try {
  const options = parsed();
  say(`${commandOf(options)}\non commit ${commitHere()}`);
  process.exitCode = (await tried(options)) ? 0 : 1;
} catch (error) {
  if (!(error instanceof NoClusterHere)) throw error;
  say(error.message);
  process.exitCode = NOT_HERE;
} finally {
  await endAll();
  process.stdin.removeAllListeners('close').destroy();
}

function parsed(): ChaosOptions {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    say(`${(error as Error).message}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function endAll(): Promise<void> {
  for (let end = ends.pop(); end !== undefined; end = ends.pop())
    await end().catch((error: Error) => say(error.message));
}

/** Runs the trial that the options describe. @returns true if every promise was kept */
function tried(options: ChaosOptions): Promise<boolean> {
  if (!options.eachEvent) return tryByChance(options);
  return options.agents ? tryAgents(options) : tryEachEvent(options);
}

/** Kills at the events of agents with tools. @returns true if every promise was kept */
async function tryAgents({ replicas, http, places }: ChaosOptions): Promise<boolean> {
  process.env.PARLEY_TEST_MAIN = copyBuiltService();
  const database = await TriedDatabase.start(false, say);
  ends.push(() => database.stop());
  const world = await ToolWorld.start();
  ends.push(() => world.stop());
  const env = { LOG_LEVEL: 'error', ...world.env, ...(http && { NODE_DISPATCH: 'http' }) };
  const cluster = await ReplicaCluster.start(database, { replicas, env });
  ends.push(() => cluster.stop());
  const other = await FakeAgent.start({ streaming: true });
  ends.push(() => other.stop());
  const stage = { cluster, api: new Api(cluster.balancer.url), world, other };
  const result = await killAgents(stage, eachEventOptions(replicas, places));
  process.stdout.write(`\n${agentReport(result)}\n`);
  return result.problems.length === 0;
}

/** Injects random faults. @returns true if every promise was kept */
async function tryByChance(options: ChaosOptions): Promise<boolean> {
  const trial = await tryOut(options);
  process.stdout.write(`\n${report(trial)}\n`);
  return Object.values(trial.verdict).every((breaches: string[]) => breaches.length === 0);
}

/** Kills at each event of runs. @returns true if every promise was kept */
async function tryEachEvent({ replicas, http, places }: ChaosOptions): Promise<boolean> {
  process.env.PARLEY_TEST_MAIN = copyBuiltService();
  const database = await TriedDatabase.start(false, say);
  ends.push(() => database.stop());
  const env = { LOG_LEVEL: 'error', ...(http && { NODE_DISPATCH: 'http' }) };
  const cluster = await ReplicaCluster.start(database, { replicas, env });
  ends.push(() => cluster.stop());
  const agent = await FakeAgent.start({ streaming: true });
  ends.push(() => agent.stop());
  agent.always(behaviour(agent));
  const stage = { cluster, api: new Api(cluster.balancer.url), agent };
  const result = await killAtEvents(stage, { scenarios: scenarios(PARKED), ...eachEventOptions(replicas, places) });
  process.stdout.write(`\n${eventReport(result)}\n`);
  return result.problems.length === 0;
}

function eachEventOptions(replicas: number, places: string[]): Omit<TrialOptions, 'scenarios'> {
  return {
    side: 2 * replicas,
    ...(places.length > 0 && { places }),
    say,
    keep: async (logs) => {
      const file = join(mkdtempSync(join(tmpdir(), 'parley-trial-')), 'tasks.json');
      await writeFile(file, JSON.stringify(logs, null, 1));
      say(`The logs of all Tasks: ${file}`);
    },
  };
}

async function tryOut(options: ChaosOptions): Promise<Trial> {
  process.env.PARLEY_TEST_MAIN = copyBuiltService();
  const kinds = possible(kindsOf(options), options);
  const database = await TriedDatabase.start(options.faults.includes(FAILOVER), say, {
    settings: [...STALLABLE, ...VACUUMED, ...(kinds.includes(SLOW_DISK) ? SLOWABLE : [])],
    disk: kinds.includes(DISK_FULL),
  });
  ends.push(() => database.stop());
  const model = await ThinkingModel.start();
  ends.push(() => model.stop());
  const env = {
    ...model.env,
    SHUTDOWN_GRACE: '5',
    LOG_LEVEL: 'error',
    ...(options.http && { NODE_DISPATCH: 'http' }),
    ...(database.patroni && { GRPC_PORT: '0' }),
  };
  const [memory, errors] = [new ReplicaMemory(), new ReplicaErrors()];
  const replicas = await TrialReplicas.begin({
    ...{ database, replicas: options.replicas, env, memory, errors, say },
    random: new SeededRandom(options.seed),
    clocks: kinds.includes(CLOCK_SHIFT),
    links: kinds.includes(ONE_WAY_CUT),
    earlier: kinds.includes(VERSION_CHANGE) ? builtVersion(options.beside, say) : undefined,
  });
  ends.push(() => replicas.stop());
  const { cluster } = replicas;
  await watchTakeovers(database.query);
  const stage = await setStage(new Api(cluster.balancer.url));
  for (const agent of stage.agents) ends.push(() => agent.stop());
  const schedules = await TriedSchedules.create(new Api(cluster.balancer.url), database, options.schedules);
  const log = new ClientLog();
  const load = new Load(cluster.balancer.url, stage, log, options.messengers);
  const callers = database.patroni && sdkCallers(options, cluster, stage.quick, log);
  const broken = await breakAll(options, kinds, { database, replicas, log });
  say('The faults are over; what was begun is finished and checked.');
  await Promise.all([load.stop(RECOVERY_MS), callers?.stop(RECOVERY_MS), schedules.pause()]);
  await settled(database);
  const [claims, asleep] = [
    await claimsWithoutExecutor(database.query, cluster.replicas),
    await asleepThoughDue(database.query, OVERDUE_SECONDS),
  ];
  const calls = { asked: model.asked, takeovers: await takeovers(database.query) };
  const judge = new Judge({
    log,
    claims,
    asleep,
    agents: stage.agents,
    failovers: broken.failovers,
    broken: replicas.broken,
    misfired: await schedules.findBreaches(),
    ...calls,
  });
  for await (const page of storedPages(database.query)) judge.compare(page);
  const { tasks, settledMs } = judge;
  const verdict = judge.conclude();
  return {
    log,
    ...broken,
    tasks,
    settledMs,
    lives: memory.stop(),
    errors: errors.kinds(),
    verdict,
    firings: await schedules.count(),
    ...calls,
  };
}

/**
 * Returns the kinds of faults that this machine can cause. Kinds that were not requested by name are omitted silently.
 * @throws NoClusterHere if a requested kind cannot be caused
 */
function possible(kinds: FaultKind[], { faults }: ChaosOptions): FaultKind[] {
  const reasons = new Map<FaultKind, string>([
    ...(OwnPostgres.canMount() ? [] : [[DISK_FULL, 'needs Linux and root'] as const]),
    ...(process.platform === 'linux' ? [] : [[SLOW_DISK, 'needs Linux'] as const]),
  ]);
  const impossible = kinds.filter((kind) => reasons.has(kind));
  const told = impossible.map((kind) => `${kind.name} ${reasons.get(kind)}`).join(', ');
  if (told !== '' && faults.length > 0) throw new NoClusterHere(told);
  if (told !== '') say(`Left out: ${told}`);
  return kinds.filter((kind) => !reasons.has(kind));
}

/** Injects faults; resolves when their time is over and everything broken has recovered. */
async function breakAll(
  { minutes, seed, kills, tasks }: ChaosOptions,
  kinds: readonly FaultKind[],
  { database, replicas, log }: { database: TriedDatabase; replicas: TrialReplicas; log: ClientLog },
): Promise<Pick<Trial, 'faults' | 'failovers'>> {
  const { signal } = interrupted;
  const lengthMs = minutes * 60_000;
  const begun = performance.now();
  const { own, patroni } = database;
  const driver = new FaultDriver({ replicas, postgres: own }, say);
  const plan = faultPlan(seed, Math.min(lengthMs, LONGEST_PLAN_MS), kinds);
  const failover = patroni && new FailoverDriver(patroni, seed, say);
  const over = new AbortController();
  signal.addEventListener('abort', () => over.abort(), { once: true });
  const watch = setInterval(() => log.tasks.length >= tasks && over.abort(), COUNT_MS);
  await Promise.all([
    driver.follow(plan, lengthMs, over.signal),
    failover
      ?.follow(kills, lengthMs, signal)
      .catch((error: Error) => log.absurd.push(`${error.message}\n${patroni?.logs()}`))
      .finally(() => over.abort()),
  ]);
  const left = Number.isFinite(kills)
    ? 0
    : Math.max(0, begun + Math.min(lengthMs, LONGEST_PLAN_MS) - performance.now());
  await delay(left, undefined, { signal: over.signal }).catch(() => undefined);
  clearInterval(watch);
  return { faults: driver.done, failovers: failover?.done ?? [] };
}

/**
 * Creates callers with the official SDK. They use gRPC only if no fault ends a replica, since they call each replica at
 * its own port.
 */
function sdkCallers({ faults }: ChaosOptions, cluster: ReplicaCluster, agent: string, log: ClientLog): SdkCallers {
  const grpc = faults.length === 1 ? cluster.replicas.map(({ url }) => url) : [];
  return new SdkCallers(cluster.balancer.url, grpc, agent, log);
}

/** Waits until every Task has ended and none is claimed, or until RECOVERY_MS have passed. */
async function settled({ query }: TriedDatabase): Promise<void> {
  const done = async (): Promise<boolean> => {
    const [row] = await query<{ open: number }>(
      `SELECT count(*)::int AS open FROM task WHERE replica_id IS NOT NULL OR state NOT IN
         ('TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED')`,
    );
    return row?.open === 0;
  };
  await until(done, { within: RECOVERY_MS }).catch(() => undefined);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

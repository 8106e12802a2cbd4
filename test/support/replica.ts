import { type AgentCatalog, type AgentExecutor, type CallContext, type ServedAgent, UnknownAgent } from '#libs/agents';
import { CancelPoller, ExecutionRegistry, TaskRecovery } from '#libs/executor';
import type { ServiceAddress } from '#libs/http-server';
import { JOB_MIGRATIONS, Jobs, migrateJobQueue } from '#libs/job-queue';
import { ChannelSignals, Database, POSTGRES_MIGRATIONS, PostgresWire, ReplicaLife } from '#libs/postgres';
import { InFlight, loadConfig, Metrics, Readiness, Shutdown } from '#libs/service';
import {
  ANONYMOUS_SCOPE,
  PostgresTaskStore,
  TASK_MIGRATIONS,
  TaskFeed,
  TaskJournal,
  TaskMetrics,
  TaskRecorder,
} from '#libs/tasks';
import type { TestDatabase } from './postgres.js';
import { StatementFaults } from './statement-faults.js';

/**
 * Milliseconds of the longest timer. Replicas of tests do not poll unless a test sets an interval, so that only signals
 * wake them.
 */
const NEVER_MS = 2 ** 31 - 1;
/** Interval 0: a test calls the sweeps itself. */
const AT_EVERY_SWEEP = 0;

/** Part of a replica that executes and follows Tasks, without HTTP. Several can exist in one process. */
export interface InnerReplica {
  store: PostgresTaskStore;
  feed: TaskFeed;
  registry: ExecutionRegistry;
  recovery: TaskRecovery;
  life: ReplicaLife;
  /** Failures of the replica's statements, except those of the journal's batches. */
  faults: StatementFaults;
  /** Ends like a killed process: releases its lock, and writes nothing more. */
  die(): Promise<void>;
  /** Shuts down in order like a terminated process, but keeps its sessions. */
  leave(): Promise<void>;
  end(): Promise<void>;
}

/**
 * @param agents agents that TaskRecovery finds
 * @param lookMs milliseconds between polls for changes without a signal: a replica that is taken for dead gets no
 * signals
 * @param options `jobs`: true if the replica runs the jobs of Tasks
 */
export async function innerReplica(
  url: string,
  agents: readonly ServedAgent[] | AgentCatalog = [],
  lookMs = NEVER_MS,
  options: { jobs?: boolean } = {},
): Promise<InnerReplica> {
  const migrations = [...POSTGRES_MIGRATIONS, ...JOB_MIGRATIONS, ...TASK_MIGRATIONS];
  const database = await Database.connectAndMigrate({ url, migrations });
  const faults = new StatementFaults(database);
  const life = new ReplicaLife(database);
  await life.beginLife();
  const metrics = new Metrics();
  const signals = new ChannelSignals(new PostgresWire(database), life, metrics);
  const store = new PostgresTaskStore(database);
  const feed = new TaskFeed(store, signals, lookMs);
  const config = loadConfig({});
  const journal = new TaskJournal(store, new TaskMetrics(metrics), config);
  const recorder = new TaskRecorder(journal, feed, new InFlight(config, metrics), config);
  const shutdown = new Shutdown(config, new Readiness());
  const registry = new ExecutionRegistry(store, recorder, feed, life, shutdown, metrics, signals);
  const address = { internalUrl: 'http://parley.test' } as ServiceAddress;
  const catalog = 'resolveAgent' in agents ? agents : catalogOf(agents);
  // What Tasks enqueue is kept, whoever does it.
  await migrateJobQueue(database);
  const jobs = options.jobs ? new Jobs(database, life, shutdown, metrics) : undefined;
  const recovery = new TaskRecovery(
    store,
    recorder,
    registry,
    catalog,
    life,
    address,
    shutdown,
    signals,
    AT_EVERY_SWEEP,
    jobs,
  );
  jobs?.start();
  const cancels = new CancelPoller(registry, shutdown, signals, lookMs);
  cancels.start();
  const leave = (): Promise<void> => shutdown.beforeApplicationShutdown();
  const die = async (): Promise<void> => {
    jobs?.startDraining();
    cancels.stop();
    await registry.stop(AbortSignal.abort());
    await life.endLife();
  };
  const end = async (): Promise<void> => {
    if (jobs) await leave();
    await die();
    recovery.stop();
    feed.onModuleDestroy();
    await signals.endSignals();
    await database.close();
  };
  return { store, feed, registry, recovery, life, faults, die, leave, end };
}

/** Marks a replica as having lived for a minute, so that it may judge others by their missing heartbeats. */
export async function knowsSilence(query: TestDatabase['query'], { life }: Pick<InnerReplica, 'life'>): Promise<void> {
  await query(`UPDATE replica SET started_at = now() - interval '1 minute' WHERE id = $1`, [life.replicaId]);
}

/** Creates an agent at a path that works by this executor. */
export function agentAt(path: string, executor: AgentExecutor): ServedAgent {
  const text = ['text/plain'];
  return { path, name: path, description: '', version: '1', skills: [], inputModes: text, outputModes: text, executor };
}

export function callAt(agent: string): CallContext {
  return { scope: ANONYMOUS_SCOPE, agent, extensions: [], baseUrl: 'http://parley.test' };
}

export function catalogOf(agents: readonly ServedAgent[]): AgentCatalog {
  const catalog: AgentCatalog = {
    inTenant: () => catalog,
    resolveAgent: (path) => {
      const agent = agents.find((it) => it.path === path);
      return agent
        ? Promise.resolve(agent)
        : Promise.reject(new UnknownAgent(`No agent at ${path}`, 'AGENT_NOT_FOUND'));
    },
    routeMessage: (agent) => Promise.resolve(agent),
    listAgents: () => Promise.resolve({ agents: [...agents], nextPageToken: '' }),
    listWorkflowNames: () => Promise.resolve([]),
    listRegisteredNames: () => Promise.resolve([]),
    listNodeIds: () => Promise.resolve([]),
  };
  return catalog;
}

import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { AgentExecutor, type RequestContext } from '#libs/agents';
import { statusUpdate, userMessage } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { letCommit, STALLABLE, stallCommits } from '../support/commit-stall.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { openDatabase, type TestDatabase } from '../support/postgres.js';
import { agentAt, callAt, type InnerReplica, innerReplica, knowsSilence } from '../support/replica.js';
import { until } from '../support/until.js';

const PATH = 'workflows/held';

/** Works until it is let go, as a model does that takes its time; counts how often it was called. */
class HeldExecutor extends AgentExecutor {
  override readonly recovery = 'restart';
  calls = 0;
  private readonly gate = Promise.withResolvers<void>();

  letGo(): void {
    this.gate.resolve();
  }

  async *execute(context: RequestContext): AsyncGenerator<TaskEvent> {
    this.calls += 1;
    await this.gate.promise;
    yield statusUpdate(context, 'TASK_STATE_COMPLETED');
  }
}

let postgres: OwnPostgres;
let server: Pick<TestDatabase, 'query'> & { end(): Promise<void> };
let executor: HeldExecutor;
let replicas: InnerReplica[];

beforeAll(async () => {
  Logger.overrideLogger(false);
  postgres = await OwnPostgres.start(STALLABLE);
  server = openDatabase(postgres.url);
});

afterAll(async () => {
  await server.end();
  await postgres.stop();
});

beforeEach(() => {
  executor = new HeldExecutor();
  replicas = [];
});

afterEach(async () => {
  await letCommit(postgres.url);
  for (const it of replicas) await it.end();
});

it.each([
  { seconds: 13, tasks: 100, count: 2 },
  { seconds: 11, tasks: 65, count: 3 },
  { seconds: 30, tasks: 20, count: 2 },
])(
  'replicas whose commits stand still for $seconds s take nothing from each other: $count replicas with $tasks Tasks each',
  async ({ seconds, tasks, count }) => {
    await start(count, tasks);
    const before = await standing();
    await stall(seconds);
    await judgeAgain();
    expect(await standing()).toEqual(before);
    expect(executor.calls).toBe(count * tasks);
    executor.letGo();
    await allEnded();
    expect(executor.calls).toBe(count * tasks);
  },
);

it('a replica that dies while commits stand still is replaced after that, and no other', async () => {
  await start(3, 40);
  const [, , victim] = replicas;
  await stallCommits(postgres.url);
  await victim!.die();
  await delay(11_000);
  await letCommit(postgres.url);
  const { replicaId } = victim!.life;
  const forgotten = async (): Promise<boolean> =>
    (await server.query('SELECT FROM replica WHERE id = $1', [replicaId])).length === 0;
  await until(forgotten, { what: 'the dead replica to be forgotten' });
  await judgeAgain();
  await until(() => executor.calls === 160, { what: 'its Tasks to be executed once more' });
  expect(await server.query('SELECT FROM task WHERE replica_id = $1', [replicaId])).toEqual([]);
  expect((await standing()).replicas).toHaveLength(2);
  executor.letGo();
  await allEnded();
  expect(executor.calls).toBe(160);
});

it('a replica that was silent loses no Task after its first new heartbeat', async () => {
  // No replica sweeps by itself: a sweep while the silence is written into its row would take all of its Tasks.
  const [judge, silent] = (await begin(2, 40)) as [InnerReplica, InnerReplica];
  const { replicaId } = silent.life;
  await knowsSilence(server.query, judge);
  const adopted = async (): Promise<number> =>
    (await judge.store.adoptTasks(judge.life.replicaId, [replicaId], 10)).length;
  const fallSilent = `UPDATE replica SET heartbeat_at = now() - interval '10.3 seconds' WHERE id = $1`;
  await until(async () => (await server.query(fallSilent, [replicaId]), (await adopted()) === 10), {
    what: 'a first batch to be taken over',
  });
  await server.query('UPDATE replica SET heartbeat_at = now() WHERE id = $1', [replicaId]);
  expect(await adopted()).toBe(0);
  await judge.recovery.sweepOnce();
  expect(await server.query('SELECT FROM task WHERE replica_id = $1', [replicaId])).toHaveLength(30);
  for (const { recovery } of replicas) recovery.start();
  executor.letGo();
  await allEnded();
});

/** Starts replicas that look for each other, each with so many Tasks at work. */
async function start(count: number, tasks: number): Promise<InnerReplica[]> {
  await begin(count, tasks);
  for (const { recovery } of replicas) recovery.start();
  await judgeAgain();
  return replicas;
}

/** Starts replicas that adopt nothing by themselves, each with so many Tasks at work. */
async function begin(count: number, tasks: number): Promise<InnerReplica[]> {
  const agent = agentAt(PATH, executor);
  for (let index = 0; index < count; index += 1) replicas.push(await innerReplica(postgres.url, [agent], 100));
  for (const { registry } of replicas) {
    const begun = Array.from({ length: tasks }, () =>
      registry.beginExecution(agent, { message: userMessage('go') }, callAt(PATH)),
    );
    await Promise.all(begun.map(({ accepted }) => accepted));
  }
  return replicas;
}

async function stall(seconds: number): Promise<void> {
  await stallCommits(postgres.url);
  await delay(seconds * 1_000);
  await letCommit(postgres.url);
}

/** Resolves when every replica that lives may judge others again, and has done so. */
async function judgeAgain(): Promise<void> {
  const steady = `SELECT FROM replica WHERE steady_since < now() - interval '3 seconds'
    AND heartbeat_at > now() - interval '3 seconds' AND pg_postmaster_start_time() < now() - interval '4 seconds'`;
  const living = replicas.filter(({ registry }) => registry.size > 0);
  await until(async () => (await server.query(steady)).length >= living.length, { what: 'proofs of life' });
  for (const { recovery } of living) await recovery.sweepOnce();
}

async function standing(): Promise<{ claims: unknown[]; replicas: unknown[] }> {
  return {
    claims: await server.query(
      'SELECT task_id, replica_id, claim_token FROM task WHERE replica_id IS NOT NULL ORDER BY 1',
    ),
    replicas: await server.query('SELECT id, lock_key FROM replica ORDER BY 1'),
  };
}

async function allEnded(): Promise<void> {
  const open = `SELECT FROM task WHERE state <> 'TASK_STATE_COMPLETED'`;
  await until(async () => (await server.query(open)).length === 0, { what: 'every Task to end' });
}

import type { JsonObject, StreamResponse } from '#libs/protocol';
import { outline, stream } from '../support/a2a.js';
import { DatabaseLink } from '../support/database-link.js';
import { type AgentWebhook, DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import type { Parley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ReplicaCluster } from '../support/replica-cluster.js';
import { before, until } from '../support/until.js';

const HELD = [
  'task TASK_STATE_SUBMITTED',
  'status TASK_STATE_WORKING',
  'artifact first ',
  'artifact last',
  'status TASK_STATE_COMPLETED',
];

let database: TestDatabase;
let link: DatabaseLink;
let cluster: ReplicaCluster;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  link = await DatabaseLink.to(database.url);
  cluster = await ReplicaCluster.start({ url: link.url, query: database.query }, { replicas: 0 });
  await Promise.all([addReplica(), addReplica()]);
  await cluster.balanced();
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await cluster?.stop();
  await link?.stop();
  await database?.drop();
});

/** Adds a replica whose webhooks are reached through the balancer. */
function addReplica(): Promise<Parley> {
  return cluster.add({ env: { PUBLIC_URL: cluster.balancer.url } });
}

interface HeldTask {
  agent: DoorAgent;
  id: string;
  /** Resolves with all events of the Task, read at one of the replicas. */
  events(): Promise<string[]>;
}

/** Begins a Task of an agent that holds it, at one replica. */
async function begin(replica: Parley, policy: JsonObject = { park: 1 }): Promise<HeldTask> {
  const agent = await DoorAgent.start({ push: true });
  ends.push(() => agent.end());
  const { name } = await openDoor(cluster.balancer.url, agent.url, { policy });
  const reader = await stream(`${replica.url}/a2a/agents/${name}`, 'hold');
  const { task } = (await reader.next())!.data.result as Extract<StreamResponse, { task: unknown }>;
  const events = async (): Promise<string[]> => {
    const sql = 'SELECT FROM task WHERE task_id = $1 AND state = $2';
    const isOver = async () => (await database.query(sql, [task.id, 'TASK_STATE_COMPLETED'])).length === 1;
    await until(isOver, { what: 'the task to complete' });
    const url = `${cluster.balancer.url}/api/tasks/${task.id}/events`;
    const log = (await (await fetch(url)).json()) as { events: { event: StreamResponse }[] };
    return log.events.map(({ event }) => outline(event));
  };
  return { agent, id: task.id, events };
}

/** Resolves once a Task is parked. Polls are then disabled for it. */
async function parked(id: string): Promise<void> {
  const sql = `UPDATE registered_agent_task SET poll_at = now() + interval '1 day'
    WHERE task_id = $1 AND poll_at IS NOT NULL RETURNING task_id`;
  await until(async () => (await database.query(sql, [id])).length === 1, { what: 'the task to be parked' });
}

/** Calls a webhook although the agent's Task has not changed. */
async function notify({ url, token }: AgentWebhook): Promise<void> {
  const headers = { 'x-a2a-notification-token': token };
  expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(204);
}

/** Kills a replica, and adds another one. */
async function replace(replica: Parley): Promise<void> {
  await cluster.kill(replica);
  await addReplica();
  await cluster.balanced();
}

describe('a replica that is killed', () => {
  it('while a task is parked: another one hears the agent', async () => {
    const [replica] = cluster.replicas;
    const { agent, id, events } = await begin(replica!);
    await parked(id);
    await replace(replica!);
    agent.release();
    expect(await events()).toEqual(HELD);
    expect(agent.heard).toHaveLength(1);
  });

  it.each([true, false])('between the registration and the parking; the agent says more before: %p', async (says) => {
    const [replica] = cluster.replicas;
    const reading = Promise.withResolvers<void>();
    const { agent, id, events } = await begin(replica!);
    agent.onRead = () => {
      reading.resolve();
      return new Promise(() => undefined);
    };
    await reading.promise;
    if (says) agent.release();
    agent.onRead = undefined;
    await replace(replica!);
    if (!says) {
      await parked(id);
      agent.release();
    }
    expect(await events()).toEqual(HELD);
    expect(agent.heard).toHaveLength(1);
  });

  it('after it has resumed a task: another one follows the agent, and parks the task again', async () => {
    const { agent, id, events } = await begin(cluster.replicas[0]!);
    await parked(id);
    await notify(agent.webhooks[0]!);
    await replace(await cluster.owned(id));
    await until(() => agent.webhooks.length > 1, { what: 'another webhook' });
    await parked(id);
    agent.release();
    expect(await events()).toEqual(HELD);
    expect(agent.heard).toHaveLength(1);
  });
});

describe.each(['lost', 'unanswered'] as const)('a statement that is %s', (fault) => {
  it.each(['relay-webhook', 'relay-clear', 'relay-park'])('is repeated: %s', async (statement) => {
    const broken = link.breakOnce(statement, fault);
    const { agent, id, events } = await begin(cluster.replicas[0]!);
    await before(broken, { what: `${statement} to be ${fault}` });
    await parked(id);
    agent.release();
    expect(await events()).toEqual(HELD);
  });

  it.each(['relay-webhooks', 'relay-wake'])('is repeated: %s', async (statement) => {
    const { agent, id, events } = await begin(cluster.replicas[0]!);
    await parked(id);
    const broken = link.breakOnce(statement, fault);
    agent.release();
    await before(broken, { what: `${statement} to be ${fault}` });
    expect(await events()).toEqual(HELD);
  });
});

import { isTerminalState, type JsonObject, type Task } from '#libs/protocol';
import { getTask, outline, rest, rpc, sendTask, stream } from '../support/a2a.js';
import { type AgentWebhook, DoorAgent, type DoorAgentOptions } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { HoldingAgent03 } from '../support/holding-sdk-agent-v0-3.js';
import { freePort, type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { Api, external, input, linear, output, unique } from '../support/workflow.js';

const HELD = [
  'task TASK_STATE_SUBMITTED',
  'status TASK_STATE_WORKING',
  'artifact first ',
  'artifact last',
  'status TASK_STATE_COMPLETED',
];
const QUICK = { park: 1 };

let database: TestDatabase;
let parley: Parley;
/** A replica whose webhooks no agent reaches. */
let unreachable: Parley;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  const port = String(await freePort());
  const started = [
    startParley({ databaseUrl: database.url, env: { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` } }),
    startParley({ databaseUrl: database.url, env: { PUBLIC_URL: 'http://127.0.0.1:1' } }),
  ];
  [parley, unreachable] = (await Promise.all(started)) as [Parley, Parley];
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await Promise.all([parley?.stop(), unreachable?.stop()]);
  await database?.drop();
});

async function startAgent(options: DoorAgentOptions = {}): Promise<DoorAgent> {
  const agent = await DoorAgent.start({ push: true, ...options });
  ends.push(() => agent.end());
  return agent;
}

async function begin(base: string, text: string): Promise<string> {
  return (await sendTask(base, text, { configuration: { returnImmediately: true } })).id;
}

interface ParkedRow {
  webhook: string;
  is_notified: boolean;
  row: string;
}

/** Resolves with the row of a Task once the Task is parked. No poll wakes it afterwards. */
async function parked(id: string): Promise<ParkedRow> {
  const what = 'the task to be parked';
  await until(async () => (await postponed(id)).length === 1, { what });
  return (await rowOf(id))!;
}

function postponed(id: string): Promise<unknown[]> {
  return database.query(
    `UPDATE registered_agent_task SET poll_at = now() + interval '1 day'
     WHERE task_id = $1 AND poll_at IS NOT NULL RETURNING task_id`,
    [id],
  );
}

async function rowOf(id: string): Promise<ParkedRow | undefined> {
  const sql = `SELECT webhook, is_notified, xmin::text AS row FROM registered_agent_task WHERE task_id = $1`;
  return (await database.query<ParkedRow>(sql, [id]))[0];
}

/** Makes the poll of a parked Task due, and resolves once a replica has begun it. */
async function poll(id: string): Promise<void> {
  await database.query('UPDATE registered_agent_task SET poll_at = now() WHERE task_id = $1', [id]);
  const sql = 'SELECT FROM registered_agent_task WHERE task_id = $1 AND poll_at <= now()';
  await until(async () => (await database.query(sql, [id])).length === 0, { what: 'the poll to begin' });
}

async function endOf(base: string, id: string): Promise<Task> {
  return until(
    async () => {
      const task = await getTask(base, id);
      return isTerminalState(task.status.state) ? task : undefined;
    },
    { what: 'the task to end' },
  );
}

const textOf = ({ status }: Task): string => status.message?.parts[0]?.text ?? '';

async function isExecuted(id: string): Promise<boolean> {
  return (await database.query('SELECT FROM task WHERE task_id = $1 AND claim_token IS NOT NULL', [id])).length > 0;
}

describe.each<DoorAgentOptions>([
  { binding: 'JSONRPC' },
  { binding: 'HTTP+JSON' },
  { binding: 'JSONRPC', streaming: false },
])('an agent that calls webhooks: %j', (options) => {
  it('is followed without a connection, and its events arrive once each', async () => {
    const agent = await startAgent(options);
    const { base } = await openDoor(parley.url, agent.url, { policy: QUICK });
    const reader = await stream(base, 'hold');
    const begun = (await reader.next())!.data.result as { task: Task };
    await parked(begun.task.id);
    await until(() => agent.open === 0, { what: 'the connections to the agent to end' });
    expect(await isExecuted(begun.task.id)).toBe(false);
    agent.release();
    expect((await reader.all()).map(({ data }) => outline(data.result!))).toEqual(HELD);
    expect(agent.heard).toHaveLength(1);
  });
});

it('follows an agent of A2A 0.3 without a connection', async () => {
  const agent = await HoldingAgent03.start();
  ends.push(() => agent.stop());
  const { base } = await openDoor(parley.url, agent.url, { policy: QUICK });
  const id = await begin(base, 'hold');
  await parked(id);
  agent.release();
  const { status, artifacts = [] } = await endOf(base, id);
  const texts = artifacts.map(({ parts }) => parts.map(({ text }) => text));
  expect([status.state, texts]).toEqual(['TASK_STATE_COMPLETED', [['first ', 'last']]]);
});

it('answers a blocking call whose task is parked meanwhile', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(parley.url, agent.url, { policy: QUICK });
  const answer = sendTask(base, 'hold');
  const held = await agent.untilHolding();
  const sql = 'SELECT task_id FROM registered_agent_task WHERE remote_task_id = $1';
  const row = await until(async () => (await database.query<{ task_id: string }>(sql, [held]))[0], {
    what: 'the task',
  });
  await parked(row.task_id);
  agent.release();
  expect([(await answer).id, (await answer).status.state]).toEqual([row.task_id, 'TASK_STATE_COMPLETED']);
});

const TOKEN = 'x-a2a-notification-token';

/** Sends a notification to a replica as the agent would. @returns the status of the answer */
async function notify({ url, token }: AgentWebhook, at: Parley, body = '{}'): Promise<number> {
  const { pathname } = new URL(url);
  return (await fetch(`${at.url}${pathname}`, { method: 'POST', headers: { [TOKEN]: token }, body })).status;
}

it('is not parked if the agent has called the webhook since it was read', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(parley.url, agent.url, { policy: QUICK });
  const outcome = Promise.withResolvers<number>();
  // The answer to the last reading is old when it arrives: the agent has called the webhook before.
  agent.onRead = async () => {
    agent.onRead = undefined;
    agent.release();
    outcome.resolve(await notify(agent.webhooks[0]!, parley));
  };
  const id = await begin(base, 'hold');
  expect(await outcome.promise).toBe(204);
  const task = await until(
    async () => {
      await postponed(id);
      const seen = await getTask(base, id);
      return isTerminalState(seen.status.state) ? seen : undefined;
    },
    { what: 'the task to end although no poll finds it' },
  );
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
});

describe('an agent of another Parley, which signs', () => {
  it('resumes the task by its notification, which no other service can sign', async () => {
    const elsewhere = await freshDatabase();
    ends.push(() => elsewhere.drop());
    const other = await startParley({ databaseUrl: elsewhere.url });
    ends.push(() => other.stop());
    const agent = await startAgent();
    const flow = linear(unique('w'), input('in'), external('ask', agent.url, { timeoutMs: 600_000 }), output('out'));
    const { name } = await new Api(other.url).save(flow);
    const { base } = await openDoor(parley.url, `${other.url}/a2a/workflows/${name}`, { policy: QUICK });
    const id = await begin(base, 'hold');
    const row = await parked(id);
    const url = `${parley.url}/agent-notifications/${row.webhook}`;
    const [config] = await elsewhere.query<{ url: string }>('SELECT url FROM push_config');
    expect(config!.url).toBe(url);
    agent.release();
    expect((await endOf(base, id)).status.state).toBe('TASK_STATE_COMPLETED');
    const ledger = await rest<{ deliveries: { status: string }[] }>(`${other.url}/api`, 'GET', '/deliveries');
    expect(ledger.body.deliveries.map(({ status }) => status)).toContain('delivered');
  });

  it('is not taken for the agent if the signature is another one', async () => {
    const agent = await startAgent();
    const { base } = await openDoor(unreachable.url, agent.url, { policy: QUICK });
    const id = await begin(base, 'hold');
    const row = await parked(id);
    const [webhook] = agent.webhooks;
    for (const signature of ['', 'x', 'a..b', `${Buffer.from('{"alg":"none"}').toString('base64url')}..`]) {
      const headers = { [TOKEN]: webhook!.token, 'x-a2a-notification-signature': signature };
      const address = `${parley.url}${new URL(webhook!.url).pathname}`;
      expect((await fetch(address, { method: 'POST', headers, body: '{}' })).status).toBe(403);
    }
    // The agent publishes no keys, so a well-formed signature cannot be verified.
    const header = Buffer.from('{"alg":"ES256","kid":"k"}').toString('base64url');
    const headers = { [TOKEN]: webhook!.token, 'x-a2a-notification-signature': `${header}..c2ln` };
    const address = `${parley.url}${new URL(webhook!.url).pathname}`;
    const unverified = await fetch(address, { method: 'POST', headers, body: '{}' });
    expect([unverified.status, unverified.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]/)]);
    expect(await rowOf(id)).toEqual(row);
    expect(await notify(webhook!, parley)).toBe(204);
    agent.release();
    await endOf(base, id);
  });
});

describe('a parked task', () => {
  async function park(
    service: Parley,
    policy: JsonObject = {},
    options: DoorAgentOptions = {},
  ): Promise<{ agent: DoorAgent; base: string; id: string; row: ParkedRow }> {
    const agent = await startAgent(options);
    const { base } = await openDoor(service.url, agent.url, { policy: { ...QUICK, ...policy } });
    const id = await begin(base, 'hold');
    return { agent, base, id, row: await parked(id) };
  }

  it('is found by a poll if the notification does not arrive', async () => {
    const { agent, base, id } = await park(unreachable);
    await poll(id);
    expect(await isExecuted(id)).toBe(false);
    agent.release();
    // The agent completes the Task a moment later.
    const found = async (): Promise<boolean> => {
      await poll(id);
      return (await isExecuted(id)) || (await getTask(base, id)).status.state === 'TASK_STATE_COMPLETED';
    };
    await until(found, { what: 'a poll to find the news' });
    expect([(await endOf(base, id)).status.state, agent.heard.length]).toEqual(['TASK_STATE_COMPLETED', 1]);
  });

  it('resumes at any replica, once, however many are notified at the same time', async () => {
    const { agent, base, id } = await park(unreachable);
    agent.release();
    const [webhook] = agent.webhooks;
    const calls = Array.from({ length: 8 }, (_, index) => notify(webhook!, index % 2 ? parley : unreachable));
    expect(new Set(await Promise.all(calls))).toEqual(new Set([204]));
    expect((await endOf(base, id)).status.state).toBe('TASK_STATE_COMPLETED');
    const { body } = await rest<{ events: object[] }>(`${parley.url}/api`, 'GET', `/tasks/${id}/events`);
    expect([body.events.length, agent.heard.length]).toEqual([HELD.length, 1]);
  });

  it('is parked again under another webhook, and a copy of the earlier notification is refused', async () => {
    const { agent, base, id, row } = await park(unreachable);
    const [first] = agent.webhooks;
    expect(await notify(first!, parley)).toBe(204);
    await until(async () => (await rowOf(id))!.webhook !== row.webhook, { what: 'another webhook' });
    const again = await parked(id);
    expect(await notify(first!, parley)).toBe(410);
    expect(await notify(agent.webhooks[1]!, parley, 'x'.repeat(2 * 1024 ** 2))).toBe(413);
    expect(await notify({ ...agent.webhooks[1]!, token: first!.token }, parley)).toBe(403);
    expect(await rowOf(id)).toEqual(again);
    expect(agent.webhooks[1]).toMatchObject({ id: first!.id, taskId: first!.taskId });
    agent.release();
    expect(await notify(agent.webhooks[1]!, parley)).toBe(204);
    await endOf(base, id);
    expect(await notify(agent.webhooks[1]!, parley)).toBe(204);
  });

  it('leaves no webhook at the agent after its end', async () => {
    for (const end of [release, cancel]) {
      const { agent, base, id } = await park(parley);
      await end(agent, base, id);
      await until(() => agent.unhooked.length > 0, { what: 'the webhook to be deleted' });
      expect(agent.unhooked).toEqual([agent.webhooks[0]!.taskId]);
    }
  });

  it('asks its caller once the agent does, and takes the answer', async () => {
    const { agent, base, id } = await park(parley);
    agent.release('asked');
    const asked = async (): Promise<boolean> => (await getTask(base, id)).status.state === 'TASK_STATE_INPUT_REQUIRED';
    await until(asked, { what: 'the task to ask' });
    const task = await sendTask(base, 'hello', { fields: { taskId: id } });
    expect([task.id, task.status.state]).toEqual([id, 'TASK_STATE_COMPLETED']);
    expect(agent.heard).toHaveLength(2);
  });

  it('is canceled at the agent', async () => {
    const { agent, base, id } = await park(parley);
    const { body } = await rpc<Task>(base, 'CancelTask', { id });
    expect(body.result?.status.state).toBe('TASK_STATE_CANCELED');
    expect(agent.holding).toEqual([]);
  });

  it('resumes beside others although the policy has come to allow fewer', async () => {
    const agent = await startAgent();
    const { base, name } = await openDoor(unreachable.url, agent.url, { policy: QUICK });
    const ids = [await begin(base, 'hold'), await begin(base, 'hold')];
    const rows = await Promise.all(ids.map(parked));
    const body = { url: agent.url, policy: { ...QUICK, concurrency: 1, wait: 1 } };
    expect((await rest(`${parley.url}/api`, 'PUT', `/agents/${name}`, { body })).status).toBe(200);
    expect(await Promise.all(agent.webhooks.map((webhook) => notify(webhook, parley)))).toEqual([204, 204]);
    const hasResumed = async (id: string, index: number): Promise<boolean> =>
      (await rowOf(id))!.webhook !== rows[index]!.webhook || isTerminalState((await getTask(base, id)).status.state);
    for (const [index, id] of ids.entries()) await until(() => hasResumed(id, index), { what: 'a task to resume' });
    agent.release();
    await Promise.all(agent.webhooks.map((webhook) => notify(webhook, parley)));
    const states = (await Promise.all(ids.map((id) => endOf(base, id)))).map((task) => [
      task.status.state,
      textOf(task),
    ]);
    expect(states).toEqual(ids.map(() => ['TASK_STATE_COMPLETED', 'done']));
  });

  it('is canceled with the headers that the policy passes on', async () => {
    const agent = await startAgent();
    const { base } = await openDoor(parley.url, agent.url, { policy: { ...QUICK, headers: ['x-team'] } });
    const sent = { configuration: { returnImmediately: true }, headers: { 'x-team': 'blue' } };
    const { id } = await sendTask(base, 'hold', sent);
    await parked(id);
    agent.requests.length = 0;
    await rpc<Task>(base, 'CancelTask', { id });
    const calls = agent.requests.filter((headers) => headers['content-type'] !== undefined);
    expect([agent.holding, new Set(calls.map((headers) => headers['x-team']))]).toEqual([[], new Set(['blue'])]);
  });

  it('is canceled at its agent and fails if the agent is deleted', async () => {
    const agent = await startAgent();
    const { base, name } = await openDoor(parley.url, agent.url, { policy: QUICK });
    const id = await begin(base, 'hold');
    await parked(id);
    expect((await rest(`${parley.url}/api`, 'DELETE', `/agents/${name}`)).status).toBe(204);
    const task = await endOf(base, id);
    expect(agent.holding).toEqual([]);
    expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_FAILED', expect.stringContaining('is gone')]);
  });

  it('fails if its agent has restarted and knows it no more', async () => {
    const { agent, base, id } = await park(parley);
    await agent.end();
    await agent.begin();
    await poll(id);
    expect(textOf(await endOf(base, id))).toContain('no longer knows this task');
  });

  it('ends at the time limit of the policy', async () => {
    const { base, id } = await park(parley, { limit: 6 });
    const task = await endOf(base, id);
    expect([task.status.state, textOf(task)]).toEqual(['TASK_STATE_FAILED', expect.stringContaining('6 s')]);
  });

  it('is woken by no notification without the token, and none writes anything', async () => {
    const { agent, base, id, row } = await park(unreachable);
    const url = `${parley.url}/agent-notifications/${row.webhook}`;
    const attempts: [string, RequestInit][] = [
      [url, {}],
      [url, { headers: { [TOKEN]: 'guessed' } }],
      [url, { headers: { [TOKEN]: '' }, body: 'x'.repeat(3_000_000) }],
      [`${parley.url}/agent-notifications/${'0'.repeat(32)}`, { headers: { [TOKEN]: 'guessed' } }],
      [`${parley.url}/agent-notifications/none`, { headers: { [TOKEN]: 'guessed' } }],
    ];
    for (const [address, init] of attempts)
      expect((await fetch(address, { method: 'POST', ...init })).status).toBe(403);
    expect(await rowOf(id)).toEqual(row);
    agent.release();
    expect(await notify(agent.webhooks[0]!, parley)).toBe(204);
    await endOf(base, id);
  });
});

async function release(agent: DoorAgent, base: string, id: string): Promise<void> {
  agent.release();
  await endOf(base, id);
}

async function cancel(_agent: DoorAgent, base: string, id: string): Promise<void> {
  await rpc<Task>(base, 'CancelTask', { id });
}

it('keeps the stream to an agent that refuses the webhook', async () => {
  const agent = await startAgent({ refusesPush: true });
  const { base } = await openDoor(parley.url, agent.url, { policy: QUICK });
  const id = await begin(base, 'hold');
  await until(() => agent.refused === 1, { what: 'the agent to refuse a webhook' });
  agent.release();
  await endOf(base, id);
  expect(await rowOf(id)).toMatchObject({ is_notified: false });
  expect(agent.refused).toBe(1);
});

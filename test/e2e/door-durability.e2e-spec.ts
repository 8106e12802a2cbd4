import { type JsonObject, type StreamResponse, type Task } from '#libs/protocol';
import { getTask, outline, rpc, sendParams, sendTask, stream, subscribe } from '../support/a2a.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { startParley } from '../support/parley.js';
import { freshDatabase } from '../support/postgres.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';

const stage = useStage({ env: { FILES_OFFLOAD: '16kb' } });

async function startAgent(options: Parameters<typeof DoorAgent.start>[0] = {}): Promise<DoorAgent> {
  const agent = await DoorAgent.start(options);
  stage.defer(() => agent.end());
  return agent;
}

const HELD = [
  'task TASK_STATE_SUBMITTED',
  'status TASK_STATE_WORKING',
  'artifact first ',
  'artifact last',
  'status TASK_STATE_COMPLETED',
];

type Reader = Awaited<ReturnType<typeof stream>>;

async function saidIn(reader: Reader): Promise<StreamResponse[]> {
  return (await reader.all()).map(({ data }) => data.result!);
}

async function begin(base: string, text: string): Promise<string> {
  return (await sendTask(base, text, { configuration: { returnImmediately: true } })).id;
}

/** Resolves with a Task once it is in a state. */
async function reached(base: string, id: string, state: string): Promise<Task> {
  return until(
    async () => {
      const task = await getTask(base, id);
      return task.status.state === state ? task : undefined;
    },
    { what: `the task to be ${state}` },
  );
}

const textOf = ({ status }: Task): string => status.message?.parts[0]?.text ?? '';

it('stores a turn in the commit of its Task, and the ids of the agent in that of its first event', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const { id } = await sendTask(base, 'hello');
  // Both columns of time have the time of their transaction.
  const sql = `
    SELECT turn.begun_at = log.recorded_at AS begun, turn.xmin = log.xmin AS met
    FROM registered_agent_task AS turn JOIN task_log AS log USING (task_id) WHERE task_id = $1 ORDER BY sequence LIMIT 2`;
  const rows = await stage.database.query<{ begun: boolean; met: boolean }>(sql, [id]);
  expect(rows).toEqual([
    { begun: true, met: false },
    { begun: false, met: true },
  ]);
});

describe.each([true, false])('a door whose agent streams: %p', (streaming) => {
  it('tells each event once although the connection to the agent breaks', async () => {
    const agent = await startAgent({ streaming });
    const { base } = await openDoor(stage.parley.url, agent.url);
    const reader = await stream(base, 'hold');
    await agent.untilHolding();
    agent.cut();
    agent.release();
    expect((await saidIn(reader)).map(outline)).toEqual(HELD);
    expect(agent.heard).toHaveLength(1);
  });

  it('lets another replica continue after kill -9, with the same log and one Message to the agent', async () => {
    const database = await freshDatabase();
    stage.defer(() => database.drop());
    const one = await startParley({ databaseUrl: database.url });
    const other = await startParley({ databaseUrl: database.url });
    stage.defer(() => other.stop());
    const agent = await startAgent({ streaming });
    const { base, name } = await openDoor(one.url, agent.url);
    const reader = await stream(base, 'hold');
    const first: StreamResponse[] = [];
    let seen = '0';
    while (first.map(outline).at(-1) !== 'artifact first ') {
      const frame = await reader.next();
      first.push(frame!.data.result!);
      seen = frame!.id!;
    }
    await one.kill9();
    agent.release();
    const there = `${other.url}/a2a/agents/${name}`;
    const [begun] = first;
    if (!begun || !('task' in begun)) throw new Error('The stream does not begin with the Task');
    await reached(there, begun.task.id, 'TASK_STATE_COMPLETED');
    const rest = await saidIn(await subscribe(there, begun.task.id, seen));
    expect([...first, ...rest.slice(1)].map(outline)).toEqual(HELD);
    expect(agent.heard).toHaveLength(1);
  });
});

describe('an agent that restarted and knows its Task no more', () => {
  async function restartIn(policy: JsonObject): Promise<{ agent: DoorAgent; base: string; id: string }> {
    const agent = await startAgent();
    const { base } = await openDoor(stage.parley.url, agent.url, { policy });
    const id = await begin(base, 'hold');
    await agent.untilHolding();
    await reached(base, id, 'TASK_STATE_WORKING');
    await agent.end();
    await agent.begin();
    return { agent, base, id };
  }

  it('fails the Task by default, and hears the Message once', async () => {
    const { agent, base, id } = await restartIn({});
    const task = await reached(base, id, 'TASK_STATE_FAILED');
    expect(textOf(task)).toContain('no longer knows this task');
    expect(agent.heard).toHaveLength(1);
  });

  it('gets the Message again under the policy resend', async () => {
    const { agent, base, id } = await restartIn({ forgotten: 'resend' });
    await agent.untilHolding();
    agent.release();
    const task = await reached(base, id, 'TASK_STATE_COMPLETED');
    expect(task.artifacts?.map(({ parts }) => parts.map(({ text }) => text).join(''))).toEqual(['first last']);
    const [first, second] = agent.heard;
    expect(second?.messageId).toBe(first?.messageId);
  });

  it('gets an answer as a new Message under the policy resend, which no longer names the lost Task', async () => {
    const agent = await startAgent();
    const { base } = await openDoor(stage.parley.url, agent.url, { policy: { forgotten: 'resend' } });
    const asked = await sendTask(base, 'ask');
    await agent.end();
    await agent.begin();
    const task = await sendTask(base, 'hello', { fields: { taskId: asked.id } });
    expect([task.id, task.status.state, textOf(task)]).toEqual([asked.id, 'TASK_STATE_COMPLETED', 'done']);
    expect(agent.heard.map(({ parts }) => parts[0]?.text)).toEqual(['ask', 'hello']);
    expect(agent.heard[1]?.taskId).not.toBe(agent.heard[0]?.taskId);
  });

  it('lets the caller decide under the policy ask', async () => {
    const { agent, base, id } = await restartIn({ forgotten: 'ask' });
    const asked = await reached(base, id, 'TASK_STATE_INPUT_REQUIRED');
    expect(textOf(asked)).toContain('"resend"');
    const again = await sendTask(base, 'what?', { fields: { taskId: id } });
    expect(again.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(agent.heard).toHaveLength(1);
    await sendTask(base, 'Resend', { fields: { taskId: id }, configuration: { returnImmediately: true } });
    await agent.untilHolding();
    agent.release();
    await reached(base, id, 'TASK_STATE_COMPLETED');
    expect(agent.heard.map(({ parts }) => parts[0]?.text)).toEqual(['hold', 'hold']);
    expect(new Set(agent.heard.map(({ messageId }) => messageId)).size).toBe(1);
  });

  it('ends the Task if the caller answers so', async () => {
    const { agent, base, id } = await restartIn({ forgotten: 'ask' });
    await reached(base, id, 'TASK_STATE_INPUT_REQUIRED');
    const task = await sendTask(base, 'fail', { fields: { taskId: id } });
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(agent.heard).toHaveLength(1);
  });
});

it('passes a file both ways as bytes, although the log keeps it elsewhere', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const raw = Buffer.alloc(600_000, 'parley').toString('base64');
  const task = await sendTask(base, [{ text: 'take' }, { raw, mediaType: 'image/png', filename: 'large.png' }]);
  const { raw: came = '', ...others } = agent.heard[0]?.parts[1] ?? {};
  expect(others).toMatchObject({ mediaType: 'image/png', filename: 'large.png' });
  expect(JSON.stringify(others)).not.toContain('/files/');
  expect(came === raw).toBe(true);
  const [, kept] = task.artifacts?.[0]?.parts ?? [];
  expect(kept).toMatchObject({ mediaType: 'image/png', filename: 'large.png' });
  expect(kept?.url).toContain('/api/files/');
});

it('stores no turn for a repeated request under a key', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const params = sendParams('hello');
  const asked = ['one', 'other', 'third'].map(() => rpc<{ task: Task }>(base, 'SendMessage', params, { headers }));
  const ids = (await Promise.all(asked)).map(({ body }) => body.result?.task.id);
  expect(ids).toEqual(ids.map(() => ids[0]));
  expect(agent.heard).toHaveLength(1);
  const orphans = 'SELECT task_id FROM registered_agent_task WHERE task_id NOT IN (SELECT task_id FROM task)';
  expect(await stage.database.query(orphans)).toEqual([]);
});

describe('an agent that is away', () => {
  it('gets the Message when it is back', async () => {
    const agent = await startAgent();
    const { base } = await openDoor(stage.parley.url, agent.url);
    await agent.end();
    const id = await begin(base, 'hello');
    await agent.begin();
    await reached(base, id, 'TASK_STATE_COMPLETED');
    expect(agent.heard).toHaveLength(1);
  });

  it('fails the Task with a clear sentence after the wait of the policy', async () => {
    const agent = await startAgent();
    const { base } = await openDoor(stage.parley.url, agent.url, { policy: { wait: 0 } });
    await agent.end();
    const task = await sendTask(base, 'hello');
    expect(task.status.state).toBe('TASK_STATE_FAILED');
    expect(textOf(task)).toMatch(/connect|reach/);
  });
});

it('rejects the Task with the words of an agent that refuses the Message', async () => {
  const agent = await startAgent();
  const { base } = await openDoor(stage.parley.url, agent.url);
  const { body } = await rpc<{ task: Task }>(base, 'SendMessage', {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], contextId: 'mine' },
  });
  expect(body.result?.task.contextId).toBe('mine');
  expect(agent.heard[0]?.contextId).not.toBe('mine');
});

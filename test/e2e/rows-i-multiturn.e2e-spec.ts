import type { JsonObject, Task } from '#libs/protocol';
import { detail, getTask, message, rest, rpc, sendParams, sendTask } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, ruled, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
let base: string;

beforeAll(async () => {
  const name = unique('turns');
  const asks = ruled('agent', [
    { when: { turn: 1 }, steps: [{ ask: 'Which city?' }] },
    { when: { turn: 2 }, steps: [{ echo: true }, { complete: 'Sunny in {{text}}' }] },
  ]);
  await stage.api.save({ name, nodes: [asks, script('once', { complete: 'done' }), echo('echo')], edges: [] });
  base = stage.api.base(name, 'agent');
});

const once = (): string => base.replace(/agent$/, 'once');

describe('rows I: several turns', () => {
  it("I2 a first Message without ids gets a contextId and a taskId of the server's", async () => {
    const task = await sendTask(base, 'weather?');
    expect(task.id).toEqual(expect.stringMatching(/\S+/));
    expect(task.contextId).toEqual(expect.stringMatching(/\S+/));
    expect(task.history?.[0]).toMatchObject({ taskId: task.id, contextId: task.contextId, role: 'ROLE_USER' });
  });

  it('I3 a question is INPUT_REQUIRED with the question in the status Message', async () => {
    const task = await sendTask(base, 'weather?');
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'Which city?' }] },
    });
  });

  it('I4 I5 the second turn goes on with the same Task, and its history is [user1, agent1, user2, agent2]', async () => {
    const first = await sendTask(base, 'weather?', { fields: { messageId: 'u1' } });
    expect(first.history?.map(({ parts }) => parts[0]?.text)).toEqual(['weather?', 'Which city?']);
    const second = await sendTask(base, 'Oslo', {
      fields: { messageId: 'u2', taskId: first.id, contextId: first.contextId },
    });
    expect(second).toMatchObject({
      id: first.id,
      contextId: first.contextId,
      status: { state: 'TASK_STATE_COMPLETED' },
    });
    const stored = await getTask(base, first.id);
    expect(stored.history?.map(({ role, parts }) => [role, parts[0]?.text])).toEqual([
      ['ROLE_USER', 'weather?'],
      ['ROLE_AGENT', 'Which city?'],
      ['ROLE_USER', 'Oslo'],
      ['ROLE_AGENT', 'Sunny in Oslo'],
    ]);
    expect(stored.history?.map(({ messageId }) => messageId)).toEqual([
      'u1',
      expect.any(String),
      'u2',
      expect.any(String),
    ]);
    expect(stored.history?.every(({ taskId, contextId }) => taskId === first.id && contextId === first.contextId)).toBe(
      true,
    );
    expect(stored.artifacts?.[0]?.parts[0]?.text).toBe('Oslo');
  });

  it("I4 a taskId alone is enough: the context is the Task's", async () => {
    const first = await sendTask(base, 'weather?');
    const second = await sendTask(base, 'Rome', { fields: { taskId: first.id } });
    expect(second).toMatchObject({
      id: first.id,
      contextId: first.contextId,
      status: { state: 'TASK_STATE_COMPLETED' },
    });
  });

  it('I8 POST {base}/send-message takes {message, contextId?, taskId?} through a whole conversation', async () => {
    const first = await convenience({ message: 'weather?' });
    expect(first.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const second = await convenience({ message: 'Lima', contextId: first.contextId, taskId: first.id });
    expect(second).toMatchObject({ id: first.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect((await getTask(base, first.id)).history).toHaveLength(4);
  });

  it('I8 POST {base}/send-message holds the whole conversation in the words of A2A 0.3, by kind and by type', async () => {
    const said = (word: string, text: string) => ({ role: 'user', parts: [{ [word]: 'text', text }] });
    const ask = async (body: object) =>
      (await rest<Record<string, unknown>>(base, 'POST', '/send-message', { body })).body;
    const first = await ask({ message: { ...said('kind', 'weather?'), messageId: 'msg-1' } });
    expect(first).toMatchObject({ kind: 'task', status: { state: 'input-required' }, history: { length: 2 } });
    const ids = { contextId: first['contextId'], taskId: first['taskId'] };
    const second = await ask({ message: said('type', 'Lima'), ...ids });
    expect(second).toMatchObject({ ...ids, id: ids.taskId, status: { state: 'completed' } });
    expect((second['history'] as { role: string }[]).map(({ role }) => role)).toEqual([
      'user',
      'agent',
      'user',
      'agent',
    ]);
    const again = { message: said('kind', 'and tomorrow?') };
    const ended = await ask({ ...again, ...ids });
    expect(ended).toMatchObject({ code: -32004, message: expect.stringContaining('COMPLETED') });
    const waiting = await ask({ message: said('kind', 'weather?') });
    const elsewhere = await ask({ ...again, taskId: waiting['taskId'], contextId: 'another' });
    expect(elsewhere).toMatchObject({ code: -32602, message: expect.stringContaining('contextId') });
  });

  it.each([[{}], [{ message: 5 }]])('I8 POST {base}/send-message with %j is refused', async (body) => {
    const before = await stage.database.counts();
    const reply = await rest(base, 'POST', '/send-message', { body });
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(reply.status).toBeLessThan(500);
    expect(await stage.database.counts()).toEqual(before);
  });

  it('I9 forgetting the ids is a new conversation: two Tasks, two contexts', async () => {
    const [one, two] = [await sendTask(base, 'a'), await sendTask(base, 'a')];
    expect(one.id).not.toBe(two.id);
    expect(one.contextId).not.toBe(two.contextId);
  });

  it('I11 an unknown taskId is TaskNotFound', async () => {
    const { body } = await rpc(base, 'SendMessage', sendParams('x', { fields: { taskId: 'no-such-task' } }));
    expect(body.error).toMatchObject({ code: -32001 });
    expect(detail(body.error?.data, 'ErrorInfo')).toMatchObject({
      reason: 'TASK_NOT_FOUND',
      domain: 'a2a-protocol.org',
    });
    const reply = await rest(base, 'POST', '/message:send', {
      body: sendParams('x', { fields: { taskId: 'no-such-task' } }),
    });
    expect(reply).toMatchObject({ status: 404, body: { error: { code: 404, status: 'NOT_FOUND' } } });
  });

  it("I11 a contextId that is not the Task's is refused, and the Task is as it was", async () => {
    const first = await sendTask(base, 'weather?');
    const { body } = await rpc(
      base,
      'SendMessage',
      sendParams('Oslo', { fields: { taskId: first.id, contextId: 'another' } }),
    );
    expect(body.error).toMatchObject({ code: -32602 });
    expect(JSON.stringify(body.error)).toContain('contextId');
    expect(await getTask(base, first.id)).toEqual(first);
  });

  it.each(['COMPLETED', 'CANCELED'])(
    'I11 a Message to a %s Task is UnsupportedOperation and leaves it as it is',
    async (ending) => {
      const task = ending === 'COMPLETED' ? await sendTask(once(), 'x') : await sendTask(base, 'x');
      const at = ending === 'COMPLETED' ? once() : base;
      if (ending === 'CANCELED') await rpc(base, 'CancelTask', { id: task.id });
      const before = await getTask(at, task.id);
      expect(before.status.state).toBe(`TASK_STATE_${ending}`);
      const { body } = await rpc(at, 'SendMessage', sendParams('again', { fields: { taskId: task.id } }));
      expect(body.error).toMatchObject({ code: -32004 });
      expect(await getTask(at, task.id)).toEqual(before);
    },
  );

  it('I11 a contextId alone starts a new Task in that context', async () => {
    const first = await sendTask(once(), 'one');
    const second = await sendTask(once(), 'two', { fields: { contextId: first.contextId } });
    expect(second.id).not.toBe(first.id);
    expect(second.contextId).toBe(first.contextId);
    const { body } = await rpc<{ tasks: Task[] }>(once(), 'ListTasks', { contextId: first.contextId });
    expect(body.result?.tasks.map(({ id }) => id)).toEqual([second.id, first.id]);
  });

  it('I11 of two answers at once to one question, one is taken and one refused; the history has no third', async () => {
    const first = await sendTask(base, 'weather?');
    const replies = await Promise.all(
      ['Oslo', 'Rome'].map((text) =>
        rpc<{ task: Task }>(base, 'SendMessage', {
          message: message(text, { taskId: first.id }) as unknown as JsonObject,
        }),
      ),
    );
    expect(replies.filter(({ body }) => body.result?.task.status.state === 'TASK_STATE_COMPLETED')).toHaveLength(1);
    expect(replies.filter(({ body }) => body.error?.code === -32004)).toHaveLength(1);
    expect((await getTask(base, first.id)).history).toHaveLength(4);
  });
});

/** The sample's endpoint, whose answer may be the Task itself or a response around it. */
async function convenience(body: JsonObject): Promise<Task> {
  const reply = await rest<JsonObject>(base, 'POST', '/send-message', { body });
  if (reply.status !== 200) throw new Error(`send-message: ${reply.status} ${JSON.stringify(reply.body)}`);
  const answer = (reply.body.result ?? reply.body) as JsonObject;
  return (answer.task ?? answer) as unknown as Task;
}

import type { JsonObject, Task } from '#libs/protocol';
import {
  detail,
  firstText,
  getTask,
  message,
  type RestReply,
  rest,
  rpc,
  type RpcReply,
  sendParams,
  sendTask,
} from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, input, linear, output, ruled, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
let base: string;
let workflow: string;
const at = (node: string): string => `${base}/nodes/${node}`;

beforeAll(async () => {
  workflow = unique('ops');
  base = stage.api.base(workflow);
  await stage.api.save({
    name: workflow,
    nodes: [
      echo('echo'),
      script('slow', { status: 'working', text: 'on it' }, { sleep: 60_000 }, { complete: 'done' }),
      script(
        'short',
        { status: 'working' },
        { sleep: 400 },
        { artifact: { parts: [{ text: 'late' }] } },
        { complete: 'done' },
      ),
      script('direct', { reply: [{ text: 'no task needed' }] }),
      ruled('asks', [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }]),
    ],
    edges: [],
  });
});

/** The same operation in both bindings, its answer in one shape. */
interface Binding {
  name: string;
  call<T>(
    node: string,
    operation: Operation,
    fields: JsonObject,
  ): Promise<{ result?: T; code?: number; status: number; details?: JsonObject[] }>;
}
type Operation = 'SendMessage' | 'GetTask' | 'ListTasks' | 'CancelTask';

const jsonRpc: Binding = {
  name: 'JSON-RPC',
  call: async <T>(node: string, operation: Operation, fields: JsonObject) => {
    const { body, status }: RpcReply<T> = await rpc<T>(at(node), operation, fields);
    return { result: body.result, code: body.error?.code, details: body.error?.data, status };
  },
};
const http: Binding = {
  name: 'REST',
  call: async <T>(node: string, operation: Operation, fields: JsonObject) => {
    const { id, ...others } = fields;
    const query = new URLSearchParams(others as Record<string, string>).toString();
    const reply = (await {
      SendMessage: () => rest(at(node), 'POST', '/message:send', { body: fields }),
      GetTask: () => rest(at(node), 'GET', `/tasks/${String(id)}?${query}`),
      ListTasks: () => rest(at(node), 'GET', `/tasks?${query}`),
      CancelTask: () => rest(at(node), 'POST', `/tasks/${String(id)}:cancel`, { body: {} }),
    }[operation]()) as RestReply<T>;
    const failed = reply.body.error !== undefined;
    return {
      status: reply.status,
      ...(failed ? { code: reply.body.error?.code, details: reply.body.error?.details } : { result: reply.body as T }),
    };
  },
};

describe.each([jsonRpc, http])('A2A operations over $name', ({ name, call }) => {
  it('SendMessage waits for the end of the Task and gives it whole', async () => {
    const { result } = await call<{ task: Task }>('short', 'SendMessage', sendParams('go'));
    expect(result?.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(firstText(result?.task as Task)).toBe('late');
    expect(result?.task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('SendMessage waits no longer than until the Task wants input', async () => {
    const { result } = await call<{ task: Task }>('asks', 'SendMessage', sendParams('go'));
    expect(result?.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  });

  it('SendMessage with returnImmediately answers while the Task works, and the Task goes on', async () => {
    const { result } = await call<{ task: Task }>(
      'short',
      'SendMessage',
      sendParams('go', { configuration: { returnImmediately: true } }),
    );
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(result?.task.status.state);
    await until(
      async () => (await getTask(at('short'), result?.task.id ?? '')).status.state === 'TASK_STATE_COMPLETED',
    );
  });

  it('SendMessage may be answered with a Message, and then no Task is stored', async () => {
    const before = await stage.database.counts();
    const { result } = await call<{ message: JsonObject; task?: Task }>('direct', 'SendMessage', sendParams('go'));
    expect(result?.message).toMatchObject({
      role: 'ROLE_AGENT',
      messageId: expect.any(String),
      parts: [{ text: 'no task needed' }],
    });
    expect(result?.task).toBeUndefined();
    expect(await stage.database.counts()).toEqual(before);
  });

  it('historyLength: absent is all, 0 is none, n is the newest n', async () => {
    const task = await sendTask(at('echo'), 'hello');
    const lengths = await Promise.all(
      ([{}, { historyLength: 0 }, { historyLength: 1 }, { historyLength: 9 }] as JsonObject[]).map(async (fields) => {
        const { result } = await call<Task>('echo', 'GetTask', { id: task.id, ...fields });
        return result?.history?.map(({ role }) => role);
      }),
    );
    expect(lengths).toEqual([['ROLE_USER', 'ROLE_AGENT'], undefined, ['ROLE_AGENT'], ['ROLE_USER', 'ROLE_AGENT']]);
    const sent = await call<{ task: Task }>(
      'echo',
      'SendMessage',
      sendParams('x', { configuration: { historyLength: 0 } }),
    );
    expect(sent.result?.task).not.toHaveProperty('history');
  });

  it('CancelTask ends a working Task at once', async () => {
    const { result } = await call<{ task: Task }>(
      'slow',
      'SendMessage',
      sendParams('go', { configuration: { returnImmediately: true } }),
    );
    const id = result?.task.id ?? '';
    await until(async () => (await getTask(at('slow'), id)).status.state === 'TASK_STATE_WORKING');
    const canceled = await call<Task>('slow', 'CancelTask', { id });
    expect(canceled.result).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
    expect((await getTask(at('slow'), id)).status.state).toBe('TASK_STATE_CANCELED');
    const again = await call<Task>('slow', 'CancelTask', { id });
    expect(again.code ?? again.result?.status.state).toEqual(
      again.result === undefined ? (name === 'REST' ? 400 : -32002) : 'TASK_STATE_CANCELED',
    );
  });

  it('CancelTask ends a Task that waits for input', async () => {
    const task = await sendTask(at('asks'), 'go');
    expect((await call<Task>('asks', 'CancelTask', { id: task.id })).result?.status.state).toBe('TASK_STATE_CANCELED');
  });

  it('CancelTask of a completed Task is TaskNotCancelable', async () => {
    const task = await sendTask(at('echo'), 'hello');
    const reply = await call('echo', 'CancelTask', { id: task.id });
    expect(reply.code).toBe(name === 'REST' ? 400 : -32002);
    expect(detail(reply.details, 'ErrorInfo')).toMatchObject({
      reason: 'TASK_NOT_CANCELABLE',
      domain: 'a2a-protocol.org',
    });
  });

  it.each(['GetTask', 'CancelTask'] as const)('%s of an unknown Task is TaskNotFound', async (operation) => {
    const reply = await call('echo', operation, { id: 'nope' });
    expect(reply.code).toBe(name === 'REST' ? 404 : -32001);
    expect(detail(reply.details, 'ErrorInfo')).toMatchObject({ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' });
  });

  it('scope: a Task is found at its own agent and at /a2a, and nowhere else', async () => {
    const task = await sendTask(at('echo'), 'hello');
    expect((await getTask(`${stage.parley.url}/a2a`, task.id)).id).toBe(task.id);
    expect((await call<Task>('echo', 'GetTask', { id: task.id })).result?.id).toBe(task.id);
    expect((await call('slow', 'GetTask', { id: task.id })).code).toBe(name === 'REST' ? 404 : -32001);
    expect((await rpc(base, 'GetTask', { id: task.id })).body.error?.code).toBe(-32001);
    expect((await rpc(base, 'CancelTask', { id: task.id })).body.error?.code).toBe(-32001);
    const { body } = await rpc(at('slow'), 'SendMessage', sendParams('x', { fields: { taskId: task.id } }));
    expect(body.error?.code).toBe(-32001);
  });
});

describe('A2A operations of the service and of workflows', () => {
  it('a workflow is an agent: a Message runs it, a DataPart names inputs, and the outputs are its Artifacts', async () => {
    const name = unique('agent');
    await stage.api.save({
      name,
      nodes: [input('a'), input('b'), output('left', { prompt: 'L {{a}}' }), output('right', { prompt: 'R {{b}}' })],
      edges: [
        { from: 'a', to: 'left' },
        { from: 'b', to: 'right' },
      ],
    });
    const task = await sendTask(stage.api.base(name), [{ data: { a: 'from data' } }, { text: 'from text' }]);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(Object.fromEntries((task.artifacts ?? []).map((it) => [it.name, it.parts[0]?.text]))).toEqual({
      left: 'L from data',
      right: 'R from text',
    });
    expect(await stage.api.run(task.id)).toMatchObject({
      workflow: name,
      status: 'completed',
      contextId: task.contextId,
    });
  });

  it.each<[string, (skill: string) => JsonObject]>([
    [
      'metadata.skillId of the Message',
      (skillId) => ({ message: message('hi', { metadata: { skillId } }) as unknown as JsonObject }),
    ],
    ['the tenant of the request', (tenant) => ({ tenant, message: message('hi') as unknown as JsonObject })],
  ])('the service runs the workflow that %s names', async (_what, params) => {
    const name = unique('skill');
    await stage.api.save(linear(name, input('in'), output('out', { prompt: 'out {{in}}' })));
    const { body } = await rpc<{ task: Task }>(`${stage.parley.url}/a2a`, 'SendMessage', params(name));
    expect(firstText(body.result?.task as Task)).toBe('out hi');
    expect((await getTask(stage.api.base(name), body.result?.task.id ?? '')).status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('the service refuses a Message that names no workflow, or one that does not exist', async () => {
    const before = await stage.database.counts();
    for (const fields of [{}, { metadata: { skillId: 'nope' } }]) {
      const { body } = await rpc(`${stage.parley.url}/a2a`, 'SendMessage', sendParams('hi', { fields }));
      expect(body.error?.code).toBeLessThan(0);
      expect(body.error?.code).not.toBe(-32603);
    }
    expect(await stage.database.counts()).toEqual(before);
  });

  it('Idempotency-Key: the same Message again is the same Task; another one under the key is a conflict', async () => {
    const headers = { 'idempotency-key': unique('key') };
    const params = sendParams('once');
    const first = await rpc<{ task: Task }>(at('echo'), 'SendMessage', params, { headers });
    const second = await rpc<{ task: Task }>(at('echo'), 'SendMessage', params, { headers });
    expect(second.body.result?.task.id).toBe(first.body.result?.task.id);
    const other = await rpc(at('echo'), 'SendMessage', sendParams('else'), { headers });
    expect(other.body.error).toMatchObject({ code: -32602 });
    expect(detail(other.body.error?.data, 'ErrorInfo')).toMatchObject({ reason: 'IDEMPOTENCY_CONFLICT' });
    const restConflict = await rest(at('echo'), 'POST', '/message:send', { headers, body: sendParams('else') });
    expect(restConflict.status).toBe(409);
  });
});

import type { JsonObject, ListTasksResponse, StreamResponse, Task } from '#libs/protocol';
import { firstText, rest, sendParams } from '../support/a2a.js';
import type { OpenStream } from '../support/wire-binding.js';
import { outlines, useBindings } from '../support/bindings-stage.js';
import { until } from '../support/until.js';
import { unique } from '../support/workflow.js';

const suite = useBindings();

describe.each(suite.table)('A2A 1.0 over %s', (_name, binding) => {
  it('SendMessage waits for the end and gives the Task whole', async () => {
    const task = await suite.send(binding, 'short', 'go');
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(firstText(task)).toBe('late');
    expect(task.status.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(task.history?.map(({ role }) => role)).toEqual(['ROLE_USER', 'ROLE_AGENT']);
  });

  it('SendMessage waits no longer than until input is wanted, and goes on with the next Message', async () => {
    const asked = await suite.send(binding, 'asks', 'hi');
    expect(asked.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const params = sendParams('yes', { fields: { taskId: asked.id } });
    const { result } = await binding.call<{ task: Task }>(suite.at('asks'), 'SendMessage', params);
    expect(result?.task).toMatchObject({
      id: asked.id,
      contextId: asked.contextId,
      status: { state: 'TASK_STATE_COMPLETED' },
    });
  });

  it('a Task that wants authorisation says why, can be followed on, and takes the next Message', async () => {
    const waiting = await suite.send(binding, 'authorizes', 'hi');
    expect(waiting.status).toMatchObject({
      state: 'TASK_STATE_AUTH_REQUIRED',
      message: { role: 'ROLE_AGENT', parts: [{ text: 'log in first' }] },
    });
    const following = await binding.open(suite.at('authorizes'), 'SubscribeToTask', { id: waiting.id });
    const params = sendParams('done', { fields: { taskId: waiting.id } });
    const { result } = await binding.call<{ task: Task }>(suite.at('authorizes'), 'SendMessage', params);
    expect(result?.task.status.state).toBe('TASK_STATE_COMPLETED');
    const seen = await outlines(following);
    expect([seen[0], seen.at(-1)]).toEqual(['task TASK_STATE_AUTH_REQUIRED', 'status TASK_STATE_COMPLETED']);
  });

  it('SendMessage with returnImmediately answers while the Task works', async () => {
    const task = await suite.send(binding, 'short', 'go', { returnImmediately: true });
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(task.status.state);
    await until(async () => {
      const { result } = await binding.call<Task>(suite.at('short'), 'GetTask', { id: task.id });
      return result?.status.state === 'TASK_STATE_COMPLETED';
    });
  });

  it('SendMessage may be answered with a Message', async () => {
    const { result } = await binding.call(suite.at('direct'), 'SendMessage', sendParams('go'));
    expect(result).toMatchObject({ message: { role: 'ROLE_AGENT', parts: [{ text: 'no task needed' }] } });
    expect(result).not.toHaveProperty('task');
  });

  it('every kind of Part goes there and back', async () => {
    const parts = [
      { text: 'a', metadata: { k: [1, null, 'x'] } },
      { data: { deep: [{ n: 1.5 }] }, mediaType: 'application/json' },
      { data: null },
      { data: [1, 'two', false] },
      { raw: 'aGk=', mediaType: 'text/plain', filename: 'hi.txt' },
      { url: 'https://example.com/a', mediaType: 'text/plain' },
    ];
    const { result } = await binding.call<{ task: Task }>(suite.at('parts'), 'SendMessage', sendParams(parts));
    expect(result?.task.artifacts?.[0]?.parts).toEqual(parts);
  });

  it('SendStreamingMessage begins with the Task and ends with it', async () => {
    expect(await outlines(await binding.open(suite.at('short'), 'SendStreamingMessage', sendParams('go')))).toEqual([
      'task TASK_STATE_SUBMITTED',
      'status TASK_STATE_WORKING',
      'artifact late',
      'status TASK_STATE_COMPLETED',
    ]);
  });

  it('SendStreamingMessage closes where input is wanted, and a Message is the only item of its stream', async () => {
    const asked = await outlines(await binding.open(suite.at('asks'), 'SendStreamingMessage', sendParams('hi')));
    expect(asked.at(-1)).toBe('status TASK_STATE_INPUT_REQUIRED');
    expect(await outlines(await binding.open(suite.at('direct'), 'SendStreamingMessage', sendParams('hi')))).toEqual([
      'message',
    ]);
  });

  it('GetTask cuts the history as it is asked to', async () => {
    const { id } = await suite.send(binding, 'echo', 'hello');
    const lengths = await Promise.all(
      ([{}, { historyLength: 0 }, { historyLength: 1 }, { historyLength: 9 }] as JsonObject[]).map(async (fields) => {
        const { result } = await binding.call<Task>(suite.at('echo'), 'GetTask', { id, ...fields });
        return result?.history?.length;
      }),
    );
    expect(lengths).toEqual([2, undefined, 1, 2]);
  });

  it('ListTasks filters, pages and leaves artifacts out unless asked', async () => {
    const first = await suite.send(binding, 'echo', 'one');
    const { contextId } = first;
    const params = sendParams('two', { fields: { contextId } });
    const { result: second } = await binding.call<{ task: Task }>(suite.at('echo'), 'SendMessage', params);
    const list = async (fields: JsonObject) => {
      const { result } = await binding.call<{ tasks?: Task[]; nextPageToken?: string; totalSize: number }>(
        suite.at('echo'),
        'ListTasks',
        { contextId, ...fields },
      );
      return result;
    };
    const page = await list({ pageSize: 1 });
    expect(page).toMatchObject({ tasks: [{ id: second?.task.id }], totalSize: 2, pageSize: 1 });
    expect(page?.tasks?.[0]).not.toHaveProperty('artifacts');
    const next = await list({ pageSize: 1, pageToken: String(page?.nextPageToken), includeArtifacts: true });
    expect(next?.tasks).toMatchObject([{ id: first.id, artifacts: [{}] }]);
    expect(next?.nextPageToken ?? '').toBe('');
    expect((await list({ status: 'TASK_STATE_WORKING' }))?.tasks ?? []).toEqual([]);
    expect((await list({ statusTimestampAfter: '2999-01-01T00:00:00Z' }))?.tasks ?? []).toEqual([]);
  });

  it('SubscribeToTask begins with the Task as it stands; every reader sees the same, and CancelTask ends it', async () => {
    const task = await suite.send(binding, 'slow', 'go', { returnImmediately: true });
    await until(async () => {
      const { result } = await binding.call<Task>(suite.at('slow'), 'GetTask', { id: task.id });
      return result?.status.state === 'TASK_STATE_WORKING';
    });
    const readers = await Promise.all(
      [1, 2, 3].map(() => binding.open(suite.at('slow'), 'SubscribeToTask', { id: task.id })),
    );
    const [left, ...staying] = readers;
    left?.leave();
    const { result } = await binding.call<Task>(suite.at('slow'), 'CancelTask', { id: task.id });
    expect(result).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_CANCELED' } });
    for (const reader of staying) {
      expect(await outlines(reader)).toEqual(['task TASK_STATE_WORKING', 'status TASK_STATE_CANCELED']);
    }
  });

  it('a reader that leaves ends nothing', async () => {
    const stream = await binding.open(suite.at('short'), 'SendStreamingMessage', sendParams('go'));
    const [first] = (await take(stream, 1)) as [{ task: Task }];
    stream.leave();
    await until(async () => {
      const { result } = await binding.call<Task>(suite.at('short'), 'GetTask', { id: first.task.id });
      return result?.status.state === 'TASK_STATE_COMPLETED';
    });
  });

  it.each(['1.0', '1.0.0', '1.0.7'])('version %s is 1.0: the patch does not count', async (version) => {
    const headers = { 'a2a-version': version };
    const { error } = await binding.call(suite.at('echo'), 'SendMessage', sendParams('x'), headers);
    expect(error).toBeUndefined();
  });

  it('tells which extensions are active', async () => {
    const uri = 'urn:parley:extension:idempotency:v1';
    const headers = { 'a2a-extensions': `urn:unknown, ${uri}` };
    const { extensions, result } = await binding.call(suite.at('echo'), 'SendMessage', sendParams('x'), headers);
    expect(result).toBeDefined();
    expect(extensions).toBe(uri);
  });

  it('takes an Idempotency-Key: the same request is one Task, another one is refused', async () => {
    const headers = { 'idempotency-key': unique('key') };
    const params = sendParams('once');
    const ids = [];
    for (let index = 0; index < 2; index++) {
      const { result } = await binding.call<{ task: Task }>(suite.at('echo'), 'SendMessage', params, headers);
      ids.push(result?.task.id);
    }
    expect(ids[1]).toBe(ids[0]);
    const { error } = await binding.call(suite.at('echo'), 'SendMessage', sendParams('other'), headers);
    expect(error).toMatchObject({ reason: 'IDEMPOTENCY_CONFLICT', domain: 'parley' });
  });

  it('the service runs the workflow that the tenant or the Message names', async () => {
    const byTenant = await binding.call<{ task: Task }>('', 'SendMessage', {
      ...sendParams('x'),
      tenant: suite.workflow,
    });
    expect(byTenant.error).toBeUndefined();
    expect(await suite.stage.api.run(String(byTenant.result?.task.id))).toMatchObject({ workflow: suite.workflow });
    const named = sendParams('x', { fields: { metadata: { skillId: suite.workflow } } });
    const bySkill = await binding.call<{ task: Task }>('', 'SendMessage', named);
    expect(await suite.stage.api.run(String(bySkill.result?.task.id))).toMatchObject({ workflow: suite.workflow });
    const read = await binding.call<Task>('', 'GetTask', { id: String(bySkill.result?.task.id) });
    expect(read.result?.id).toBe(bySkill.result?.task.id);
  });

  it('at the service a tenant, by name or by path, means the Tasks of that workflow alone', async () => {
    const elsewhere = await suite.send(binding, 'echo', 'x');
    const path = `workflows/${suite.workflow}`;
    for (const tenant of [suite.workflow, path]) {
      const sent = await binding.call<{ task: Task }>('', 'SendMessage', { ...sendParams('x'), tenant });
      const { id } = sent.result!.task;
      const listed = await binding.call<ListTasksResponse>('', 'ListTasks', { tenant });
      expect(listed).toEqual(await binding.call<ListTasksResponse>(path, 'ListTasks', {}));
      expect(listed.result?.tasks.map((task) => task.id)).toContain(id);
      expect(listed.result?.tasks.map((task) => task.id)).not.toContain(elsewhere.id);
      expect((await binding.call<Task>('', 'GetTask', { tenant, id })).result?.id).toBe(id);
      for (const operation of ['GetTask', 'CancelTask']) {
        const { error } = await binding.call('', operation, { tenant, id: elsewhere.id });
        expect(error?.reason).toBe('TASK_NOT_FOUND');
      }
      await expect(binding.open('', 'SubscribeToTask', { tenant, id: elsewhere.id })).rejects.toMatchObject({
        error: { reason: 'TASK_NOT_FOUND' },
      });
      const url = 'http://127.0.0.1:9/hook';
      const config = { tenant, taskId: elsewhere.id, id: 'c', url };
      const { error } = await binding.call('', 'CreateTaskPushNotificationConfig', config);
      expect(error?.reason).toBe('TASK_NOT_FOUND');
    }
  });

  it('at the service a tenant that names no workflow is refused by name', async () => {
    const { id } = await suite.send(binding, 'echo', 'x');
    const tenant = unique('nobody');
    for (const [operation, params] of [
      ['SendMessage', sendParams('x')],
      ['SendMessage', sendParams('x', { fields: { taskId: id } })],
      ['ListTasks', {}],
      ['GetTask', { id }],
      ['CancelTask', { id }],
      ['ListTaskPushNotificationConfigs', { taskId: id }],
    ] as const) {
      const { error } = await binding.call('', operation, { ...params, tenant });
      expect([operation, error?.reason, error?.fields]).toEqual([operation, 'INVALID_PARAMS', ['tenant']]);
    }
    const { error } = await binding.call('', 'ListTasks', { tenant: `workflows/${tenant}` });
    expect(error?.reason).toBe('AGENT_NOT_FOUND');
  });
});

describe('A2A 1.0 over HTTP+JSON alone', () => {
  const base = (): string => `${suite.endpoints.url}/a2a`;

  it.each(['application/json', 'application/a2a+json', 'application/a2a+json; charset=utf-8'])(
    'reads %s; answers in the protocol’s own type unless only plain JSON is accepted',
    async (type) => {
      for (const [accept, answered] of [
        ['*/*', 'application/a2a+json'],
        ['application/a2a+json, application/json', 'application/a2a+json'],
        ['application/json', 'application/json'],
      ] as const) {
        const headers = { 'content-type': type, accept };
        const body = sendParams('x');
        const sent = await rest(`${base()}/${suite.at('echo')}`, 'POST', '/message:send', { headers, body });
        expect(sent.status).toBe(200);
        expect(sent.headers.get('content-type')).toContain(answered);
        const refused = await rest(`${base()}/${suite.at('echo')}`, 'POST', '/message:send', { headers, body: {} });
        expect([refused.status, refused.headers.get('content-type')]).toEqual([400, expect.stringContaining(answered)]);
      }
    },
  );

  it('members that 1.0 does not know are left aside', async () => {
    const body = { ...sendParams([{ text: 'x', later: 1 } as never]), future: { a: 1 } };
    expect((await rest(`${base()}/${suite.at('echo')}`, 'POST', '/message:send', { body })).status).toBe(200);
  });

  it('a tenant may be in the body or in the path, and the path’s counts', async () => {
    const body = { ...sendParams('x'), tenant: suite.workflow };
    const inBody = await rest<{ task: Task }>(base(), 'POST', '/message:send', { body });
    expect(await suite.stage.api.run(inBody.body.task.id)).toMatchObject({ workflow: suite.workflow });
    const both = { ...sendParams('x'), tenant: 'nobody' };
    const inPath = await rest<{ task: Task }>(base(), 'POST', `/${suite.workflow}/message:send`, { body: both });
    expect(await suite.stage.api.run(inPath.body.task.id)).toMatchObject({ workflow: suite.workflow });
    const { id } = inPath.body.task;
    for (const path of [`/tasks/${id}`, `/${suite.workflow}/tasks/${id}`, '/tasks', `/${suite.workflow}/tasks`]) {
      expect((await rest(base(), 'GET', path)).status).toBe(200);
    }
    const query = `?tenant=${suite.workflow}`;
    expect((await rest(base(), 'GET', `/tasks${query}`)).body).toEqual(
      (await rest(base(), 'GET', `/${suite.workflow}/tasks`)).body,
    );
    for (const at of [`/tasks/${id}`, `/tasks/${id}/pushNotificationConfigs`]) {
      expect((await rest(base(), 'GET', `${at}${query}`)).status).toBe(200);
      expect((await rest(base(), 'GET', `${at}?tenant=nobody`)).status).toBe(400);
    }
    expect((await rest(base(), 'GET', `/tasks?tenant=workflows/${suite.workflow}`)).status).toBe(200);
    const ended = await rest(base(), 'POST', `/${suite.workflow}/tasks/${id}:cancel`, { body: {} });
    expect(ended.status).toBe(400);
  });
});

async function take({ items }: OpenStream, count: number): Promise<StreamResponse[]> {
  const seen: StreamResponse[] = [];
  const iterator = items[Symbol.asyncIterator]();
  while (seen.length < count) {
    const item = await iterator.next();
    if (item.done) break;
    seen.push(item.value);
  }
  return seen;
}

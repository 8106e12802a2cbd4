import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { type FakeServer, fakeServer, fetchAll, sseFrames } from './testing/fake-server.js';
import { textRequest } from './testing/fake-service.js';

let server: FakeServer;

beforeAll(() => {
  server = fakeServer();
  server.app.post('/elsewhere', (_request, reply) => reply.send({ ok: true }));
});

afterAll(() => server.app.close());

const V1 = { 'a2a-version': '1.0' };

type Method = 'GET' | 'POST' | 'DELETE' | 'PUT';

function request(
  method: Method,
  url: string,
  payload?: object,
  headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  const options: InjectOptions = { method, url, headers: { ...V1, ...headers } };
  return server.app.inject(payload === undefined ? options : { ...options, payload });
}

async function startTask(base = '/a2a/workflows/hang'): Promise<string> {
  const body = { ...textRequest('hi'), configuration: { returnImmediately: true } };
  return (await request('POST', `${base}/message:send`, body)).json().task.id as string;
}

describe('the REST binding', () => {
  it.each(['/a2a/workflows/echo', '/a2a/workflows/flow/nodes/copy', '/a2a/nodes/copy'])('sends to %s', async (base) => {
    const response = await request('POST', `${base}/message:send`, textRequest('hi'), {
      'content-type': 'application/a2a+json',
    });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toMatch(/^application\/a2a\+json/);
    expect(response.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it.each(['/a2a/workflows/echo', '/a2a/echo', '/a2a/workflows/echo/v1'])(
    'sends to %s where the colon is percent-encoded',
    async (base) => {
      const old = base.endsWith('/v1');
      const message = { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hi' }] };
      for (const colon of ['%3A', '%3a'])
        for (const action of ['send', 'stream']) {
          const body = old ? { message: { ...message, messageId: colon + action } } : textRequest('hi');
          const headers: Record<string, string> = old ? { 'a2a-version': '0.3' } : {};
          const response = await request('POST', `${base}/message${colon}${action}`, body, headers);
          expect([response.statusCode, response.body]).toEqual([200, expect.stringContaining('COMPLETED')]);
        }
    },
  );

  it('answers plain JSON to a caller that wants only that', async () => {
    const response = await request('GET', '/a2a/tasks', undefined, { accept: 'application/json' });
    expect(response.headers['content-type']).toMatch(/^application\/json/);
  });

  it('routes by the tenant of the path', async () => {
    const response = await request('POST', '/a2a/echo/message:send', textRequest('hi'));
    const { id } = response.json().task;
    expect((await server.store.readHeader(id))?.agent).toBe('workflows/echo');
    expect((await request('GET', `/a2a/echo/tasks/${id}`)).json().id).toBe(id);
  });

  it('streams items as they are', async () => {
    const url = '/a2a/workflows/echo/message:stream';
    const { text } = await fetchAll(server, url, { method: 'POST', headers: V1, body: textRequest('hi') });
    const frames = sseFrames(text);
    expect(frames.map((it) => it.id)).toEqual(['1', '2', '3', '4']);
    expect(frames[0]?.data).toHaveProperty('task');
    expect(frames[3]?.data).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } });
  });

  it('gets, lists and cancels', async () => {
    const id = await startTask();
    expect((await request('GET', `/a2a/tasks/${id}?historyLength=0`)).json()).not.toHaveProperty('history');
    expect((await request('GET', '/a2a/workflows/hang/tasks?pageSize=1&includeArtifacts=true')).json()).toMatchObject({
      tasks: [{ id, artifacts: [] }],
      pageSize: 1,
      totalSize: 1,
      nextPageToken: '',
    });
    const canceled = await request('POST', `/a2a/workflows/hang/tasks/${id}:cancel`, undefined, {
      'content-type': 'application/json',
    });
    expect(canceled.json()).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
    const again = await request('POST', `/a2a/tasks/${id}:cancel`, {});
    expect(again.statusCode).toBe(400);
    expect(again.json().error).toMatchObject({
      code: 400,
      status: 'FAILED_PRECONDITION',
      details: [{ reason: 'TASK_NOT_CANCELABLE' }],
    });
  });

  it.each<Method>(['GET', 'POST'])('subscribes by %s and resumes', async (method) => {
    const { id } = (await request('POST', '/a2a/workflows/echo/message:send', textRequest('hi'))).json().task;
    const resumed = await fetchAll(server, `/a2a/tasks/${id}:subscribe`, {
      method,
      headers: { ...V1, 'last-event-id': '3' },
    });
    expect(sseFrames(resumed.text).map((it) => it.id)).toEqual(['3', '4']);
    const refused = await request(method, `/a2a/tasks/${id}:subscribe`);
    expect(refused.statusCode).toBe(400);
    expect(refused.json().error.details[0].reason).toBe('UNSUPPORTED_OPERATION');
  });

  it('takes the convenient /send-message without a version', async () => {
    const url = '/a2a/workflows/ask/send-message';
    const post = (payload: object) => server.app.inject({ method: 'POST', url, payload });
    const { task } = (await post({ message: 'paint' })).json();
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const message = { parts: [{ text: 'blue' }] };
    const second = (await post({ message, taskId: task.id, contextId: task.contextId })).json();
    expect(second.task).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect((await post({})).json().error.details[1].fieldViolations).toEqual([
      { field: 'message', description: 'is required' },
    ]);
  });
});

describe('errors of the REST binding', () => {
  it('are google.rpc.Status', async () => {
    const response = await request('GET', '/a2a/tasks/nope');
    expect(response.statusCode).toBe(404);
    expect(response.json()).toEqual({
      error: {
        code: 404,
        status: 'NOT_FOUND',
        message: 'Task not found',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'TASK_NOT_FOUND',
            domain: 'a2a-protocol.org',
            metadata: { taskId: 'nope' },
          },
        ],
      },
    });
  });

  it('name query parameters of the wrong type', async () => {
    const response = await request(
      'GET',
      '/a2a/tasks?pageSize=ten&historyLength=-5&includeArtifacts=1&status=a&status=b&pageToken=',
    );
    expect(response.statusCode).toBe(400);
    const { fieldViolations } = response.json().error.details[1] as { fieldViolations: { field: string }[] };
    expect(fieldViolations.map((it) => it.field).toSorted()).toEqual([
      'historyLength',
      'includeArtifacts',
      'pageSize',
      'status',
    ]);
  });

  it.each<[query: string, field: string, accepted: readonly string[]]>([
    ['status=3', 'status', ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_AUTH_REQUIRED']],
    ['status=working', 'status', ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_AUTH_REQUIRED']],
    ['includeArtifacts=TRUE', 'includeArtifacts', ['true', 'false']],
    ['includeArtifacts=1', 'includeArtifacts', ['true', 'false']],
  ])('list the values that a query may have where it has %s', async (query, field, accepted) => {
    const response = await request('GET', `/a2a/tasks?${query}`);
    expect(response.statusCode).toBe(400);
    const { fieldViolations } = response.json().error.details[1] as { fieldViolations: Record<string, string>[] };
    expect(fieldViolations.map((it) => it['field'])).toEqual([field]);
    for (const value of accepted) expect(fieldViolations[0]!['description']).toMatch(new RegExp(`\\b${value}\\b`));
  });

  it.each<[Method, string, number, string]>([
    ['GET', '/a2a/nothing', 404, 'METHOD_NOT_FOUND'],
    ['GET', '/a2a', 404, 'METHOD_NOT_FOUND'],
    ['PUT', '/a2a/workflows/echo/tasks', 404, 'METHOD_NOT_FOUND'],
    ['POST', '/a2a/tasks/x:explode', 404, 'METHOD_NOT_FOUND'],
    ['POST', '/a2a/tasks/x', 404, 'METHOD_NOT_FOUND'],
    ['GET', '/a2a/workflows/nope/tasks', 404, 'AGENT_NOT_FOUND'],
    ['GET', '/a2a/extendedAgentCard', 400, 'UNSUPPORTED_OPERATION'],
    ['GET', '/a2a/tasks/x/pushNotificationConfigs', 400, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['GET', '/a2a/tasks/x/pushNotificationConfigs/y', 400, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    ['DELETE', '/a2a/tasks/x/pushNotificationConfigs/y', 400, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
  ])('%s %s is %d %s', async (method, url, status, reason) => {
    const response = await request(method, url);
    expect(response.statusCode).toBe(status);
    expect(response.json().error).toMatchObject({ code: status, details: [{ reason }] });
  });

  it('refuse a missing version, a bad body, a large one and another content type', async () => {
    const tasks = server.store.size;
    const url = '/a2a/workflows/echo/message:send';
    const send = (payload: string, headers: Record<string, string>) =>
      server.app.inject({ method: 'POST', url, payload, headers: { ...V1, ...headers } });
    const json = { 'content-type': 'application/json' };
    const reasons = async (response: Promise<LightMyRequestResponse>) => {
      const { error } = (await response).json();
      return [error.code, error.details[0].reason] as unknown;
    };
    expect(await reasons(send('{}', { ...json, 'a2a-version': '' }))).toEqual([400, 'VERSION_NOT_SUPPORTED']);
    expect(await reasons(send('{', json))).toEqual([400, 'PARSE_ERROR']);
    expect(await reasons(send('[]', json))).toEqual([400, 'INVALID_PARAMS']);
    expect(await reasons(send(JSON.stringify('x'.repeat(70_000)), json))).toEqual([413, 'BODY_TOO_LARGE']);
    expect(await reasons(send('a', { 'content-type': 'text/plain' }))).toEqual([415, 'MEDIA_TYPE_NOT_SUPPORTED']);
    expect(server.store.size).toBe(tasks);
  });

  it('leave the rest of the server alone', async () => {
    const response = await server.app.inject({
      method: 'POST',
      url: '/elsewhere',
      payload: 'a',
      headers: { 'content-type': 'text/plain' },
    });
    expect(response.json()).toEqual({ ok: true });
    expect((await server.app.inject('/nowhere')).json()).toMatchObject({ error: 'Not Found' });
  });
});

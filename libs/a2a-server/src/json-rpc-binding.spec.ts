import type { LightMyRequestResponse } from 'fastify';
import { A2AError } from '#libs/protocol';
import { capturedLog } from './testing/captured-log.js';
import { type FakeServer, fakeServer, fetchAll, sseFrames } from './testing/fake-server.js';
import { textRequest } from './testing/fake-service.js';

let server: FakeServer;

beforeAll(() => {
  server = fakeServer();
});

afterAll(() => server.app.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const V1 = { ...JSON_TYPE, 'a2a-version': '1.0' };

function post(
  url: string,
  payload: string | object,
  headers: Record<string, string> = V1,
): Promise<LightMyRequestResponse> {
  return server.app.inject({ method: 'POST', url, headers, payload });
}

function call(method: string, params?: unknown, headers: Record<string, string> = V1, url = '/a2a/workflows/echo') {
  return post(url, { jsonrpc: '2.0', id: 7, method, params }, headers);
}

function stream(method: string, params: object, headers: Record<string, string> = V1, url = '/a2a/workflows/echo') {
  return fetchAll(server, url, { method: 'POST', headers, body: { jsonrpc: '2.0', id: 7, method, params } });
}

async function errorOf(response: Promise<LightMyRequestResponse>) {
  const { statusCode, body } = await response;
  const { id, error } = JSON.parse(body) as { id: unknown; error: { code: number; message: string; data: object[] } };
  return { statusCode, id, ...error };
}

describe('the JSON-RPC binding', () => {
  it('answers SendMessage and GetTask', async () => {
    const sent = await call('SendMessage', textRequest('hi'));
    expect(sent.headers['content-type']).toMatch(/^application\/json/);
    const { id, result } = sent.json();
    expect(id).toBe(7);
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
    const got = await call('GetTask', { id: result.task.id, historyLength: 0 });
    expect(got.json()).toMatchObject({ jsonrpc: '2.0', id: 7, result: { id: result.task.id } });
    expect(got.json().result).not.toHaveProperty('history');
  });

  it('keeps a text id as text', async () => {
    const response = await post('/a2a/workflows/greet', { jsonrpc: '2.0', id: 'a"b', method: 'ListTasks' });
    expect(response.json()).toEqual({
      jsonrpc: '2.0',
      id: 'a"b',
      result: { tasks: [], nextPageToken: '', pageSize: 50, totalSize: 0 },
    });
  });

  it('streams responses with the sequence as id', async () => {
    const { type, text } = await stream('SendStreamingMessage', textRequest('hi'));
    expect(type).toMatch(/^text\/event-stream/);
    const frames = sseFrames(text);
    expect(frames.map((it) => it.id)).toEqual(['1', '2', '3', '4']);
    expect(frames[0]?.data).toMatchObject({ jsonrpc: '2.0', id: 7, result: { task: {} } });
    expect(frames[2]?.data).toMatchObject({ result: { artifactUpdate: { artifact: { parts: [{ text: 'hi' }] } } } });
  });

  it('resumes after Last-Event-ID or since', async () => {
    const { result } = (await call('SendMessage', textRequest('hi'))).json();
    const params = { id: result.task.id };
    const byHeader = await stream('SubscribeToTask', params, { ...V1, 'last-event-id': '2' });
    expect(sseFrames(byHeader.text).map((it) => it.id)).toEqual(['2', '3', '4']);
    const byQuery = await stream('SubscribeToTask', params, V1, '/a2a?since=3');
    expect(sseFrames(byQuery.text).map((it) => it.id)).toEqual(['3', '4']);
    expect(await errorOf(call('SubscribeToTask', params))).toMatchObject({ code: -32004, statusCode: 200 });
    expect(await errorOf(call('SubscribeToTask', params, { ...V1, 'last-event-id': 'x' }))).toMatchObject({
      code: -32602,
    });
  });

  it('names a cursor beyond the last event as it was sent', async () => {
    const { result } = (await call('SendMessage', textRequest('hi'))).json();
    const params = { id: result.task.id };
    const byHeader = await errorOf(call('SubscribeToTask', params, { ...V1, 'last-event-id': '99' }));
    expect(byHeader).toMatchObject({ message: "Last-Event-ID: is beyond the task's last event, 4" });
    const { text } = await stream('SubscribeToTask', params, V1, '/a2a?since=99');
    expect(text).toContain('"message":"since: is beyond');
  });

  it('refuses a stream with a plain error', async () => {
    const response = await call('SendStreamingMessage', textRequest('hi', { taskId: 'nope' }));
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    expect(response.json()).toMatchObject({ id: 7, error: { code: -32001 } });
  });

  it('refuses a stream of the SDK for Go with an event, as that SDK reads nothing else', async () => {
    const go = { ...V1, accept: 'text/event-stream', 'user-agent': 'Go-http-client/1.1' };
    const response = await call('SendStreamingMessage', textRequest('hi', { taskId: 'nope' }), go);
    expect(response.headers['content-type']).toBe('text/event-stream');
    const [, data = ''] = /^data: (.*)\n\n$/.exec(response.body) ?? [];
    expect(JSON.parse(data)).toMatchObject({ id: 7, error: { code: -32001 } });
    const { accept: _, ...plain } = go;
    expect((await call('GetTask', { id: 'nope' }, plain)).json()).toMatchObject({ error: { code: -32001 } });
  });

  it.each([
    ['CreateTaskPushNotificationConfig', { taskId: 't', url: 'http://a' }, -32003],
    ['GetTaskPushNotificationConfig', { taskId: 't', id: 'c' }, -32003],
    ['ListTaskPushNotificationConfigs', { taskId: 't' }, -32003],
    ['DeleteTaskPushNotificationConfig', { taskId: 't', id: 'c' }, -32003],
    ['GetExtendedAgentCard', undefined, -32004],
  ])('says that %s is not offered', async (method, params, code) => {
    expect(await errorOf(call(method, params))).toMatchObject({ statusCode: 200, id: 7, code });
  });
});

describe('errors of the JSON-RPC binding', () => {
  it.each<[string, string, unknown, number]>([
    ['no JSON', '{"jsonrpc"', null, -32700],
    ['an empty body', '', null, -32700],
    ['a batch', '[]', null, -32600],
    ['a batch of one', '[{"jsonrpc":"2.0","id":1,"method":"GetTask"}]', null, -32600],
    ['a number', '5', null, -32600],
    ['null', 'null', null, -32600],
    ['a notification', '{"jsonrpc":"2.0","method":"ListTasks"}', null, -32600],
    ['a null id', '{"jsonrpc":"2.0","id":null,"method":"ListTasks"}', null, -32600],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"ListTasks"}', null, -32600],
    ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":"x","method":"ListTasks"}', 'x', -32600],
    ['a method that is no text', '{"jsonrpc":"2.0","id":3,"method":5}', 3, -32600],
    ['an unknown method', '{"jsonrpc":"2.0","id":3,"method":"toString"}', 3, -32601],
    ['a method of 0.3 under 1.0', '{"jsonrpc":"2.0","id":3,"method":"message/send"}', 3, -32601],
    ['params by position', '{"jsonrpc":"2.0","id":3,"method":"ListTasks","params":[1]}', 3, -32602],
    ['params that are text', '{"jsonrpc":"2.0","id":3,"method":"ListTasks","params":"x"}', 3, -32602],
  ])('refuses %s', async (_what, payload, id, code) => {
    const error = await errorOf(post('/a2a/workflows/echo', payload));
    expect(error).toMatchObject({ statusCode: 200, id, code });
    expect(error.data[0]).toMatchObject({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo' });
  });

  it('names the fields at fault', async () => {
    const tasks = server.store.size;
    const error = await errorOf(call('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [] } }));
    expect(error).toMatchObject({ code: -32602, id: 7 });
    expect(error.data).toContainEqual({
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: [{ field: 'message.parts', description: 'must have at least one entry' }],
    });
    expect(server.store.size).toBe(tasks);
  });

  it('answers a body that is too large with 413 and another content type with 415', async () => {
    const large = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { x: 'x'.repeat(70_000) } };
    expect(await errorOf(post('/a2a/workflows/echo', large))).toMatchObject({
      statusCode: 413,
      id: null,
      code: -32600,
    });
    const text = { 'content-type': 'text/plain', 'a2a-version': '1.0' };
    expect(await errorOf(post('/a2a/workflows/echo', '{}', text))).toMatchObject({
      statusCode: 415,
      id: null,
      code: -32600,
    });
  });

  it.each<[string | undefined, string, number | undefined]>([
    ['1.0', 'ListTasks', undefined],
    ['1.0.1', 'ListTasks', undefined],
    [' 1.0 ', 'ListTasks', undefined],
    [undefined, 'ListTasks', -32009],
    ['', 'ListTasks', -32009],
    ['0.3', 'ListTasks', -32009],
    ['0.3', 'no/such/thing', -32601],
    ['1.1', 'ListTasks', -32009],
    ['2.0', 'nothing', -32009],
    ['1', 'ListTasks', -32009],
    ['latest', 'ListTasks', -32009],
    [undefined, 'message/send', -32602],
    ['0.3.0', 'message/send', -32602],
    ['1.0', 'message/send', -32601],
    [undefined, 'nothing', -32601],
  ])('version %p with %s', async (version, method, code) => {
    const headers = version === undefined ? JSON_TYPE : { ...JSON_TYPE, 'a2a-version': version };
    expect((await call(method, {}, headers)).json().error?.code).toBe(code);
  });

  it('takes the version from the query too', async () => {
    expect((await call('ListTasks', {}, JSON_TYPE, '/a2a?A2A-Version=1.0')).json()).toHaveProperty('result');
  });

  it.each(['/a2a/workflows/nope', '/a2a/workflows/flow/nodes/nope', '/a2a/workflows/a%2Fb', '/a2a/workflows/%00'])(
    'has no agent at %s',
    async (url) => {
      const error = await errorOf(call('SendMessage', {}, V1, url));
      expect(error).toMatchObject({ statusCode: 200, code: -32001 });
      expect(error.data[0]).toMatchObject({ domain: 'parley', reason: expect.stringMatching(/_NOT_FOUND$/) });
    },
  );

  it('tells HTTP that the service is shutting down', async () => {
    server.handler.listTasks = () =>
      Promise.reject(new A2AError('INTERNAL', { message: 'Shutting down', status: 503 }));
    const error = await errorOf(call('ListTasks', {}));
    Reflect.deleteProperty(server.handler, 'listTasks');
    expect(error).toMatchObject({ statusCode: 503, id: 7, code: -32603, message: 'Shutting down' });
    expect(error.data[0]).toMatchObject({ reason: 'UNAVAILABLE', domain: 'parley' });
  });

  it('shows nothing of what went wrong inside', async () => {
    const log = capturedLog();
    server.handler.listTasks = () => Promise.reject(new Error('password=hunter2'));
    const response = await call('ListTasks', {});
    Reflect.deleteProperty(server.handler, 'listTasks');
    expect(response.json().error).toMatchObject({ code: -32603, message: 'Internal error' });
    expect(response.payload).not.toContain('hunter2');
    expect(log).toContainEqual(expect.arrayContaining([{ err: new Error('password=hunter2') }]));
  });
});

describe('the founding dialect', () => {
  const alias = '/a2a/nodes/copy';
  const params = { message: { role: 'user', parts: [{ type: 'text', text: 'hi', mimeType: 'text/plain' }] } };

  it.each(['a2a.sendMessage', 'SendMessage'])('answers %s on the alias of a node in the old shapes', async (method) => {
    const { result } = (await call(method, params, JSON_TYPE, alias)).json();
    const parts = [{ type: 'text', text: 'hi', mimeType: 'text/plain' }];
    expect(result).toMatchObject({ status: 'completed', artifacts: [{ index: 0, parts }] });
    expect(result.id).toMatch(/^task-[0-9a-f]{16}$/);
    expect(result.messages).toEqual([
      { role: 'user', parts },
      { role: 'agent', parts },
    ]);
  });

  it('tells an executor’s error as a failed task', async () => {
    const { result } = (await call('a2a.sendMessage', params, JSON_TYPE, '/a2a/nodes/broken')).json();
    expect(result).toMatchObject({
      status: 'failed',
      messages: [{}, { role: 'agent', parts: [{ text: 'Error: The agent failed.' }] }],
    });
    expect(JSON.stringify(result)).not.toContain('secret');
  });

  it('carries a conversation on', async () => {
    const url = '/a2a/nodes/question';
    const { result: first } = (await call('a2a.sendMessage', params, JSON_TYPE, url)).json();
    expect(first.status).toBe('input-required');
    const next = { message: { ...params.message, taskId: first.id, contextId: first.contextId } };
    const { result: second } = (await call('a2a.sendMessage', next, JSON_TYPE, url)).json();
    expect(second).toMatchObject({ id: first.id, status: 'completed', messages: { length: 4 } });
  });

  it('speaks 1.0 on the alias to those who say so', async () => {
    const { result } = (await call('SendMessage', textRequest('hi'), V1, alias)).json();
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('is its method everywhere, and SendMessage without a version there alone', async () => {
    const { result } = (await call('a2a.sendMessage', params, JSON_TYPE)).json();
    expect(result).toMatchObject({ status: 'completed', artifacts: [{ index: 0, parts: params.message.parts }] });
    expect(await errorOf(call('SendMessage', params, JSON_TYPE))).toMatchObject({ code: -32009 });
  });

  it.each([
    ['nope', 'node "nope" not registered', 'NODE_NOT_FOUND'],
    ['strange', 'no executor for node type "strange"', 'NO_EXECUTOR'],
    ['a%20b', 'node "a b" not registered', 'NODE_NOT_FOUND'],
  ])('says what is wrong with node %s', async (node, message, reason) => {
    const error = await errorOf(call('a2a.sendMessage', {}, JSON_TYPE, `/a2a/nodes/${node}`));
    expect(error).toMatchObject({
      statusCode: 200,
      id: 7,
      code: -32001,
      message,
      data: [{ reason, domain: 'parley' }],
    });
  });

  it('has its own error texts', async () => {
    expect(await errorOf(post(alias, '{', JSON_TYPE))).toMatchObject({ code: -32700, message: 'Parse error' });
    expect(await errorOf(call('nothing', {}, JSON_TYPE, alias))).toMatchObject({
      code: -32601,
      message: 'Method not found',
    });
    const invalid = await errorOf(call('a2a.sendMessage', { message: 5 }, JSON_TYPE, alias));
    expect(invalid).toMatchObject({ code: -32602, message: 'Invalid params' });
  });
});

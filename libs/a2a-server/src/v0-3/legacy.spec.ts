import { RESUMABLE_STREAMS } from '../extensions.js';
import { type FakeServer, fakeServer, fetchAll, sseFrames } from '../testing/fake-server.js';
import { textRequest } from '../testing/fake-service.js';

let server: FakeServer;

beforeAll(() => {
  server = fakeServer();
});

afterAll(() => server.app.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const said = (text: string, fields: object = {}) => ({
  message: { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text }], ...fields },
});
const saidOverRest = (text: string) => ({ message: { messageId: 'm', role: 'ROLE_USER', content: [{ text }] } });

async function call(method: string, params: unknown, headers: object = JSON_TYPE, url = '/a2a/workflows/echo') {
  const payload = { jsonrpc: '2.0', id: 7, method, params };
  return server.app.inject({ method: 'POST', url, headers: { ...headers }, payload });
}

async function rest(method: 'GET' | 'POST' | 'DELETE', url: string, payload?: unknown, headers: object = {}) {
  const body = payload === undefined ? {} : { payload: payload as object };
  return server.app.inject({ method, url, headers: { ...(payload !== undefined && JSON_TYPE), ...headers }, ...body });
}

describe('JSON-RPC of A2A 0.3', () => {
  it.each(['', '0.3', '0.3.0'])('is what version %p means', async (version) => {
    const { result } = (await call('message/send', said('hi'), { ...JSON_TYPE, 'a2a-version': version })).json();
    expect(result).toMatchObject({ kind: 'task', status: { state: 'completed' } });
    expect(result.artifacts[0].parts).toEqual([{ kind: 'text', text: 'hi' }]);
    expect((await call('tasks/get', { id: result.id, historyLength: 0 })).json().result).not.toHaveProperty('history');
  });

  it('streams with the sequence as id, and ends with a status that is final', async () => {
    const body = { jsonrpc: '2.0', id: 7, method: 'message/stream', params: said('hi') };
    const { text } = await fetchAll(server, '/a2a/workflows/echo', { method: 'POST', body });
    const frames = sseFrames(text) as { id: string; data: { id: number; result: { kind: string; final?: boolean } } }[];
    expect(frames.map(({ id, data }) => [id, data.id, data.result.kind, data.result.final])).toEqual([
      ['1', 7, 'task', undefined],
      ['2', 7, 'status-update', false],
      ['3', 7, 'artifact-update', undefined],
      ['4', 7, 'status-update', true],
    ]);
  });

  it('resumes a stream after Last-Event-ID, as 1.0 does', async () => {
    const { result } = (await call('message/send', said('hi'))).json();
    const body = { jsonrpc: '2.0', id: 7, method: 'tasks/resubscribe', params: { id: result.id } };
    const headers = { 'last-event-id': '2' };
    const { text } = await fetchAll(server, '/a2a/workflows/echo', { method: 'POST', headers, body });
    expect(sseFrames(text).map(({ id }) => id)).toEqual(['2', '3', '4']);
  });

  it.each([
    ['message/send', {}, -32602],
    ['message/send', null, -32602],
    ['message/send', said('x', { parts: [{ kind: 'video' }] }), -32602],
    ['message/send', said('x', { role: 'agent' }), -32602],
    ['message/stream', said('x', { taskId: 'nope' }), -32001],
    ['tasks/get', { id: 'nope' }, -32001],
    ['tasks/get', { id: 5 }, -32602],
    ['tasks/cancel', { id: 'nope' }, -32001],
    ['tasks/resubscribe', { id: 'nope' }, -32001],
    ['tasks/list', {}, -32601],
    ['agent/getAuthenticatedExtendedCard', undefined, -32007],
    ['tasks/pushNotificationConfig/set', { taskId: 't', pushNotificationConfig: { url: 'http://a' } }, -32003],
    ['tasks/pushNotificationConfig/get', { id: 't', pushNotificationConfigId: 'c' }, -32003],
    ['tasks/pushNotificationConfig/list', { id: 't' }, -32003],
    ['tasks/pushNotificationConfig/delete', { id: 't', pushNotificationConfigId: 'c' }, -32003],
  ])('%s %j is error %d', async (method, params, code) => {
    const response = await call(method, params);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toMatchObject({ id: 7, error: { code, message: expect.any(String) } });
  });

  it.each([
    ['message/stream', said('x', { taskId: 'nope' }), -32001],
    ['tasks/resubscribe', { id: 'nope' }, -32001],
    ['message/stream', {}, -32602],
  ])('answers a refused %s %j as an event to a reader of events', async (method, params, code) => {
    const response = await call(method, params, { ...JSON_TYPE, accept: 'text/event-stream' });
    expect(response.headers['content-type']).toBe('text/event-stream');
    const [frame] = sseFrames(response.body) as { data: { id: number; error: { code: number } } }[];
    expect(frame?.data).toMatchObject({ id: 7, error: { code } });
  });

  it('answers other refused calls as JSON, whatever the client accepts', async () => {
    const response = await call('tasks/get', { id: 'nope' }, { ...JSON_TYPE, accept: 'text/event-stream' });
    expect(response.json().error.code).toBe(-32001);
  });

  it('reads and writes 0.3’s own header of extensions', async () => {
    const headers = { ...JSON_TYPE, 'x-a2a-extensions': `urn:other, ${RESUMABLE_STREAMS}` };
    const response = await call('message/send', said('hi'), headers);
    expect(response.headers['x-a2a-extensions']).toBe(RESUMABLE_STREAMS);
  });

  it('is spoken on the alias of a node too, beside the founding dialect', async () => {
    const { result } = (await call('message/send', said('hi'), JSON_TYPE, '/a2a/nodes/copy')).json();
    expect(result).toMatchObject({ kind: 'task', status: { state: 'completed' } });
  });
});

type Violation = { field: string; description: string };
const violationsOf = (details: { fieldViolations?: Violation[] }[]): [string, string][] =>
  (details.find((it) => it.fieldViolations)?.fieldViolations ?? []).map((it) => [it.field, it.description]);
const KINDS = 'must be of the kind text, data or file, with its text, its data, or the bytes or the uri of its file';

describe('errors of JSON-RPC of A2A 0.3', () => {
  it.each<[string, object, [string, string][]]>([
    ['message/send', said('x', { role: 'x' }), [['message.role', 'must be user']]],
    ['message/stream', said('x', { role: 'x' }), [['message.role', 'must be user']]],
    ['message/send', said('x', { role: undefined }), [['message.role', 'is required']]],
    ['message/send', said('x', { parts: [{ text: 'x' }] }), [['message.parts[0]', KINDS]]],
    [
      'message/send',
      said('x', {
        parts: [
          { kind: 'file', file: { bytes: '%', mimeType: 5, name: 5 } },
          { kind: 'file', file: { uri: '' } },
        ],
      }),
      [
        ['message.parts[0].file.bytes', 'must be base64'],
        ['message.parts[0].file.mimeType', 'must be a string'],
        ['message.parts[0].file.name', 'must be a string'],
        ['message.parts[1].file.uri', 'must not be empty'],
      ],
    ],
    [
      'message/send',
      {
        ...said('x'),
        configuration: { blocking: 'x', pushNotificationConfig: { url: 5, authentication: { schemes: [5] } } },
      },
      [
        ['configuration.pushNotificationConfig.url', 'must be a string'],
        ['configuration.pushNotificationConfig.authentication.schemes[0]', 'must be a string'],
        ['configuration.blocking', 'must be a boolean: true or false'],
      ],
    ],
    ['tasks/pushNotificationConfig/set', { taskId: 't' }, [['pushNotificationConfig.url', 'is required']]],
    ['tasks/pushNotificationConfig/get', {}, [['id', 'is required']]],
    [
      'tasks/pushNotificationConfig/get',
      { id: 't', pushNotificationConfigId: 5 },
      [['pushNotificationConfigId', 'must be a string']],
    ],
    ['tasks/pushNotificationConfig/list', {}, [['id', 'is required']]],
    ['tasks/pushNotificationConfig/delete', { id: 't' }, [['pushNotificationConfigId', 'is required']]],
  ])('%s %j names what its caller has sent', async (method, params, violations) => {
    const { error } = (await call(method, params)).json();
    expect(violationsOf(error.data.details)).toEqual(violations);
    expect(error.message).toBe(violations.map((it) => it.join(': ')).join('; '));
  });
});

describe('errors of HTTP+JSON of A2A 0.3', () => {
  it.each<[string, object, [string, string][]]>([
    [
      'message:send',
      { message: { messageId: 'm', role: 'user', content: [{ text: 'x' }] } },
      [['message.role', 'must be ROLE_USER']],
    ],
    [
      'message:send',
      {
        message: {
          messageId: 'm',
          role: 'ROLE_USER',
          content: [{}, { file: { fileWithBytes: '%' } }, { file: { fileWithUri: '' } }],
        },
        configuration: { blocking: 5, pushNotification: { url: 5 } },
      },
      [
        ['message.content[0]', 'must have exactly one of text, file (with fileWithBytes or fileWithUri) and data'],
        ['message.content[1].file.fileWithBytes', 'must be base64'],
        ['message.content[2].file.fileWithUri', 'must not be empty'],
        ['configuration.pushNotification.url', 'must be a string'],
        ['configuration.blocking', 'must be a boolean: true or false'],
      ],
    ],
    ['message:stream', { message: { messageId: 'm', role: 'ROLE_USER' } }, [['message.content', 'is required']]],
    ['tasks/t/pushNotificationConfigs', { config: {} }, [['pushNotificationConfig.url', 'is required']]],
  ])('%s %j names what its caller has sent', async (path, body, violations) => {
    const { data, message } = (await rest('POST', `/a2a/workflows/echo/v1/${path}`, body)).json();
    expect(violationsOf(data.details)).toEqual(violations);
    expect(message).toBe(violations.map((it) => it.join(': ')).join('; '));
  });
});

describe('HTTP+JSON of A2A 0.3', () => {
  const base = '/a2a/workflows/echo/v1';

  it('sends, gets and lists in the shapes of its schema', async () => {
    const response = await rest('POST', `${base}/message:send`, saidOverRest('hi'));
    expect(response.headers['content-type']).toMatch(/^application\/json/);
    const { task } = response.json();
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, artifacts: [{ parts: [{ text: 'hi' }] }] });
    expect(task.history[0].content).toEqual([{ text: 'hi' }]);
    expect((await rest('GET', `${base}/tasks/${task.id}?historyLength=0`)).json()).not.toHaveProperty('history');
    const { tasks } = (await rest('GET', `${base}/tasks`)).json();
    expect(tasks.map(({ id }: { id: string }) => id)).toContain(task.id);
  });

  it('takes and answers files as the SDK of the client encodes them', async () => {
    const file = Buffer.from('\0\xff the bytes', 'latin1').toString('base64');
    const twice = Buffer.from(file).toString('base64');
    const send = async (fileWithBytes: string, agent: string) => {
      const message = {
        messageId: 'm',
        role: 'ROLE_USER',
        content: [{ file: { fileWithBytes, mimeType: 'text/plain' } }],
      };
      const { task } = (await rest('POST', `${base}/message:send`, { message }, { 'user-agent': agent })).json();
      return { id: task.id as string, answered: task.history[0].content[0].file.fileWithBytes as string };
    };
    const stored = ({ id }: { id: string }) =>
      rest('GET', `/a2a/workflows/echo/tasks/${id}`, undefined, { 'a2a-version': '1.0' });
    for (const [encoded, agent] of [
      [file, 'node'],
      [twice, 'python-httpx/0.28.1'],
    ] as const) {
      const task = await send(encoded, agent);
      expect(task.answered).toBe(encoded);
      expect((await stored(task)).json().history[0].parts[0].raw).toBe(file);
      const headers = { 'user-agent': agent, 'last-event-id': '0' };
      const { text } = await fetchAll(server, `${base}/tasks/${task.id}:subscribe`, { method: 'POST', headers });
      expect(text).toContain(encoded);
    }
  });

  it.each(['POST', 'GET'])('subscribes by %s', async (method) => {
    const { task } = (await rest('POST', `${base}/message:send`, saidOverRest('hi'))).json();
    const headers = { 'last-event-id': '3' };
    const { text } = await fetchAll(server, `${base}/tasks/${task.id}:subscribe`, { method, headers });
    expect(sseFrames(text).map(({ data }) => Object.keys(data as object))).toEqual([['task'], ['statusUpdate']]);
  });

  it.each<['GET' | 'POST' | 'DELETE', string, unknown, number, number]>([
    ['POST', '/message:send', {}, 400, -32602],
    ['POST', '/message:send', [], 400, -32602],
    ['POST', '/message:send', '{', 400, -32700],
    ['GET', '/tasks/nope', undefined, 404, -32001],
    ['POST', '/tasks/nope:cancel', undefined, 404, -32001],
    ['POST', '/tasks/nope:subscribe', undefined, 404, -32001],
    ['GET', '/card', undefined, 400, -32007],
    [
      'POST',
      '/tasks/t/pushNotificationConfigs',
      { config: { pushNotificationConfig: { url: 'http://a' } } },
      400,
      -32003,
    ],
    ['GET', '/tasks/t/pushNotificationConfigs', undefined, 400, -32003],
    ['DELETE', '/tasks/t/pushNotificationConfigs/c', undefined, 400, -32003],
  ])('%s %s %j is %d with the number %d', async (method, path, body, status, code) => {
    const response = await rest(method, `${base}${path}`, body);
    expect(response.statusCode).toBe(status);
    expect(response.json()).toMatchObject({
      code,
      message: expect.any(String),
      data: { details: expect.arrayContaining([expect.objectContaining({ reason: expect.any(String) })]) },
    });
  });

  it.each([
    ['GET', '/a2a/v1/frob'],
    ['GET', '/a2a/conversations/v1/frob'],
    ['GET', '/a2a/workflows/echo/v1/frob?x=1'],
    ['DELETE', '/a2a/workflows/flow/nodes/copy/v1/tasks/t/frob'],
    ['GET', '/a2a/nodes/copy/v1'],
    ['POST', '/a2a/workflows/echo/v1/tasks/t'],
  ] as const)('%s %s, which is no route, is an error of 0.3, and of 1.0 to its callers', async (method, url) => {
    const unknown = await rest(method, url);
    expect([unknown.statusCode, unknown.json()]).toEqual([
      404,
      {
        type: 'MethodNotFoundError',
        code: -32601,
        message: 'No such route',
        data: { details: [expect.objectContaining({ reason: 'METHOD_NOT_FOUND' })] },
      },
    ]);
    const current = await rest(method, url, undefined, { 'a2a-version': '1.0' });
    expect([current.statusCode, current.json().error.status]).toEqual([404, 'UNIMPLEMENTED']);
  });

  it('names its errors as the SDK for Python does', async () => {
    const answers = [
      await rest('GET', `${base}/tasks/nope`),
      await rest('POST', `${base}/message:send`, { message: {} }),
      await rest('GET', `${base}/tasks/t/pushNotificationConfigs`),
    ];
    expect(answers.map((it) => it.json().type)).toEqual([
      'TaskNotFoundError',
      'InvalidParamsError',
      'PushNotificationNotSupportedError',
    ]);
  });

  it('leaves a route that nobody has elsewhere to 1.0', async () => {
    for (const url of ['/a2a/frob', '/a2a/workflows/v1/nodes/frob/x', '/a2a/workflows/echo/frob/v1']) {
      expect((await rest('GET', url)).json().error.status).toBe('UNIMPLEMENTED');
    }
  });

  it('begins with v1; to a caller of 1.0 that is a tenant', async () => {
    const V1 = { 'a2a-version': '1.0' };
    const sent = await rest('POST', `${base}/message:send`, textRequest('hi'), V1);
    expect(sent.json()).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    expect((await rest('GET', `${base}/card`, undefined, V1)).json().error.details[0].reason).toBe('METHOD_NOT_FOUND');
    const elsewhere = await rest('POST', '/a2a/workflows/echo/v2/message:send', saidOverRest('hi'));
    expect(elsewhere.json().error.details[0].reason).toBe('VERSION_NOT_SUPPORTED');
  });
});

describe('POST /send-message in the words of 0.3', () => {
  const send = (body: object, base = '/a2a/workflows/echo') => rest('POST', `${base}/send-message`, body);
  const hello = { role: 'user', parts: [{ kind: 'text', text: 'hi' }] };

  it.each([
    ['kind', hello],
    ['type', { role: 'user', parts: [{ type: 'text', text: 'hi', mimeType: 'text/plain' }] }],
    ['a role alone', { role: 'user', parts: [{ text: 'hi' }] }],
    ['kind without a role', { parts: [{ kind: 'text', text: 'hi' }], messageId: 'msg-1' }],
  ])('answers with the Task itself, by %s', async (_words, message) => {
    const response = await send({ message });
    expect(response.statusCode).toBe(200);
    const task = response.json();
    expect(task).toMatchObject({ kind: 'task', taskId: task.id, status: { state: 'completed' } });
    expect(task.artifacts[0].parts).toEqual([{ kind: 'text', text: 'hi' }]);
    expect(task.history[0]).toMatchObject({ role: 'user', parts: [{ kind: 'text', text: 'hi' }] });
  });

  it.each(['/a2a', '/a2a/workflows/echo', '/a2a/workflows/flow/nodes/copy', '/a2a/nodes/copy'])(
    'takes texts, data and files by kind and by type at %s',
    async (base) => {
      const file = { name: 'a.txt', mimeType: 'text/plain', bytes: 'aGk=' };
      const linked = { mimeType: 'text/plain', uri: 'https://files.example/a.txt' };
      const contents = [{ text: 'hi' }, { data: { n: 1 } }, { file }, { file: linked }];
      const named = contents.map((content) => ({ kind: Object.keys(content)[0], ...content }));
      const typed = named.map(({ kind, ...content }) => ({ type: kind, ...content }));
      for (const parts of [named, typed]) {
        const response = await send({ message: { role: 'user', parts, metadata: { skillId: 'echo' } } }, base);
        expect(response.json()).toMatchObject({ kind: 'task', history: [{ role: 'user', parts: named }] });
      }
    },
  );

  it('takes ids that are null for none, inside the Message and beside it', async () => {
    const ids = { contextId: null, taskId: null };
    const task = (await send({ message: { ...hello, ...ids }, ...ids })).json();
    const next = (await send({ message: { ...hello, contextId: null }, contextId: task.contextId })).json();
    expect([task.status.state, next.contextId]).toEqual(['completed', task.contextId]);
    expect(next.id).not.toBe(task.id);
  });

  it('leaves other Messages to 1.0', async () => {
    // What differs from one Task to the next: ids and times.
    const withoutIds = ({ body }: { body: string }): string =>
      body.replaceAll(/"(id|contextId|taskId|messageId|timestamp)":"[^"]*"/g, '"$1":""');
    const body = textRequest('hi');
    const current = withoutIds(await rest('POST', '/a2a/workflows/echo/message:send', body, { 'a2a-version': '1.0' }));
    expect(JSON.parse(current)).toMatchObject({ task: { status: { state: 'TASK_STATE_COMPLETED' } } });
    for (const message of ['hi', { parts: [{ text: 'hi' }] }, { role: 'ROLE_USER', parts: [{ text: 'hi' }] }])
      expect(withoutIds(await send({ message }))).toBe(current);
  });

  it.each([
    [{ message: { ...hello, role: 'agent' } }, 'message.role: must be user'],
    [{ message: { ...hello, role: 'ROLE_USER' } }, 'message.role) and a Part of 0.3 (message.parts, kind)'],
    [{ message: { ...hello, contextId: 'a' }, contextId: 'b' }, 'contextId: differs from message.contextId'],
    [{ message: { ...hello, task_id: 'a' }, taskId: 'b' }, 'taskId: differs from message.taskId'],
    [{ message: { ...hello, parts: [{ kind: 'video' }] } }, 'message.parts[0]'],
  ])('refuses %j', async (body, text) => {
    const response = await send(body);
    expect([response.statusCode, response.json().message]).toEqual([400, expect.stringContaining(text)]);
  });

  it('answers in the errors of 0.3', async () => {
    const response = await send({ message: hello, taskId: 'nope' });
    expect([response.statusCode, response.json()]).toMatchObject([404, { code: -32001 }]);
    expect((await send({ message: hello }, '/a2a/workflows/nobody')).statusCode).toBe(404);
  });
});

import type { JsonObject } from '#libs/protocol';
import { blamedFields, detail, rest, rpc, sendParams, sendTask } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, unique } from '../support/workflow.js';

const stage = useSharedStage();
let base: string;
let counts: Record<string, number>;

beforeAll(async () => {
  const name = unique('errors');
  await stage.api.save({ name, nodes: [echo('echo')], edges: [] });
  base = stage.api.base(name, 'echo');
});

beforeEach(async () => (counts = await stage.database.counts()));
afterEach(async () => expect(await stage.database.counts()).toEqual(counts));

const valid = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };

describe('A2A requests that are refused with the field named, in both bindings, and nothing stored', () => {
  it.each<[string, JsonObject, string[]]>([
    ['no message', {}, ['message']],
    ['a message that is a string', { message: 'hello' }, ['message']],
    ['no messageId', { message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } }, ['message.messageId']],
    ['an empty messageId', { message: { ...valid, messageId: '' } }, ['message.messageId']],
    ['no role', { message: { messageId: 'm', parts: [{ text: 'x' }] } }, ['message.role']],
    ['an unknown role', { message: { ...valid, role: 'user' } }, ['message.role']],
    ['a number as a role', { message: { ...valid, role: [] } }, ['message.role']],
    ['no parts', { message: { messageId: 'm', role: 'ROLE_USER' } }, ['message.parts']],
    ['an empty list of parts', { message: { ...valid, parts: [] } }, ['message.parts']],
    ['parts that are an object', { message: { ...valid, parts: { text: 'x' } } }, ['message.parts']],
    ['a part without content', { message: { ...valid, parts: [{ mediaType: 'text/plain' }] } }, ['message.parts[0]']],
    ['a part with two contents', { message: { ...valid, parts: [{ text: 'x', data: 1 }] } }, ['message.parts[0]']],
    [
      'a text that is a number',
      { message: { ...valid, parts: [{ text: 'ok' }, { text: 5 }] } },
      ['message.parts[1].text'],
    ],
    ['raw that is not base64', { message: { ...valid, parts: [{ raw: '***' }] } }, ['message.parts[0].raw']],
    ['metadata that is a list', { message: { ...valid, metadata: [] } }, ['message.metadata']],
    ['a contextId that is a number', { message: { ...valid, contextId: 5 } }, ['message.contextId']],
    [
      'a negative historyLength',
      { message: valid, configuration: { historyLength: -1 } },
      ['configuration.historyLength'],
    ],
    [
      'a historyLength of words',
      { message: valid, configuration: { historyLength: 'all' } },
      ['configuration.historyLength'],
    ],
    [
      'returnImmediately as a word',
      { message: valid, configuration: { returnImmediately: 'yes' } },
      ['configuration.returnImmediately'],
    ],
    ['two problems at once', { message: { role: 'ROLE_USER', parts: [] } }, ['message.messageId', 'message.parts']],
  ])('%s', async (_what, params, fields) => {
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      const { body, status } = await rpc(base, method, params, { id: 'q' });
      expect(status).toBeLessThan(500);
      expect(body).toMatchObject({ id: 'q', error: { code: -32602, message: expect.any(String) } });
      expect(blamedFields(body.error?.data).sort()).toEqual(fields);
    }
    for (const path of ['/message:send', '/message:stream']) {
      const reply = await rest(base, 'POST', path, { body: params });
      expect(reply).toMatchObject({ status: 400, body: { error: { code: 400, status: 'INVALID_ARGUMENT' } } });
      expect(blamedFields(reply.body.error?.details).sort()).toEqual(fields);
    }
  });

  it.each(['GetTask', 'CancelTask', 'SubscribeToTask'])(
    '%s without an id, or with one that is no string',
    async (method) => {
      for (const params of [{}, { id: 5 }, { id: '' }]) {
        const { body } = await rpc(base, method, params);
        expect(body.error).toMatchObject({ code: -32602 });
        expect(blamedFields(body.error?.data)).toEqual(['id']);
      }
    },
  );
});

describe('the JSON-RPC envelope', () => {
  it.each<[string, unknown, number]>([
    ['not JSON', '{"jsonrpc": "2.0"', -32700],
    ['an empty body', '', -32700],
    ['a string', '"hello"', -32600],
    ['null', 'null', -32600],
    ['an empty object', {}, -32600],
    ['another version', { jsonrpc: '1.0', id: 1, method: 'GetTask', params: { id: 'x' } }, -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, -32600],
    ['a method that is a number', { jsonrpc: '2.0', id: 1, method: 5 }, -32600],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'GetTask', params: { id: 'x' } }, -32600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } }, -32601],
    ['a method of JavaScript', { jsonrpc: '2.0', id: 1, method: 'constructor', params: {} }, -32601],
    ['another method of JavaScript', { jsonrpc: '2.0', id: 1, method: '__proto__', params: {} }, -32601],
  ])('%s', async (_what, body, code) => {
    const reply = await rpc(base, '', undefined, { body });
    expect(reply.status).toBeLessThan(500);
    expect(reply.body).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.any(String) } });
  });

  it('an id comes back as it was sent', async () => {
    for (const id of ['abc', 0, 17, null])
      expect((await rpc(base, 'GetTask', { id: 'nope' }, { id })).body.id).toBe(id);
  });
});

describe('the rest of the error table', () => {
  it.each([
    ['CreateTaskPushNotificationConfig', { taskId: 't', url: 'https://example.com/hook' }],
    ['GetTaskPushNotificationConfig', { taskId: 't', id: 'c' }],
    ['ListTaskPushNotificationConfigs', { taskId: 't' }],
    ['DeleteTaskPushNotificationConfig', { taskId: 't', id: 'c' }],
  ])('%s is PushNotificationNotSupported while the card says so', async (method, params) => {
    const card = (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as {
      capabilities: { pushNotifications?: boolean };
    };
    const { body } = await rpc(base, method, params);
    const supported = card.capabilities.pushNotifications === true;
    expect(body.error?.code).toBe(supported ? -32001 : -32003);
    if (!supported)
      expect(detail(body.error?.data, 'ErrorInfo')).toMatchObject({ reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' });
  });

  it('GetExtendedAgentCard is UnsupportedOperation while the card says so', async () => {
    const { body } = await rpc(base, 'GetExtendedAgentCard');
    expect(body.error).toMatchObject({ code: -32004 });
    const reply = await rest(base, 'GET', '/extendedAgentCard');
    expect(reply.status).toBe(400);
    expect(detail(reply.body.error?.details, 'ErrorInfo')).toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      domain: 'a2a-protocol.org',
    });
  });

  it.each(['0.5', '2.0', '1.1', 'latest'])('A2A-Version %s is VersionNotSupported', async (version) => {
    const overRpc = await rpc(base, 'SendMessage', sendParams('x'), { headers: { 'a2a-version': version } });
    expect(overRpc.body.error).toMatchObject({ code: -32009 });
    expect(detail(overRpc.body.error?.data, 'ErrorInfo')).toMatchObject({
      reason: 'VERSION_NOT_SUPPORTED',
      domain: 'a2a-protocol.org',
    });
    const overRest = await rest(base, 'POST', '/message:send', {
      body: sendParams('x'),
      headers: { 'a2a-version': version },
    });
    expect(overRest).toMatchObject({ status: 400, body: { error: { code: 400, status: 'FAILED_PRECONDITION' } } });
  });

  it('a request without a version is 0.3: it is served as that or refused, but not as 1.0', async () => {
    const { body, status } = await rpc(base, 'GetTask', { id: 'nope' }, { headers: { 'a2a-version': '' } });
    expect(status).toBeLessThan(500);
    expect([-32009, -32601]).toContain(body.error?.code);
  });

  it.each(['/nope', '/message:nope', '/tasks/x:nope', '/tasks/a/b/c'])(
    "REST POST %s is 404 in the protocol's shape",
    async (path) => {
      const reply = await rest(base, 'POST', path, { body: {} });
      expect(reply.status).toBe(404);
      expect(reply.body.error).toMatchObject({ code: 404, message: expect.any(String) });
    },
  );

  it.each(['/a2a/workflows/nope', '/a2a/workflows/nope/nodes/x', '/a2a/nodes/nope'])(
    'an unknown agent %s has no card',
    async (path) => {
      const response = await fetch(`${stage.parley.url}${path}/.well-known/agent-card.json`);
      expect(response.status).toBe(404);
      expect(await response.text()).not.toMatch(/\bat .*\.js:\d+/);
    },
  );
});

describe('version negotiation', () => {
  afterEach(async () => (counts = await stage.database.counts()));

  it.each(['1.0', '1.0.0', '1.0.7'])('A2A-Version %s is 1.0: the patch does not count', async (version) => {
    const { body } = await rpc(base, 'SendMessage', sendParams('x'), { headers: { 'a2a-version': version } });
    expect(body.error).toBeUndefined();
    counts = await stage.database.counts();
  });

  it('the version may come as a request parameter', async () => {
    const { body } = await rpc(base, 'SendMessage', sendParams('x'), {
      headers: { 'a2a-version': '' },
      query: '?A2A-Version=1.0',
    });
    expect(body.error).toBeUndefined();
    counts = await stage.database.counts();
  });

  it('fields that 1.0 does not know are ignored', async () => {
    const { body } = await rpc(base, 'SendMessage', { ...sendParams('x'), future: { a: 1 } });
    expect(body.error).toBeUndefined();
    expect((await sendTask(base, [{ text: 'x', later: true } as never])).status.state).toBe('TASK_STATE_COMPLETED');
    counts = await stage.database.counts();
  });
});

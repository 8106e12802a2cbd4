import { randomUUID } from 'node:crypto';
import { rest, type RpcReply, rpc, sendParams, sendTask, VERSION } from '../support/a2a.js';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { GatewayClient } from '../support/gateway-client.js';
import { useStage } from '../support/stage.js';
import { SseReader } from '../support/sse.js';
import { until } from '../support/until.js';
import { Api, input, linear, output, says, script, unique } from '../support/workflow.js';

const ann = testCaller('ann');
const eve = testCaller('eve');
const stage = useStage({ env: apiKeyEnv(ann, eve) });

let anns: Api;
let eves: Api;
/** A workflow that both may use, a Task of Ann's that waits, one that has ended, and one of a node in it. */
let workflow: string;
let waiting: { id: string; contextId: string };
let ended: { id: string; contextId: string };
let child: string;

beforeAll(async () => {
  anns = new Api(stage.parley.url, ann.headers);
  eves = new Api(stage.parley.url, eve.headers);
  const asks = await anns.save(linear(unique('asks'), input('in'), script('q', { ask: 'Which?' }), output('out')));
  workflow = asks.name;
  waiting = await sendTask(anns.base(workflow), 'hi', { headers: ann.headers });
  const says_ = await anns.save(linear(unique('says'), input('in'), script('s', ...says('yes')), output('out')));
  ended = await sendTask(anns.base(says_.name), 'hi', { headers: ann.headers });
  child = (await anns.run(waiting.id)).nodes.q!.taskId!;
});

/** An answer without what names the request: the id that was asked for, dates, and the address. */
function told(reply: { status: number; headers: Headers; body?: unknown; text?: string }, id: string): unknown {
  const body = reply.text ?? JSON.stringify(reply.body);
  const { date: _date, ...headers } = Object.fromEntries(reply.headers) as Record<string, string>;
  return { status: reply.status, body: body.replaceAll(id, '{id}'), headers };
}

/** Ids that mean something to Ann, by what they are. */
const IDS: [string, () => string][] = [
  ['a Task that waits', () => waiting.id],
  ['a Task that has ended', () => ended.id],
  ['a Task of a node', () => child],
];

/** An id of the same form that nobody has. */
function nobodys(id: string): string {
  return [...id]
    .map((it, index) => (/[0-9a-f]/.test(it) && index > id.length - 8 ? (it === 'f' ? '0' : 'f') : it))
    .join('');
}

type Ask = (base: string, id: string) => Promise<Parameters<typeof told>[0]>;

const rpcAsk =
  (method: string, params: (id: string) => unknown, headers: Record<string, string> = {}): Ask =>
  (base, id): Promise<RpcReply> =>
    rpc(base, method, params(id), { headers: { ...eve.headers, ...headers } });

const restAsk =
  (method: string, path: (id: string) => string, body?: (id: string) => unknown, headers = {}): Ask =>
  (base, id) =>
    rest(base, method, path(id), { headers: { ...eve.headers, ...headers }, ...(body && { body: body(id) }) });

const follow = (id: string, messageId: string) => {
  const params = sendParams('mine now', { fields: { taskId: id, messageId } });
  return params;
};
const MESSAGE_ID = randomUUID();
const push = (id: string) => ({ taskId: id, id: 'c', url: 'https://example.com/hook' });

const METHODS: [string, Ask][] = [
  ['JSON-RPC GetTask', rpcAsk('GetTask', (id) => ({ id }))],
  ['JSON-RPC CancelTask', rpcAsk('CancelTask', (id) => ({ id }))],
  ['JSON-RPC SubscribeToTask', rpcAsk('SubscribeToTask', (id) => ({ id }))],
  ['JSON-RPC SubscribeToTask, resumed', rpcAsk('SubscribeToTask', (id) => ({ id }), { 'last-event-id': '1' })],
  ['JSON-RPC SendMessage', rpcAsk('SendMessage', (id) => follow(id, MESSAGE_ID))],
  [
    'JSON-RPC SendMessage under a key',
    rpcAsk('SendMessage', (id) => follow(id, MESSAGE_ID), { 'idempotency-key': 'k' }),
  ],
  ['JSON-RPC SendStreamingMessage', rpcAsk('SendStreamingMessage', (id) => follow(id, MESSAGE_ID))],
  ['JSON-RPC CreateTaskPushNotificationConfig', rpcAsk('CreateTaskPushNotificationConfig', push)],
  [
    'JSON-RPC GetTaskPushNotificationConfig',
    rpcAsk('GetTaskPushNotificationConfig', (id) => ({ taskId: id, id: 'c' })),
  ],
  ['JSON-RPC ListTaskPushNotificationConfigs', rpcAsk('ListTaskPushNotificationConfigs', (id) => ({ taskId: id }))],
  [
    'JSON-RPC DeleteTaskPushNotificationConfig',
    rpcAsk('DeleteTaskPushNotificationConfig', (id) => ({ taskId: id, id: 'c' })),
  ],
  ['the founding a2a.sendMessage', rpcAsk('a2a.sendMessage', (id) => follow(id, MESSAGE_ID))],
  ['REST GetTask', restAsk('GET', (id) => `/tasks/${id}`)],
  [
    'REST CancelTask',
    restAsk(
      'POST',
      (id) => `/tasks/${id}:cancel`,
      () => ({}),
    ),
  ],
  ['REST SubscribeToTask', restAsk('GET', (id) => `/tasks/${id}:subscribe`)],
  [
    'REST SubscribeToTask by POST',
    restAsk(
      'POST',
      (id) => `/tasks/${id}:subscribe`,
      () => ({}),
    ),
  ],
  [
    'REST SubscribeToTask, resumed',
    restAsk('GET', (id) => `/tasks/${id}:subscribe`, undefined, { 'last-event-id': '1' }),
  ],
  [
    'REST SendMessage',
    restAsk(
      'POST',
      () => '/message:send',
      (id) => follow(id, MESSAGE_ID),
    ),
  ],
  [
    'REST SendStreamingMessage',
    restAsk(
      'POST',
      () => '/message:stream',
      (id) => follow(id, MESSAGE_ID),
    ),
  ],
  [
    'REST /send-message',
    restAsk(
      'POST',
      () => '/send-message',
      (id) => ({ message: 'mine now', taskId: id }),
    ),
  ],
  ['REST create push config', restAsk('POST', (id) => `/tasks/${id}/pushNotificationConfigs`, push)],
  ['REST list push configs', restAsk('GET', (id) => `/tasks/${id}/pushNotificationConfigs`)],
  ['REST get push config', restAsk('GET', (id) => `/tasks/${id}/pushNotificationConfigs/c`)],
  ['REST delete push config', restAsk('DELETE', (id) => `/tasks/${id}/pushNotificationConfigs/c`)],
];

const api =
  (method: string, path: (id: string) => string): Ask =>
  (_base, id) =>
    eves.call(method, path(id));

const API_CALLS: [string, Ask][] = [
  ['GET /api/runs/{id}', api('GET', (id) => `/runs/${id}`)],
  ['GET /api/runs/{id}/events', api('GET', (id) => `/runs/${id}/events`)],
  ['GET /api/runs/{id}/events, resumed', api('GET', (id) => `/runs/${id}/events?since=1`)],
  ['POST /api/runs/{id}/cancel', api('POST', (id) => `/runs/${id}/cancel`)],
];

describe.each(IDS)('%s of another caller', (_what, idOf) => {
  it.each([...METHODS, ...API_CALLS])('is for %s as any id that nobody has', async (_name, ask) => {
    const id = idOf();
    const service = `${stage.parley.url}/a2a`;
    for (const base of [service, anns.base(workflow), anns.base(workflow, 'q'), `${service}/nodes/q`]) {
      const [foreign, unknown] = [await ask(base, id), await ask(base, nobodys(id))];
      expect(told(foreign, id)).toEqual(told(unknown, nobodys(id)));
      expect(JSON.stringify(foreign.body ?? foreign.text)).not.toContain('Which?');
    }
  });
});

describe('what another caller has', () => {
  it('stays as it was', async () => {
    expect((await anns.run(waiting.id)).status).toBe('input-required');
    const own = await rpc(anns.base(workflow), 'GetTask', { id: waiting.id }, { headers: ann.headers });
    expect(own.body.result).toMatchObject({ id: waiting.id, history: [{}, {}] });
  });

  it('is in no list', async () => {
    for (const base of [`${stage.parley.url}/a2a`, anns.base(workflow)]) {
      const { body } = await rpc(base, 'ListTasks', {}, { headers: eve.headers });
      expect(JSON.stringify(body.result)).not.toContain(waiting.contextId);
      const context = { contextId: waiting.contextId };
      expect((await rpc(base, 'ListTasks', context, { headers: eve.headers })).body.result).toMatchObject({
        totalSize: 0,
      });
    }
    expect((await eves.call('GET', '/runs')).text).not.toContain(waiting.id);
    expect((await anns.call('GET', '/runs')).text).toContain(waiting.id);
  });

  it('has its own idempotency keys', async () => {
    const headers = { 'idempotency-key': unique('key') };
    const done = await anns.save(linear(unique('w'), input('in'), output('out')));
    const first = await anns.start(done.name, { in: 'a' }, headers);
    expect(await anns.start(done.name, { in: 'a' }, headers)).toBe(first);
    expect(await eves.start(done.name, { in: 'b' }, headers)).not.toBe(first);
    const params = sendParams('x');
    const send = async (caller: typeof ann): Promise<unknown> =>
      (
        await rpc<{ task: { id: string } }>(anns.base(done.name), 'SendMessage', params, {
          headers: { ...caller.headers, ...headers, 'idempotency-key': 'same' },
        })
      ).body.result?.task.id;
    expect(await send(ann)).toBe(await send(ann));
    expect(await send(eve)).not.toBe(await send(ann));
  });

  it('is in no stream of the gateway, while one’s own is, with all that its runs call', async () => {
    const sse = await SseReader.open<{ taskId?: string; runId?: string }>(
      `${stage.parley.url}/api/events?streams=task,run`,
      {
        headers: eve.headers,
      },
    );
    const socket = await GatewayClient.open(stage.parley.url, { streams: 'task,run' }, { headers: eve.headers });
    const only = await GatewayClient.open(stage.parley.url, { runId: waiting.id }, { headers: eve.headers });
    const done = await anns.save(linear(unique('w'), input('in'), script('s', ...says('x')), output('out')));
    const foreign = await anns.start(done.name, { in: 'a' });
    await anns.ended(foreign);
    const own = await eves.start(done.name, { in: 'b' });
    const run = await eves.ended(own);
    await anns.call('POST', `/runs/${waiting.id}/cancel`);
    const last = await eves.start(done.name, { in: 'c' });
    const isLast = (it: { type?: unknown; runId?: unknown }): boolean => it.type === 'done' && it.runId === last;
    await until(() => socket.events.some(isLast), { what: 'the own runs' });
    await until(() => sse.frames.some(({ data }) => isLast(data)), { what: 'the own runs by SSE' });
    const mine = new Set([own, last]);
    const nodes = new Set(
      [...Object.values(run.nodes), ...Object.values((await eves.ended(last)).nodes)].map((it) => it.taskId),
    );
    expect(nodes.has(undefined)).toBe(false);
    for (const frame of [...socket.events, ...sse.frames.slice(1).map(({ data }) => data)]) {
      expect(mine.has(String(frame.runId ?? frame.taskId)) || nodes.has(String(frame.taskId))).toBe(true);
    }
    for (const id of Object.values(run.nodes)) {
      expect(socket.events.some((it) => it.taskId === id.taskId)).toBe(true);
    }
    expect(only.events).toEqual([]);
    sse.abort();
    await Promise.all([socket.cut(), only.cut()]);
  });

  it('answers no stranger without credentials either', async () => {
    const response = await fetch(`${stage.parley.url}/a2a/tasks/${waiting.id}`, { headers: VERSION });
    const random = await fetch(`${stage.parley.url}/a2a/tasks/${nobodys(waiting.id)}`, { headers: VERSION });
    expect(response.status).toBe(401);
    expect(await response.text()).toBe(await random.text());
  });
});

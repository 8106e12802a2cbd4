import { randomUUID } from 'node:crypto';
import type { Task } from '#libs/protocol';
import { rest, rpc, sendParams, sendTask } from '../../support/a2a.js';
import { GatewayClient } from '../../support/gateway-client.js';
import { SseReader } from '../../support/sse.js';
import type { Ask } from '../../support/stranger.js';
import {
  type Annas,
  SECRET,
  STRANGERS,
  type StrangerStage,
  useStrangers,
  WORLDS,
} from '../../support/stranger-stage.js';
import { until } from '../../support/until.js';
import { type Api, input, linear, output, says, script, unique } from '../../support/workflow.js';

interface Page {
  nextPageToken: string;
}

describe.each(WORLDS)('AUTH_MODE=%s', (mode) => {
  const strangers = useStrangers(mode);
  describe.each([...STRANGERS[mode]])('%s', (other) => crossing(strangers, other));
});

function crossing(strangers: StrangerStage, other: string): void {
  /** An agent of Eve's, under a name that Ann has as well where their tenants differ. */
  let own: string;
  let eve: Api;

  beforeAll(async () => {
    const { ann } = strangers;
    eve = strangers.stranger(other);
    own = unique('own');
    const workflow = linear(own, input('in'), script('s', ...says('mine')), output('out'));
    await eve.save(workflow);
    if (other === 'another tenant') await ann.save(workflow);
    // So that there is more than one page of everything.
    for (const text of ['one', 'two', 'three']) await sendTask(ann.base(own), text, { headers: ann.headers });
  });

  it.each([
    ['/api/runs?pageSize=1', 'runs'],
    ['/a2a/tasks?pageSize=1', 'tasks'],
    ['/a2a/workflows/{own}/tasks?pageSize=1', 'tasks'],
  ])('a page token of another’s %s tells nothing of what is theirs', async (path, what) => {
    const { ann } = strangers;
    const list = async ({ url, headers }: typeof ann, token: string) => {
      const query = `${path.replace('{own}', own)}&pageToken=${token}`;
      const { status, body } = await rest<Page>(url, 'GET', query, { headers });
      expect([query, status]).toEqual([query, 200]);
      return body;
    };
    let token = '';
    const hers: string[] = [];
    do {
      const page = await list(ann, token);
      token = page.nextPageToken;
      hers.push(...idsIn(page));
      if (token !== '')
        expect(await list(eve, token)).toEqual({ ...page, [what]: [], nextPageToken: '', ...totals(page) });
    } while (token !== '');
    expect(hers.length).toBeGreaterThanOrEqual(3);
  });

  it('a cursor of another’s gateway shows nothing that is theirs', async () => {
    const { ann, annas } = strangers;
    const before = await GatewayClient.open(ann.url, { streams: 'task,run,a2a' }, ann);
    const { cursor } = before;
    const theirs = await sendTask(ann.base(own), SECRET, { headers: ann.headers });
    await until(() => before.events.some(({ taskId }) => taskId === theirs.id), { what: 'the event at its owner' });
    const socket = await GatewayClient.open(eve.url, { streams: 'task,run,a2a', since: cursor }, eve);
    const query = new URLSearchParams({ streams: 'task,run,a2a', since: cursor });
    const sse = await SseReader.open(`${eve.url}/api/events?${query.toString()}`, { headers: eve.headers });
    const mine = await sendTask(eve.base(own), 'x', { headers: eve.headers });
    const done = (event: object): boolean => 'taskId' in event && event.taskId === mine.id;
    await until(() => socket.events.some(done), { what: 'the own event' });
    await sse.find(({ data }) => done(data as object));
    const shown = JSON.stringify([socket.frames, sse.frames]);
    expect([theirs.id, theirs.contextId, annas.waiting.id, SECRET].filter((it) => shown.includes(it))).toEqual([]);
    sse.abort();
    await Promise.all([before.cut(), socket.cut()]);
  });

  it('an idempotency key of another’s is a new one, whatever comes with it', async () => {
    const { ann } = strangers;
    const key = { 'idempotency-key': unique('key') };
    const run = await ann.start(own, { in: 'hers' }, key);
    expect(await eve.start(own, { in: 'hers' }, key)).not.toBe(run);
    expect(await ann.start(own, { in: 'hers' }, key)).toBe(run);
    const params = sendParams('the same');
    const another = { 'idempotency-key': unique('key') };
    const send = async ({ headers }: typeof ann, with_ = params) =>
      (await rpc<{ task: Task }>(ann.base(own), 'SendMessage', with_, { headers: { ...headers, ...another } })).body
        .result?.task.id;
    const [first, other] = [await send(ann), await send(eve, sendParams('another one'))];
    expect(new Set([run, first, other, undefined]).size).toBe(4);
    expect(await send(ann)).toBe(first);
  });

  it('a Message with the id of another’s is a new one', async () => {
    const { ann } = strangers;
    const fields = { messageId: randomUUID(), contextId: randomUUID() };
    const hers = await sendTask(ann.base(own), 'x', { headers: ann.headers, fields });
    const mine = await sendTask(eve.base(own), 'x', { headers: eve.headers, fields });
    expect(mine.id).not.toBe(hers.id);
    const { body } = await rpc(eve.base(own), 'ListTasks', { contextId: fields.contextId }, eve);
    expect(idsIn(body.result)).toEqual([mine.id]);
  });

  it('a push config with the id of another’s is one’s own', async () => {
    const { ann, annas } = strangers;
    const mine = await sendTask(eve.base(own), 'x', { headers: eve.headers });
    const config = { taskId: mine.id, id: 'c', url: 'http://127.0.0.1:9/mine' };
    expect((await rpc(`${eve.url}/a2a`, 'CreateTaskPushNotificationConfig', config, eve)).body.error).toBeUndefined();
    const list = await rpc(`${eve.url}/a2a`, 'ListTaskPushNotificationConfigs', { taskId: mine.id }, eve);
    expect(list.body.result).toMatchObject({ configs: [{ id: 'c', url: config.url }] });
    await rpc(`${eve.url}/a2a`, 'DeleteTaskPushNotificationConfig', { taskId: mine.id, id: 'c' }, eve);
    const kept = { taskId: annas.waiting.id, id: 'c' };
    const { body } = await rpc(`${ann.url}/a2a`, 'GetTaskPushNotificationConfig', kept, ann);
    expect(body.result).toMatchObject({ id: 'c', taskId: annas.waiting.id });
  });

  it.each<[string, (annas: Annas) => object]>([
    ['a Task of one agent named at another', ({ waiting }) => ({ taskId: waiting.id })],
    [
      'a context that is another’s, and its Task',
      ({ waiting }) => ({ taskId: waiting.id, contextId: waiting.contextId }),
    ],
  ])('%s is not found, also with a key of one’s own', async (_what, fields) => {
    const { annas } = strangers;
    for (const base of [eve.base(own), `${eve.url}/a2a`]) {
      const params = sendParams('x', { fields: fields(annas) });
      const headers = { ...eve.headers, 'idempotency-key': unique('key') };
      expect((await rpc(base, 'SendMessage', params, { headers })).body.error?.code).toBe(-32001);
    }
  });
}

describe('a workflow of another tenant', () => {
  const strangers = useStrangers('jwt');
  const eve = () => strangers.stranger('another tenant');
  const body = { inputs: {} };

  const api: [method: string, path: string, body?: unknown][] = [
    ['GET', '/workflows/{id}'],
    ['DELETE', '/workflows/{id}'],
    ['POST', '/workflows/{id}/run', body],
    ['POST', '/workflows/{id}/runs', body],
    ['POST', '/conversations', { requester: '{id}', target: '{id}', message: 'x' }],
    ['POST', '/brainstorms', { idea: 'x', agents: [{ agent: '{id}' }, { agent: '{id}' }] }],
  ];
  const rpcs: [method: string, base: string, params: (id: string) => Record<string, unknown>][] = [
    ...['/workflows/{id}', '/workflows/{id}/nodes/q', '/workflows/{id}/nodes/in'].flatMap((base) =>
      ['SendMessage', 'SendStreamingMessage', 'ListTasks', 'GetExtendedAgentCard'].map(
        (method): (typeof rpcs)[number] => [method, base, () => (method.startsWith('Send') ? MESSAGE : {})],
      ),
    ),
    ['SendMessage', '', (id) => ({ message: { ...MESSAGE.message, metadata: { skillId: id } } })],
    ['SendMessage', '', (id) => ({ ...MESSAGE, tenant: `workflows/${id}` })],
    ['ListTasks', '', (id) => ({ tenant: `workflows/${id}` })],
  ];
  const gets = ['/.well-known/agent-card.json', '/.well-known/agent.json', '/tasks', '/extendedAgentCard', '/v1/card'];
  const asks: Ask[] = [
    ...api.map(([method, path, given]) => ({
      name: `${method} /api${path}`,
      ask: (_base: string, id: string) =>
        eve().call(method, path.replace('{id}', id), given && JSON.parse(JSON.stringify(given).replaceAll('{id}', id))),
    })),
    ...rpcs.map(([method, path, params], index) => ({
      name: `${method} at /a2a${path} (${index})`,
      ask: (base: string, id: string) => rpc(`${base}/a2a${path.replace('{id}', id)}`, method, params(id), eve()),
    })),
    ...gets.flatMap((path) =>
      ['', '/nodes/q'].map((node) => ({
        name: `GET /a2a/workflows/{id}${node}${path}`,
        ask: (base: string, id: string) => rest(`${base}/a2a/workflows/${id}${node}`, 'GET', path, eve()),
      })),
    ),
    ...['SendMessage', 'ListTasks', 'GetExtendedAgentCard'].map((operation) => ({
      name: `gRPC ${operation}`,
      ask: async (_base: string, id: string) => {
        const params = operation === 'SendMessage' ? MESSAGE : {};
        const { code, ...told } = await strangers.grpc.refusal(
          `workflows/${id}`,
          operation,
          params as never,
          eve().headers,
        );
        return { status: code, headers: [], text: JSON.stringify(told) };
      },
    })),
  ];

  it.each(asks)('is for $name as one that nobody has', async (ask) => {
    await strangers.expectUnknown({ elsewhere: NOBODY, ...ask }, strangers.ann.url, strangers.workflow);
  });

  it('is there for its own, as it was', async () => {
    const { ann, workflow } = strangers;
    expect((await ann.call('GET', `/workflows/${workflow}`)).body).toMatchObject({ name: workflow });
    const { body: directory } = await rest<{ agents: unknown[] }>(`${strangers.ann.url}/a2a`, 'GET', '/agents', eve());
    expect(JSON.stringify(directory)).not.toContain(workflow);
  });
});

/** Where an agent is named in what is sent, that is what is wrong with it; a list has nothing of it. */
const NOBODY = /there is no agent|workflow \\"\w+\\" not found|names no skill|^\{.*"tasks":\[\]/;

const MESSAGE = { message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'x' }] } };

/** How many there are is said of one's own alone. */
function totals(page: object): object {
  return 'totalSize' in page ? { totalSize: expect.any(Number) as number } : {};
}

/** The ids of the Tasks or runs of an answer. */
function idsIn(page: unknown): string[] {
  const { tasks = [], runs = [] } = page as { tasks?: { id: string }[]; runs?: { runId: string }[] };
  return [...tasks.map(({ id }) => id), ...runs.map(({ runId }) => runId)];
}

import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, type Task } from '#libs/protocol';
import { IDEMPOTENCY, IDEMPOTENCY_KEY } from '#libs/a2a-server';
import {
  detail,
  getTask,
  outline,
  rest,
  rpc,
  type RpcReply,
  sendParams,
  sendTask,
  stream,
  subscribe,
} from '../support/a2a.js';
import { openDatabase } from '../support/postgres.js';
import { type Parley, startParley } from '../support/parley.js';
import { useSharedStage } from '../support/shared-stage.js';
import { ids } from '../support/sse.js';
import { Api, echo, ruled, unique } from '../support/workflow.js';

type Answer = RpcReply<{ task: Task }>;

const stage = useSharedStage();
let second: Parley;
let name: string;
let named: string;
const at = (node: string): string => stage.api.base(name, node);
const elsewhere = (node: string): string => new Api(second.url).base(name, node);

beforeAll(async () => {
  second = await startParley({ databaseUrl: stage.database.url });
  stage.defer(() => second.stop());
  name = unique('once');
  const [ask, slow] = [{ ask: 'more?' }, { sleep: 300 }];
  await stage.api.save({
    name,
    nodes: [
      echo('echo'),
      ruled('asks', [
        { when: { turn: 1 }, steps: [ask] },
        { when: { turn: 2 }, steps: [{ artifact: { parts: [{ text: 'second' }] } }, ask] },
        { when: { turn: 3 }, steps: [{ complete: 'third' }] },
      ]),
      ruled('slow', [
        { when: { turn: 1 }, steps: [ask] },
        { when: { turn: 2 }, steps: [slow, { artifact: { parts: [{ text: 'done' }] } }, { complete: 'done' }] },
      ]),
    ],
    edges: [],
  });
  named = unique('inputs');
  const inputs = ['one', 'two'].map((id) => ({ id, type: 'input' }));
  await stage.api.save({ name: named, nodes: inputs, edges: [] });
});

describe('Idempotency-Key on a follow-up Message', () => {
  it('the same one again is the same turn, also after later turns and at another replica', async () => {
    const { id } = await sendTask(at('asks'), 'go');
    const headers = key();
    const params = sendParams('once', { fields: { taskId: id } });
    const first = await send(at('asks'), params, headers);
    expect(first.body.result?.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await send(at('asks'), params, headers)).body.result).toEqual(first.body.result);
    await sendTask(at('asks'), 'end it', { fields: { taskId: id } });
    for (const base of [at('asks'), elsewhere('asks')]) {
      expect((await send(base, params, headers)).body.result).toEqual(first.body.result);
    }
    const task = await getTask(at('asks'), id);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(3);
  });

  it('many of it at once, at both replicas, are one Message', async () => {
    const { id } = await sendTask(at('slow'), 'go');
    const headers = key();
    const params = sendParams('once', { fields: { taskId: id } });
    const bases = [at('slow'), elsewhere('slow'), at('slow'), elsewhere('slow'), at('slow'), elsewhere('slow')];
    const answers = await Promise.all(bases.map((base) => send(base, params, headers)));
    for (const { body } of answers) expect(body).toMatchObject({ result: { task: { id } } });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.result))).size).toBe(1);
    const task = await getTask(at('slow'), id);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.history?.filter(({ role }) => role === 'ROLE_USER')).toHaveLength(2);
  });

  it('a stream of it is the same stream', async () => {
    const { id } = await sendTask(at('slow'), 'go');
    const headers = key();
    const params = { fields: { taskId: id, messageId: 'same' }, headers };
    const first = await (await stream(at('slow'), 'once', params)).all();
    const again = await (await stream(elsewhere('slow'), 'once', params)).all();
    expect(again.map(({ data }) => outline(data.result))).toEqual(first.map(({ data }) => outline(data.result)));
    expect(ids(again)).toEqual(ids(first));
    expect(ids(await (await subscribe(at('slow'), id, 0)).all()).at(-1)).toBe(ids(first).at(-1));
  });

  it('another Message under the key is a conflict, and is not taken in', async () => {
    const { id } = await sendTask(at('asks'), 'go');
    const headers = key();
    await send(at('asks'), sendParams('once', { fields: { taskId: id } }), headers);
    const before = await getTask(at('asks'), id);
    const other = sendParams('else', { fields: { taskId: id } });
    const refused = await send(at('asks'), other, headers);
    expect(refused.body.error).toMatchObject({ code: -32602 });
    expect(detail(refused.body.error?.data, 'ErrorInfo')).toMatchObject({ reason: 'IDEMPOTENCY_CONFLICT' });
    expect((await rest(at('asks'), 'POST', '/message:send', { headers, body: other })).status).toBe(409);
    expect((await send(at('asks'), sendParams('a new Task'), headers)).body.error).toMatchObject({ code: -32602 });
    expect(await getTask(at('asks'), id)).toEqual(before);
  });

  it('a new key on a Task that has ended is refused as without one', async () => {
    const { id } = await sendTask(at('echo'), 'go');
    const refused = await send(at('echo'), sendParams('x', { fields: { taskId: id } }), key());
    expect(refused.body.error).toMatchObject({ code: -32004 });
  });

  it('members in another order are the same request: of a new Task, of a follow-up, of a run', async () => {
    const metadata = { first: { a: 1, b: [{ c: 2, d: 3 }] }, second: 2 };
    const { id } = await sendTask(at('asks'), 'go');
    for (const [node, fields] of [['echo', {}] as const, ['asks', { taskId: id }] as const]) {
      const headers = key();
      const params = sendParams([{ data: { x: 1, y: { z: 2, w: 3 } } }], { fields: { ...fields, metadata } });
      const first = await send(at(node), params, headers);
      expect(first.body.result?.task.id).toBeDefined();
      expect((await send(elsewhere(node), backwards(params), headers)).body.result).toEqual(first.body.result);
      const { body } = await send(at(node), { ...params, metadata: { first: { ...metadata.first, a: 2 } } }, headers);
      expect(body.error?.message).toContain('IDEMPOTENCY_CONFLICT');
    }
    const headers = key();
    const start = (inputs: JsonObject) => stage.api.call('POST', `/workflows/${named}/runs`, { inputs }, headers);
    const begun = await start({ one: { a: 1, b: 2 }, two: 'x' });
    expect(begun.status).toBe(202);
    expect((await start({ two: 'x', one: { b: 2, a: 1 } })).body).toEqual(begun.body);
  });

  it('a request that an earlier version took in is still the same', async () => {
    const headers = key();
    const params = sendParams('once', { fields: { metadata: { second: 2, first: 1 } } });
    const first = await send(at('echo'), params, headers);
    const earlier = createHash('sha256').update(JSON.stringify(params)).digest('base64url');
    const database = openDatabase(stage.database.url);
    await database.query('UPDATE task_key SET fingerprint = $1 WHERE key = $2', [earlier, headers['idempotency-key']]);
    await database.end();
    expect((await send(elsewhere('echo'), params, headers)).body.result).toEqual(first.body.result);
    const { body } = await send(at('echo'), sendParams('else'), headers);
    expect(body.error?.message).toContain('IDEMPOTENCY_CONFLICT');
  });

  it('a messageId may be used again, where no key says otherwise', async () => {
    const fields = { messageId: 'again' };
    const tasks = [await sendTask(at('echo'), 'x', { fields }), await sendTask(at('echo'), 'x', { fields })];
    expect(tasks[0]?.id).not.toBe(tasks[1]?.id);
  });
});

describe('Idempotency-Key on a Message that was sent without an id', () => {
  const simple = (base: string, body: object, headers: Record<string, string>) =>
    rest<{ task: Task }>(base, 'POST', '/send-message', { headers, body });
  const dialect = (base: string, text: string, headers: Record<string, string>) =>
    rpc<{ id: string }>(
      base,
      'a2a.sendMessage',
      { message: { role: 'user', parts: [{ type: 'text', text }] } },
      { headers },
    );

  it.each([[{ message: 'hi' }], [{ message: { parts: [{ text: 'hi' }] } }]])(
    'the same %j at /send-message is the same Task, also at another replica',
    async (body) => {
      const headers = key();
      const first = await simple(at('echo'), body, headers);
      expect(first.status).toBe(200);
      for (const base of [at('echo'), elsewhere('echo')]) {
        expect((await simple(base, body, headers)).body).toEqual(first.body);
      }
      const refused = await simple(at('echo'), { message: 'something else' }, headers);
      expect(refused.status).toBe(409);
      expect(JSON.stringify(refused.body)).toContain('IDEMPOTENCY_CONFLICT');
    },
  );

  it('a key in the Message itself does the same', async () => {
    const headers = { 'a2a-extensions': IDEMPOTENCY };
    const body = { message: { parts: [{ text: 'hi' }], metadata: { [IDEMPOTENCY_KEY]: unique('key') } } };
    const first = await simple(at('echo'), body, headers);
    expect(first.status).toBe(200);
    expect((await simple(elsewhere('echo'), body, headers)).body).toEqual(first.body);
  });

  it('a follow-up is one turn, and each key has a Message of its own', async () => {
    const { id } = await sendTask(at('asks'), 'go');
    const headers = [key(), key()];
    const answer = { message: 'again', taskId: id };
    const first = await simple(at('asks'), answer, headers[0]!);
    expect((await simple(elsewhere('asks'), answer, headers[0]!)).body).toEqual(first.body);
    expect((await simple(at('asks'), answer, headers[1]!)).body.task.status.state).toBe('TASK_STATE_COMPLETED');
    const said = (await getTask(at('asks'), id)).history?.filter(({ role }) => role === 'ROLE_USER') ?? [];
    expect(new Set(said.map(({ messageId }) => messageId)).size).toBe(3);
  });

  it('without a key nothing is the same', async () => {
    const [one, other] = [
      await simple(at('echo'), { message: 'hi' }, {}),
      await simple(at('echo'), { message: 'hi' }, {}),
    ];
    expect(one.body.task.id).not.toBe(other.body.task.id);
    const ofMessages = [one, other].map(({ body }) => body.task.history?.[0]?.messageId);
    expect(ofMessages[0]).not.toBe(ofMessages[1]);
  });

  it('the same a2a.sendMessage at the alias of a node is the same Task', async () => {
    const node = unique('alias');
    await stage.api.save({ name: unique('aliased'), nodes: [echo(node)], edges: [] });
    const bases = [stage.parley.url, second.url].map((url) => `${url}/a2a/nodes/${node}`);
    const headers = key();
    const first = await dialect(bases[0]!, 'hi', headers);
    expect(first.body.result?.id).toMatch(/^task-/);
    for (const base of bases) expect((await dialect(base, 'hi', headers)).body.result).toEqual(first.body.result);
    const refused = await dialect(bases[0]!, 'something else', headers);
    expect(detail(refused.body.error?.data, 'ErrorInfo')).toMatchObject({ reason: 'IDEMPOTENCY_CONFLICT' });
  });
});

describe('the idempotency extension', () => {
  const active = { 'a2a-extensions': `${IDEMPOTENCY}, urn:unknown` };
  const keyed = (value: string) =>
    sendParams('x', { fields: { messageId: 'm', metadata: { [IDEMPOTENCY_KEY]: value } } });

  it('is declared in every card', async () => {
    for (const base of [`${stage.parley.url}/a2a`, stage.api.base(name), at('echo')]) {
      const card = (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as {
        capabilities: { extensions: { uri: string; description: string }[] };
      };
      const declared = card.capabilities.extensions.find(({ uri }) => uri === IDEMPOTENCY);
      expect(declared?.description).toContain(IDEMPOTENCY_KEY);
    }
  });

  it('takes the key from the Message, and says that it is active, over either binding and in streams', async () => {
    const params = keyed(unique('key'));
    const first = await send(at('echo'), params, active);
    expect(first.headers.get('a2a-extensions')).toBe(IDEMPOTENCY);
    const again = await rest<{ task: Task }>(at('echo'), 'POST', '/message:send', { headers: active, body: params });
    expect(again.headers.get('a2a-extensions')).toBe(IDEMPOTENCY);
    expect(again.body.task).toEqual(first.body.result?.task);
    const streamed = await stream(at('echo'), 'x', { headers: active });
    expect(streamed.response.headers.get('a2a-extensions')).toBe(IDEMPOTENCY);
    await streamed.all();
  });

  it('means nothing to a caller that did not ask for it', async () => {
    const params = keyed(unique('key'));
    const [first, second] = [await send(at('echo'), params), await send(at('echo'), params)];
    expect(first.body.result?.task.id).not.toBe(second.body.result?.task.id);
    expect(first.headers.get('a2a-extensions')).toBeNull();
  });

  it.each([
    ['', {}],
    [5, {}],
    ['two words', {}],
    ['one', { 'idempotency-key': 'other' }],
  ])('refuses %j beside %j, naming the field', async (value, more) => {
    const refused = await send(at('echo'), keyed(value as string), { ...active, ...more });
    expect(refused.body.error).toMatchObject({ code: -32602, message: expect.stringContaining(IDEMPOTENCY_KEY) });
  });
});

function key(): Record<string, string> {
  return { 'idempotency-key': unique('key') };
}

function send(base: string, params: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return rpc<{ task: Task }>(base, 'SendMessage', params, { headers });
}

/** The same JSON with the members of every object the other way round. */
function backwards(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(backwards);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, it]) => [name, backwards(it as JsonValue)] as const)
      .reverse(),
  );
}

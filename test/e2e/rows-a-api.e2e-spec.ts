import type { JsonObject, StreamResponse } from '#libs/protocol';
import { type Conversation, outlines, Talks } from '../support/conversation.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { answers, holds } from '../support/fake-behaviour.js';
import { detail, rpc, sendTask, stream } from '../support/a2a.js';
import { ids, range } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, input, linear, unique } from '../support/workflow.js';

const stage = useSharedStage();
let talks: Talks;
let a: FakeAgent;
let b: FakeAgent;

beforeAll(async () => {
  talks = new Talks(stage.api);
});

beforeEach(async () => {
  a = await stage.fake({ name: 'a', streaming: true });
  b = await stage.fake({ name: 'b', streaming: true });
  a.always((_call, index) => answers(`A${index + 1}`));
  b.always((_call, index) => answers(`B${index + 1}`));
});

const between = (fields: JsonObject = {}): JsonObject => ({
  requester: a.url,
  target: b.url,
  message: 'hello',
  ...fields,
});

interface Page {
  conversations: Conversation[];
  nextPageToken: string;
}

const page = async (query: string): Promise<Page> => (await stage.api.call<Page>('GET', `/conversations${query}`)).body;

describe('POST /api/conversations', () => {
  it.each<[string, number, JsonObject]>([
    ['target', 400, { target: null }],
    ['target', 400, { target: 7 }],
    ['target', 400, { target: ' ' }],
    ['target', 422, { target: 'nobody_at_all' }],
    ['target', 422, { target: 'workflows/nobody_at_all' }],
    ['requester', 422, { requester: 'nobody at all' }],
    ['requester', 400, { requester: ['x'] }],
    ['announce', 422, { announce: 'nobody_at_all' }],
    ['message', 400, { message: null }],
    ['message', 400, { message: '' }],
    ['message', 400, { message: { text: 'x' } }],
    ['maxTurns', 422, { maxTurns: 21 }],
    ['maxTurns', 422, { maxTurns: -1 }],
    ['maxTurns', 422, { maxTurns: 1.5 }],
    ['maxTurns', 400, { maxTurns: '5' }],
    ['timeoutMs', 422, { timeoutMs: 0 }],
    ['timeoutMs', 422, { timeoutMs: 3_600_001 }],
    ['timeoutMs', 400, { timeoutMs: 'soon' }],
  ])('A22 refuses a bad %s with %i, naming it, and writes nothing: %j', async (field, status, fields) => {
    const before = await page('?pageSize=1');
    const reply = await talks.post(between(fields));
    expect(reply.status).toBe(status);
    expect(reply.headers.get('content-type')).toContain('application/problem+json');
    expect(reply.body['errors']).toMatchObject([{ path: field }]);
    expect(await page('?pageSize=1')).toEqual(before);
    expect([...a.sends, ...b.sends]).toHaveLength(0);
  });

  it.each(['[]', '"x"', '{', 'null'])('refuses a body that is no object: %s', async (body) => {
    expect((await talks.post(body)).status).toBe(400);
  });

  it('A22 an agent talks with itself by whatever reference it is named, and there is no loop', async () => {
    const { name } = await stage.api.save(linear(unique('self'), echo('only')));
    const [workflow, node] = [stage.api.base(name), stage.api.base(name, 'only')];
    const loopback = workflow.replace('127.0.0.1', 'localhost');
    const same: [string, string][] = [
      [name, `workflows/${name}`],
      [name, workflow],
      [`${workflow}/`, name],
      [loopback, `${workflow}/.well-known/agent-card.json`],
      [`workflows/${name}/nodes/only`, node],
    ];
    for (const [requester, target] of same) {
      const id = await talks.start({ requester, target, message: 'Bob', maxTurns: 2 });
      expect(outlines(await (await talks.events(id)).all())).toHaveLength(3);
      expect(await talks.get(id)).toMatchObject({ outcome: 'done', turns: { length: 2 } });
    }
    const other = await talks.start({ requester: workflow, target: node, message: 'Bob', maxTurns: 2 });
    await (await talks.events(other)).all();
    expect(await talks.get(other)).toMatchObject({ outcome: 'max_turns' });
  });

  it('A22 takes the ceilings of 20 turns and of an hour for a turn, and shows them', async () => {
    const id = await talks.start(between({ maxTurns: 20, timeoutMs: 3_600_000 }));
    expect(outlines(await (await talks.events(id)).all())).toHaveLength(23);
    expect(await talks.get(id)).toMatchObject({ maxTurns: 20, timeoutMs: 3_600_000 });
  });

  it('L4 the same key and body are the same conversation; another body is refused', async () => {
    const key = { 'idempotency-key': `key-${Date.now()}` };
    const bodies = range(1, 5).map(() => talks.start(between({ maxTurns: 0 }), key));
    const [id, ...others] = await Promise.all(bodies);
    expect(new Set(others)).toEqual(new Set([id]));
    const reply = await talks.post(between({ maxTurns: 1 }), key);
    expect(reply.status).toBe(409);
    expect(reply.text).toContain('IDEMPOTENCY_CONFLICT');
    await talks.ended(id ?? '');
    expect(b.sends).toHaveLength(1);
  });
});

describe('GET /api/conversations', () => {
  it('lists, the one that changed last first, page by page, by status', async () => {
    const started: string[] = [];
    for (const n of range(1, 3)) {
      started.push(await talks.start(between({ maxTurns: 0, message: `n${n}` })));
      await talks.ended(started.at(-1) ?? '');
    }
    await until(async () => (await page('?status=complete&pageSize=3')).conversations.length === 3);
    const first = await page('?status=complete&pageSize=2');
    const second = await page(`?status=complete&pageSize=2&pageToken=${first.nextPageToken}`);
    const seen = [...first.conversations, ...second.conversations].slice(0, 3);
    expect(seen.map(({ conversationId }) => conversationId)).toEqual(started.toReversed());
    expect(seen[0]).toMatchObject({
      requester: a.url,
      target: b.url,
      status: 'complete',
      outcome: 'done',
      maxTurns: 0,
    });
    expect((await stage.api.call('GET', '/conversations?status=gone')).body).toMatchObject({
      errors: [{ path: 'status' }],
    });
  });

  it('an unknown one is 404, as is a Task that is none', async () => {
    for (const id of ['nobody', '%00', 'a b']) {
      expect((await stage.api.call('GET', `/conversations/${id}`)).status).toBe(404);
      expect((await talks.command(id, 'cancel')).status).toBe(404);
      expect((await stage.api.call('GET', `/conversations/${id}/events`)).status).toBe(404);
    }
  });
});

describe('GET /api/conversations/{id}/events', () => {
  it('L2 goes on after the last number that was seen, live too, and ends with the conversation', async () => {
    b.next(answers('B1')).always(holds('late'));
    const id = await talks.start(between({ maxTurns: 2 }));
    const early = await talks.events(id);
    await early.find(({ id: cseq }) => cseq === '3');
    early.abort();
    const rest = await talks.events(id, 2);
    await rest.find(({ id: cseq }) => cseq === '3');
    await b.sent(2);
    b.release();
    expect(ids(await rest.all())).toEqual([3, 4, 5]);
    expect(outlines(await (await talks.events(id, 4)).all())).toEqual(['complete max_turns']);
    expect(await (await talks.events(id, 5)).all()).toEqual([]);
    const beyond = await stage.api.call('GET', `/conversations/${id}/events?since=6`);
    expect(beyond).toMatchObject({ status: 400, body: { errors: [{ path: 'since' }] } });
  });
});

describe('steering', () => {
  it('L3 a cancel stops the agent at work and completes with `canceled`', async () => {
    b.always(holds());
    const id = await talks.start(between());
    await b.sent();
    await until(async () => b.taskIds().length === 1);
    const reader = await talks.events(id);
    const reply = await talks.command(id, 'cancel');
    expect(reply).toMatchObject({ status: 200, body: { status: 'complete', outcome: 'canceled' } });
    expect(outlines(await reader.all())).toEqual(['0 hello', 'complete canceled']);
    expect(b.cancels).toEqual(b.taskIds());
    expect((await talks.command(id, 'cancel')).status).toBe(200);
    expect((await talks.command(id, 'pause')).status).toBe(409);
    expect(a.sends).toHaveLength(0);
  });

  it('a cancel or a command after the end is refused', async () => {
    const id = await talks.start(between({ maxTurns: 0 }));
    await talks.ended(id);
    await until(async () => (await talks.command(id, 'cancel')).status === 409);
    for (const name of ['pause', 'resume', 'stop']) expect((await talks.command(id, name)).status).toBe(409);
    expect((await talks.get(id)).outcome).toBe('done');
  });

  it('is paused after the turn under way, told a turn, resumed, and stopped', async () => {
    b.next(holds('B1'));
    b.always((_call, index) => (index === 2 ? holds('B3') : answers(`B${index + 1}`)));
    const id = await talks.start(between({ maxTurns: 6 }));
    const reader = await talks.events(id);
    await b.sent();
    expect((await talks.command(id, 'pause')).status).toBe(202);
    b.release();
    expect(await talks.reached(id, ({ paused }) => paused === true)).toMatchObject({
      status: 'active',
      turns: [{ text: 'hello' }, { text: 'B1' }],
    });
    expect(a.sends).toHaveLength(0);
    expect((await talks.command(id, 'turns', { text: 'said for A' })).status).toBe(202);
    await talks.reached(id, ({ turns, paused }) => turns.length === 3 && paused === true);
    expect(a.sends).toHaveLength(0);
    expect((await talks.command(id, 'resume')).status).toBe(202);
    const third = await b.sent(3);
    expect(b.texts.slice(0, 2)).toEqual(['hello', 'said for A']);
    expect(third.text).toBe('A1');
    expect((await talks.command(id, 'stop')).status).toBe(202);
    b.release();
    expect(outlines(await reader.all())).toEqual([
      '0 hello',
      '1 B1',
      '2 said for A',
      '3 B2',
      '4 A1',
      '5 B3',
      'complete done',
    ]);
    expect(ids(reader.frames)).toEqual(range(1, 7));
  });

  it('a paused conversation is canceled without another word', async () => {
    b.next(holds('B1'));
    const id = await talks.start(between());
    await b.sent();
    await talks.command(id, 'pause');
    b.release();
    await talks.reached(id, ({ paused }) => paused === true);
    expect((await talks.command(id, 'cancel')).body).toMatchObject({ outcome: 'canceled' });
    expect(outlines(await (await talks.events(id)).all())).toEqual(['0 hello', '1 B1', 'complete canceled']);
  });

  it('a resume that comes with the pause still under way is not lost', async () => {
    b.next(holds('B1'));
    const id = await talks.start(between({ maxTurns: 1 }));
    await b.sent();
    await talks.command(id, 'pause');
    await talks.command(id, 'resume');
    b.release();
    expect((await talks.ended(id)).outcome).toBe('max_turns');
  });

  it('commands that come at once to a paused one are all carried out, each once', async () => {
    b.next(holds('B1'));
    const id = await talks.start(between({ maxTurns: 20 }));
    await b.sent();
    await talks.command(id, 'pause');
    b.release();
    await talks.reached(id, ({ paused }) => paused === true);
    const said = range(1, 10).map((n) => `said ${n}`);
    const replies = await Promise.all(said.map((text) => talks.command(id, 'turns', { text })));
    expect(replies.map(({ status }) => status)).toEqual(said.map(() => 202));
    const { turns } = await talks.reached(id, (it) => it.turns.length === 12 && it.paused === true);
    expect(
      turns
        .slice(2)
        .map(({ text }) => text)
        .toSorted(),
    ).toEqual(said.toSorted());
    await talks.command(id, 'stop');
    expect(await talks.ended(id)).toMatchObject({ outcome: 'done' });
    expect([...a.sends, ...b.sends]).toHaveLength(1);
  });

  it.each<JsonObject>([{}, { text: 7 }, { text: ' ' }])('refuses a turn without a text: %j', async (body) => {
    b.always(holds());
    const id = await talks.start(between());
    expect(await talks.command(id, 'turns', body)).toMatchObject({ status: 400, body: { errors: [{ path: 'text' }] } });
    await talks.command(id, 'cancel');
  });
});

describe('a conversation is a Task', () => {
  it('of an A2A agent, which takes the same request as a data part and answers with the last text', async () => {
    const base = `${stage.api.url}/a2a/conversations`;
    const task = await sendTask(base, [{ data: between({ maxTurns: 1 }) }]);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(task.artifacts?.[0]?.parts).toMatchObject([
      { text: 'A1' },
      { data: { outcome: 'max_turns', turns: [{ turn: 0 }, { turn: 1 }, { turn: 2, text: 'A1' }] } },
    ]);
    expect(await talks.get(task.id)).toMatchObject({ outcome: 'max_turns' });
  });

  it.each([
    ['maxTurns', 'must be a whole number, from 0 to 20', { maxTurns: 21 }],
    ['timeoutMs', 'must be a whole number, from 1 to 3600000', { timeoutMs: 3_600_001 }],
    ['maxTurn', 'is not a field of a conversation', { maxTurn: 3 }],
    ['auth.tarket', 'is none of requester, target, announce', { auth: { tarket: 'mine' } }],
  ])('A22 is refused with its %s by name: %s', async (field, description, fields) => {
    const parts = [{ data: between(fields) }];
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts } };
    const { body } = await rpc(`${stage.api.url}/a2a/conversations`, 'SendMessage', params);
    expect(body.error).toMatchObject({ code: -32602 });
    expect(detail(body.error?.data, 'BadRequest')).toMatchObject({ fieldViolations: [{ field, description }] });
    expect([...a.sends, ...b.sends]).toHaveLength(0);
  });

  it('A16 an agent that is called by itself tells nothing on the a2a stream', async () => {
    const name = unique('alone');
    await stage.api.save(linear(name, input('in'), echo('only')));
    const reader = await stream(stage.api.base(name, 'only'), 'hello');
    expect(JSON.stringify(await reader.all())).not.toMatch(/parley\/stream|"a2a"/);
    const task = await sendTask(stage.api.base(name), 'hello');
    expect(JSON.stringify(task)).not.toContain('parley/stream');
    expect((await stage.api.call('GET', `/conversations/${task.id}`)).status).toBe(404);
  });

  it('L1 its a2a events are events of the Task, carried by them', async () => {
    const reader = await stream(`${stage.api.url}/a2a/conversations`, [{ data: between({ maxTurns: 0 }) }]);
    const events = (await reader.all()).map(({ data }) => data.result as StreamResponse);
    const carried = events.flatMap((event) =>
      'statusUpdate' in event ? [event.statusUpdate.metadata?.['parley/stream']].filter(Boolean) : [],
    );
    const first = events[0];
    const id = first && 'task' in first ? first.task.id : '';
    expect(carried).toEqual((await (await talks.events(id)).all()).map(({ data }) => data));
  });
});

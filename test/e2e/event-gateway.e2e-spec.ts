import { isDeepStrictEqual } from 'node:util';
import { sendTask } from '../support/a2a.js';
import { DROPS_FACTS } from '../support/dropped-facts.js';
import { GatewayClient, type GatewayFrame, refusedUpgrade } from '../support/gateway-client.js';
import { type Parley, startParley } from '../support/parley.js';
import { sendRaw } from '../support/raw-request.js';
import { range, SseReader } from '../support/sse.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, input, linear, output, ruled, unique } from '../support/workflow.js';

const stage = useStage();
/** Drops all facts. */
let second: Parley;
const clients: GatewayClient[] = [];

beforeAll(async () => {
  second = await startParley({ databaseUrl: stage.database.url, env: DROPS_FACTS });
});

afterAll(async () => {
  for (const client of clients) await client.cut();
  await second?.stop();
});

async function watch(url: string, query: Record<string, string> = {}): Promise<GatewayClient> {
  const client = await GatewayClient.open(url, query);
  clients.push(client);
  return client;
}

/** What a client saw of each Task: the sequences in the order in which they came. */
function sequences(frames: readonly GatewayFrame[]): Map<string, number[]> {
  const seen = new Map<string, number[]>();
  for (const { stream, taskId, sequence } of frames) {
    if (stream !== 'task') continue;
    seen.set(taskId as string, [...(seen.get(taskId as string) ?? []), sequence as number]);
  }
  return seen;
}

describe('the event gateway', () => {
  it('says hello, then shows a run and its Tasks live, wherever they are executed', async () => {
    const here = await watch(stage.parley.url);
    const there = await watch(second.url);
    expect(here.frames[0]).toEqual({ type: 'hello', cursor: expect.any(String) });
    const { name } = await stage.api.save(linear(unique('gate'), input('in'), output('out')));
    const runId = await stage.api.start(name, { in: 'a' });
    const done = (client: GatewayClient): boolean =>
      client.events.some((it) => it.stream === 'run' && it.runId === runId && it.type === 'done');
    await until(() => done(here) && done(there), { what: 'the end of the run' });
    // A Task's last event may come to one of them later than the run's end to the other.
    const sawTheSame = (): boolean => isDeepStrictEqual(sequences(here.events), sequences(there.events));
    await until(sawTheSame, { what: 'both replicas to show the same' });
    const run = there.events.filter((it) => it.stream === 'run' && it.runId === runId);
    expect(run.map((it) => it.sequence)).toEqual(range(1, run.length));
    expect(run[0]).toMatchObject({ type: 'node.started', workflow: name });
    const tasks = sequences(there.events);
    expect(tasks.size).toBeGreaterThanOrEqual(3);
    for (const its of tasks.values()) expect(its).toEqual(range(1, its.length));
    expect(sequences(here.events)).toEqual(tasks);
  });

  it('its twin over SSE gives the same frames, and its ids are the cursors', async () => {
    const socket = await watch(stage.parley.url);
    const { name } = await stage.api.save(linear(unique('gate'), input('a')));
    const { id } = await sendTask(stage.api.base(name, 'a'), 'x');
    await until(() => (sequences(socket.events).get(id) ?? []).length >= 4, { what: 'the Task' });
    const since = socket.frames[0]!.cursor;
    const reader = await SseReader.open<GatewayFrame>(`${second.url}/api/events?since=${since}&taskId=${id}`);
    const frames = [];
    for (let n = 0; n < 5; n += 1) frames.push((await reader.next())!);
    expect(frames[0]!.data).toEqual({ type: 'hello', cursor: since });
    expect(frames.every((it) => it.id === it.data.cursor)).toBe(true);
    const wanted = socket.events.filter((it) => it.taskId === id);
    expect(frames.slice(1).map((it) => it.data)).toEqual(wanted.slice(0, 4));
    reader.abort();
  });

  it('shows tool steps only to those who name them (row A18), and filters by run, Task and context', async () => {
    const all = await watch(stage.parley.url);
    const tools = await watch(stage.parley.url, { streams: 'tool' });
    const { name } = await stage.api.save(
      linear(unique('gate'), { id: 'now', type: 'tool', config: { tool: 'current_time' } }),
    );
    const runId = await stage.api.start(name);
    const run = await stage.api.ended(runId);
    const only = await watch(second.url, { streams: 'run', runId, since: all.frames[0]!.cursor });
    const its = await watch(second.url, { streams: 'task', contextId: run.contextId, since: all.frames[0]!.cursor });
    await until(() => only.events.some((it) => it.type === 'done') && tools.events.length >= 2, { what: 'all frames' });
    expect(tools.events.map((it) => it.type)).toEqual(['tool.call', 'tool.result']);
    expect(all.events.filter((it) => it.stream === 'tool')).toEqual([]);
    expect(new Set(only.events.map((it) => `${String(it.stream)} ${String(it.runId)}`))).toEqual(
      new Set([`run ${runId}`]),
    );
    await until(() => sequences(its.events).has(runId), { what: 'the Task of the run' });
    expect(its.events.every((it) => it.contextId === run.contextId)).toBe(true);
  });

  it('shows a run that is a node as a Task, and among runs no more than their list does', async () => {
    const name = unique('nested');
    await stage.api.save(linear(`${name}_child`, output('out', { prompt: 'said' })));
    await stage.api.save(
      linear(name, { id: 'c', type: 'workflow', config: { workflow: `${name}_child` } }, output('out')),
    );
    const runs = await watch(second.url, { streams: 'run' });
    const tasks = await watch(second.url, { streams: 'task', since: runs.frames[0]!.cursor });
    const runId = await stage.api.start(name);
    const child = (await stage.api.ended(runId)).nodes['c']?.taskId ?? '';
    const its = await watch(second.url, { streams: 'run,task', runId, since: runs.frames[0]!.cursor });
    const done = (client: GatewayClient): boolean =>
      client.events.some((it) => it.runId === runId && it.type === 'done');
    // A Task's events may come later than the end of the run that called for it.
    const showTheTask = (): boolean => [tasks, its].every(({ events }) => sequences(events).has(child));
    await until(() => done(runs) && done(its) && showTheTask(), { what: 'all frames' });
    expect(runs.events.filter((it) => it.runId === child)).toEqual([]);
    expect(new Set(its.events.filter((it) => it.stream === 'run').map((it) => it.runId))).toEqual(new Set([runId]));
    expect(sequences(its.events).get(child)?.[0]).toBe(1);
  });

  it('cut again and again and back at any replica: no gap, no duplicate, under concurrent commits of both', async () => {
    const whole = await watch(stage.parley.url);
    const start = whole.frames[0]!.cursor;
    const { name } = await stage.api.save(linear(unique('gate'), input('a')));
    const urls = [stage.parley.url, second.url];
    const load = Promise.all(
      range(1, 120).map(async (n) => {
        await sendTask(new Api(urls[n % 2]!).base(name, 'a'), `message ${n}`);
      }),
    );
    const frames: GatewayFrame[] = [];
    let cursor = start;
    for (let cuts = 0; cuts < 20; cuts += 1) {
      const client = await watch(urls[cuts % 2]!, { since: cursor });
      await until(() => client.events.length > 3 || frames.length + client.events.length >= whole.events.length, {
        what: 'some frames',
      });
      await client.cut();
      // What it had when it went is what it comes back with.
      frames.push(...client.events);
      cursor = client.cursor;
    }
    await load;
    const last = await watch(second.url, { since: cursor });
    await until(() => sequences([...frames, ...last.events]).size >= 120, { what: 'every Task' });
    const complete = (): boolean =>
      [...sequences([...frames, ...last.events]).values()].every((its) => its.length === 4);
    await until(complete, { what: 'every event' });
    const seen = sequences([...frames, ...last.events]);
    for (const its of seen.values()) expect(its).toEqual([1, 2, 3, 4]);
    await until(() => sequences(whole.events).size === seen.size, { what: 'the client that stayed' });
  });

  it('several subscriptions of one socket go on each from its own cursor, at any replica', async () => {
    const here = await watch(stage.parley.url, { streams: 'none' });
    const { name } = await stage.api.save(linear(unique('gate'), input('a')));
    await here.subscribe('all', { streams: 'task' });
    const first = await sendTask(stage.api.base(name, 'a'), 'before');
    const has = (client: GatewayClient, subscription: string, id: string): boolean =>
      (sequences(client.eventsOf(subscription)).get(id) ?? []).length === 4;
    await until(() => has(here, 'all', first.id), { what: 'the first Task' });
    const there = await watch(second.url, { streams: 'none' });
    await there.subscribe('new', { streams: 'task', since: here.cursor });
    await there.subscribe('late', { streams: 'task', since: here.frames[0]!.cursor });
    const next = await sendTask(stage.api.base(name, 'a'), 'after');
    await until(() => has(there, 'late', first.id) && has(there, 'late', next.id) && has(there, 'new', next.id), {
      what: 'both subscriptions',
    });
    expect(sequences(there.eventsOf('late')).get(first.id)).toEqual(range(1, 4));
    expect(sequences(there.eventsOf('late')).get(next.id)).toEqual(range(1, 4));
    expect(sequences(there.eventsOf('new')).has(first.id)).toBe(false);
    expect(there.events.every((it) => it['subscription'] !== undefined)).toBe(true);
    expect(here.frames[0]).toEqual({ type: 'hello', cursor: expect.any(String) });
  });

  it('a subscription that is not read holds up no other, and resumes from its cursor at the other replica', async () => {
    const start = (await watch(stage.parley.url, { streams: 'none' })).cursor;
    const slow = await watch(stage.parley.url, { streams: 'none' });
    const quick = await watch(second.url, { streams: 'none' });
    await Promise.all([slow, quick].map((it) => it.subscribe('s', { streams: 'task', since: start })));
    slow.socket.pause();
    const { name } = await stage.api.save(linear(unique('gate'), input('a')));
    const tasks: string[] = [];
    for (const url of [stage.parley.url, second.url, second.url, stage.parley.url])
      tasks.push((await sendTask(new Api(url).base(name, 'a'), 'x'.repeat(100_000))).id);
    const has = (frames: readonly GatewayFrame[]): boolean =>
      tasks.every((id) => sequences(frames).get(id)?.length === 4);
    await until(() => has(quick.eventsOf('s')), { what: 'the quick subscription' });
    expect(has(slow.events)).toBe(false);
    slow.socket.resume();
    await until(() => slow.eventsOf('s').length > 0, { what: 'the first frame of the slow subscription' });
    await slow.cut();
    const back = await watch(second.url, { streams: 'none' });
    await back.subscribe('s', { streams: 'task', since: slow.cursor });
    const seen = (): GatewayFrame[] => [...slow.eventsOf('s'), ...back.eventsOf('s')];
    await until(() => has(seen()), { what: 'the slow subscription, as it came back' });
    for (const frames of [quick.eventsOf('s'), seen()])
      for (const id of tasks) expect(sequences(frames).get(id)).toEqual(range(1, 4));
  });

  it('a client that stops reading disturbs nobody, and comes back where it was', async () => {
    const stalled = await watch(stage.parley.url, { streams: 'task' });
    const { name } = await stage.api.save(linear(unique('gate'), input('a')));
    stalled.socket.pause();
    const text = 'x'.repeat(100_000);
    for (let n = 0; n < 60; n += 1) await sendTask(stage.api.base(name, 'a'), text);
    const lively = await watch(stage.parley.url, { streams: 'task' });
    const { id } = await sendTask(stage.api.base(name, 'a'), 'still there?');
    await until(() => (sequences(lively.events).get(id) ?? []).length === 4, { what: 'the lively client' });
    stalled.socket.resume();
    const sawIt = (frames: readonly GatewayFrame[]): boolean => (sequences(frames).get(id) ?? []).length === 4;
    await until(() => stalled.closed !== undefined || sawIt(stalled.events), { what: 'the stalled one' });
    // Who does not read for half a minute is cut, and goes on from its cursor.
    const back = await watch(stage.parley.url, { streams: 'task', since: stalled.cursor });
    await until(() => sawIt([...stalled.events, ...back.events]), { what: 'the stalled one, or as it came back' });
    const seen = sequences(stalled.closed ? [...stalled.events, ...back.events] : stalled.events);
    expect(seen.size).toBeGreaterThanOrEqual(61);
    for (const its of seen.values()) expect(its).toEqual([1, 2, 3, 4]);
  });

  it('refuses what it cannot read, naming the field', async () => {
    const { url } = stage.parley;
    for (const [query, field] of [
      ['since=nonsense!', 'since'],
      ['streams=task,gossip', 'streams'],
      ['taskId=', 'taskId'],
      ['runId=a&runId=b', 'runId'],
    ]) {
      const reply = await fetch(`${url}/api/events?${query}`);
      expect([query, reply.status, reply.headers.get('content-type')]).toEqual([
        query,
        400,
        expect.stringContaining('application/problem+json'),
      ]);
      const twin = (await reply.json()) as object;
      expect(twin).toMatchObject({ reason: 'MALFORMED', errors: [{ path: field }] });
      const refused = await refusedUpgrade(`${url}/events?${query}`);
      expect(refused.status).toBe(400);
      expect(JSON.parse(refused.body)).toEqual({
        ...twin,
        instance: '/events',
        requestId: expect.stringMatching(/^[\da-f-]{36}$/),
      });
    }
    const threeDaysAgo = (Date.now() - 3 * 24 * 60 * 60 * 1000).toString(36);
    expect((await fetch(`${url}/api/events?since=${threeDaysAgo}`)).status).toBe(410);
    expect(await refusedUpgrade(`${url}/events?since=${threeDaysAgo}`)).toMatchObject({ status: 410 });
    const elsewhere = await refusedUpgrade(`${url}/elsewhere`);
    expect(elsewhere.status).toBe(404);
    expect(JSON.parse(elsewhere.body)).toMatchObject({
      title: 'Not Found',
      status: 404,
      reason: 'NOT_FOUND',
      requestId: expect.any(String),
    });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const evil = await refusedUpgrade(`${url}/events`, { origin: 'https://evil.example', traceparent });
    expect([evil.status, JSON.parse(evil.body)]).toMatchObject([
      403,
      { reason: 'FOREIGN_ORIGIN', requestId: expect.any(String), trace_id: '0af7651916cd43dd8448eb211c80319c' },
    ]);
  });

  it('answers a request that offers HTTP/2 beside itself as any other', async () => {
    const headers = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA',
      'content-type': 'application/json',
      'a2a-version': '1.0',
    };
    const { url } = stage.parley;
    expect((await sendRaw(url, { target: '/health/live', headers })).status).toBe(200);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { contextId: unique('none') } });
    const listed = await sendRaw(url, { method: 'POST', target: '/a2a', headers, body });
    expect([listed.status, JSON.parse(listed.text)]).toMatchObject([200, { result: { tasks: [] } }]);
  });

  it('shows what a Task of several turns does, and ends with the service', async () => {
    const third = await startParley({ databaseUrl: stage.database.url });
    const client = await watch(third.url);
    const { name } = await stage.api.save(
      linear(
        unique('gate'),
        ruled('ask', [{ when: { turn: 1 }, steps: [{ ask: 'which?' }] }, { steps: [{ complete: 'ok' }] }]),
      ),
    );
    const first = await sendTask(stage.api.base(name, 'ask'), 'hello');
    await sendTask(stage.api.base(name, 'ask'), 'this', { fields: { taskId: first.id } });
    await until(() => client.events.some((it) => JSON.stringify(it).includes('TASK_STATE_COMPLETED')), {
      what: 'the end',
    });
    expect(sequences(client.events).get(first.id)).toEqual(range(1, sequences(client.events).get(first.id)!.length));
    await third.stop();
    await until(() => client.closed, { what: 'the end of the connection' });
    expect(client.closed).toMatchObject({ code: 1001 });
  });
});

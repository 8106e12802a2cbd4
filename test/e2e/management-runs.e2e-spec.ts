import type { JsonObject } from '#libs/protocol';
import { holds } from '../support/fake-behaviour.js';
import { ids, range } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { before, until } from '../support/until.js';
import { echo, external, input, linear, output, type Run, script, unique } from '../support/workflow.js';

const stage = useSharedStage();

interface Cancel {
  runId: string;
  status: string;
  children: { node: string; agentUrl: string; taskId?: string; outcome: string }[];
}

describe('runs of the management API', () => {
  it("202 with the run's id at once; the run is there to be read", async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds());
    const workflow = await stage.api.save(linear(unique('runs'), external('x', fake.url), output('out')));
    const reply = await stage.api.call<{ runId: string }>('POST', `/workflows/${workflow.name}/runs`, { inputs: {} });
    expect(reply.status).toBe(202);
    expect(reply.body).toEqual({ runId: expect.any(String) });
    await fake.sent();
    const run = await stage.api.run(reply.body.runId);
    expect(run).toMatchObject({
      runId: reply.body.runId,
      status: 'running',
      nodes: { x: { status: 'running', attempts: 1 }, out: { status: 'pending', attempts: 0 } },
    });
    fake.release();
    expect((await stage.api.ended(run.runId)).status).toBe('completed');
  });

  it('Idempotency-Key: the same body is the same run; another body is 409', async () => {
    const workflow = await stage.api.save(linear(unique('runs'), input('in'), echo('a')));
    const headers = { 'idempotency-key': unique('key') };
    const [first, second] = await Promise.all([
      stage.api.start(workflow.name, { in: 'x' }, headers),
      stage.api.start(workflow.name, { in: 'x' }, headers),
    ]);
    expect(second).toBe(first);
    const other = await stage.api.call('POST', `/workflows/${workflow.name}/runs`, { inputs: { in: 'y' } }, headers);
    expect(other.status).toBe(409);
    expect(other.text).toContain('IDEMPOTENCY_CONFLICT');
  });

  it('the list filters by workflow and status, newest first, and pages through all of them once', async () => {
    const name = unique('listed');
    await stage.api.save(linear(name, input('in'), echo('a')));
    const started: string[] = [];
    for (const n of range(1, 5)) {
      started.push(await stage.api.start(name, { in: String(n) }));
      await stage.api.ended(started.at(-1) ?? '');
    }
    const seen: string[] = [];
    let token = '';
    do {
      const query = new URLSearchParams({
        workflow: name,
        status: 'completed',
        pageSize: '2',
        ...(token !== '' && { pageToken: token }),
      });
      const reply = await stage.api.call<{ runs: Run[]; nextPageToken?: string }>('GET', `/runs?${query}`);
      expect(reply.status).toBe(200);
      seen.push(...reply.body.runs.map(({ runId }) => runId));
      token = reply.body.nextPageToken ?? '';
    } while (token !== '');
    expect(seen).toEqual([...started].reverse());
    const none = await stage.api.call<{ runs: Run[] }>('GET', `/runs?workflow=${name}&status=failed`);
    expect(none.body.runs).toEqual([]);
    const all = await stage.api.call<{ runs: Run[] }>('GET', '/runs');
    expect(all.body.runs[0]).toMatchObject({
      runId: expect.any(String),
      workflow: expect.any(String),
      status: expect.any(String),
      createdAt: expect.any(String),
    });
  });

  it.each([
    ['that says something of failures', { retry: { attempts: 1 } }],
    ['that says nothing of them', {}],
  ])('a failed run of a definition %s has its kind, node and message in the list and by itself', async (_, keys) => {
    const fake = await stage.fake();
    fake.always({ rpcError: { code: -32000, message: 'no luck' } });
    const workflow = linear(unique('failed'), external('x', fake.url));
    Object.assign(workflow.nodes[0]!, keys);
    const { runId, error } = await stage.api.finish(workflow);
    expect(error).toEqual({ kind: 'rpc-error', node: 'x', message: expect.stringContaining('no luck') });
    const { body } = await stage.api.call<{ runs: Run[] }>('GET', `/runs?workflow=${workflow.name}`);
    expect(body.runs).toMatchObject([{ runId, status: 'failed', error }]);
  });

  it("the list finds runs by a piece of their workflow's name or the beginning of their id, and by when they changed", async () => {
    const name = unique('Found');
    await stage.api.save(linear(name, input('in'), echo('a')));
    const before = new Date().toISOString();
    const runIds = [await stage.api.start(name, { in: '1' }), await stage.api.start(name, { in: '2' })];
    const ended = await Promise.all(runIds.map((runId) => stage.api.ended(runId)));
    const found = async (query: Record<string, string>): Promise<string[]> => {
      const reply = await stage.api.call<{ runs: Run[] }>('GET', `/runs?${new URLSearchParams(query)}`);
      expect(reply.status).toBe(200);
      return reply.body.runs.map(({ runId }) => runId).toSorted();
    };
    const [first = '', second = ''] = runIds.toSorted();
    expect(await found({ q: name.slice(2).toLowerCase() })).toEqual([first, second]);
    expect(await found({ q: first.toUpperCase() })).toEqual([first]);
    expect(await found({ q: name, status: 'failed' })).toEqual([]);
    expect(await found({ q: 'workflows/' })).toEqual([]);
    expect(await found({ q: name, since: before })).toEqual([first, second]);
    const last = ended.map(({ updatedAt }) => Date.parse(updatedAt)).toSorted((a, b) => b - a)[0] ?? 0;
    expect(await found({ q: name, since: new Date(last + 1).toISOString() })).toEqual([]);
    for (const [query, parameter] of [
      ['since=yesterday', 'since'],
      [`q=${'x'.repeat(101)}`, 'q'],
    ] as const) {
      const refused = await stage.api.call('GET', `/runs?${query}`);
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(parameter)]);
    }
  });

  it('the events of a finished run are replayed from the first, or after Last-Event-ID, and the stream ends', async () => {
    const workflow = linear(unique('replay'), input('in'), echo('a'), output('out'));
    const live = await stage.api.trace(workflow, { in: 'x' });
    const runId = live[0]?.data.runId ?? '';
    const replayed = await (await stage.api.events(runId)).all();
    expect(replayed.map(({ id, event, raw }) => [id, event, raw])).toEqual(
      live.map(({ id, event, raw }) => [id, event, raw]),
    );
    const rest = await (await stage.api.events(runId, 4)).all();
    expect(ids(rest)).toEqual(range(5, live.length));
    expect(await (await stage.api.events(runId, live.length)).all()).toEqual([]);
  });

  it('a reader that drops out again and again and comes back with its last id sees every event once', async () => {
    const steps = range(1, 40).flatMap((): JsonObject[] => [{ status: 'working' }, { sleep: 15 }]);
    const workflow = await stage.api.save(
      linear(
        unique('drops'),
        script('a', ...steps, { complete: 'done' }),
        script('b', ...steps, { complete: 'done' }),
        output('out'),
      ),
    );
    const runId = await stage.api.start(workflow.name);
    const seen: number[] = [];
    let last = '';
    for (let done = false; !done;) {
      const reader = await stage.api.events(runId, seen.at(-1));
      for (let count = 0; count < 3 && !done; count += 1) {
        const frame = await reader.next();
        if (frame === undefined) break;
        seen.push(Number(frame.id));
        last = frame.event ?? '';
        done = last === 'done';
      }
      reader.abort();
    }
    expect(last).toBe('done');
    expect(seen).toEqual(range(1, seen.length));
  });

  it('cancel says what became of every remote Task, and the run keeps it', async () => {
    const [kind, stubborn, silent, dead] = await Promise.all([
      stage.fake({ streaming: true }),
      stage.fake({ streaming: true, cancel: 'refuse' }),
      stage.fake(),
      stage.fake({ streaming: true }),
    ]);
    for (const fake of [kind, stubborn, dead]) fake.always(holds());
    silent.always({ hang: true });
    const workflow = await stage.api.save({
      name: unique('cancel'),
      nodes: [
        external('kind', kind.url),
        external('stubborn', stubborn.url),
        external('later', kind.url),
        script('own', { status: 'working' }, { sleep: 60_000 }),
      ],
      edges: [{ from: 'kind', to: 'later' }],
    });
    const events = await stage.api.stream(workflow.name);
    const { data } = await events.find(({ event }) => event === 'node.started');
    for (const node of ['kind', 'stubborn', 'own']) await known(data.runId, node);
    const reply = await before(stage.api.call<Cancel>('POST', `/runs/${data.runId}/cancel`), {
      what: 'the cancel to be answered',
    });
    expect(reply).toMatchObject({ status: 200, body: { runId: data.runId, status: 'canceled' } });
    const outcomes = Object.fromEntries(reply.body.children.map(({ node, outcome }) => [node, outcome]));
    expect(outcomes).toMatchObject({ kind: 'acknowledged', stubborn: 'refused', own: 'acknowledged' });
    expect([undefined, 'not-started']).toContain(outcomes.later);
    expect(reply.body.children.find(({ node }) => node === 'kind')).toMatchObject({
      agentUrl: kind.url,
      taskId: kind.taskIds()[0],
    });
    const frames = await events.all();
    expect(frames.slice(-2).map(({ event }) => event)).toEqual(['workflow.canceled', 'done']);
    expect(frames.at(-2)?.data.payload.children).toEqual(reply.body.children as unknown as JsonObject[]);
    expect(frames.at(-1)?.data).toMatchObject({ status: 'canceled' });
    expect(
      frames
        .filter(({ event }) => event === 'node.canceled')
        .map(({ data: it }) => it.node_id)
        .sort(),
    ).toEqual(expect.arrayContaining(['kind', 'own', 'stubborn']));
  });

  it('cancel tells an agent that cannot be reached any more', async () => {
    const gone = await stage.fake({ streaming: true, cancel: 'hang' });
    gone.always(holds());
    const workflow = await stage.api.save(linear(unique('cancel'), external('gone', gone.url)));
    const runId = await stage.api.start(workflow.name);
    await known(runId, 'gone');
    const reply = await before(stage.api.call<Cancel>('POST', `/runs/${runId}/cancel`), {
      what: 'the cancel to be answered',
    });
    expect(reply.body.children).toEqual([expect.objectContaining({ node: 'gone', outcome: 'unreachable' })]);
    expect((await stage.api.ended(runId)).status).toBe('canceled');
  });

  it('cancel of a run that has ended is refused, and changes nothing', async () => {
    const run = await stage.api.finish(linear(unique('cancel'), echo('a')));
    const reply = await stage.api.call('POST', `/runs/${run.runId}/cancel`);
    expect([400, 409]).toContain(reply.status);
    expect(await stage.api.run(run.runId)).toEqual(run);
  });

  it('a run keeps the workflow that it was started with', async () => {
    const fake = await stage.fake({ streaming: true });
    fake.always(holds('held'));
    const name = unique('revision');
    await stage.api.save(linear(name, external('x', fake.url), output('out', { prompt: 'old {{x}}' })));
    const runId = await stage.api.start(name);
    await fake.sent();
    await stage.api.call(
      'PUT',
      `/workflows/${name}`,
      linear(name, external('x', fake.url), output('out', { prompt: 'new {{x}}' })),
    );
    fake.release();
    expect((await stage.api.ended(runId)).result?.[0]?.parts[0]?.text).toBe('old held');
    await stage.api.call('DELETE', `/workflows/${name}`);
    expect(await stage.api.run(runId)).toMatchObject({ status: 'completed', workflow: name });
  });
});

/** Waits until a run knows the Task of a node: a cancel waits for one that is only being made no longer than a moment. */
async function known(runId: string, node: string): Promise<void> {
  await until(async () => (await stage.api.run(runId)).nodes[node]?.taskId, {
    what: `the Task of ${node} to be known`,
  });
}

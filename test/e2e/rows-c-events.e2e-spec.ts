import type { JsonObject } from '#libs/protocol';
import { answers } from '../support/fake-behaviour.js';
import { ids, range, type SseFrame } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, external, input, linear, output, type RunEvent, step, unique } from '../support/workflow.js';

const stage = useSharedStage();

/** The events of one node, without those that come from inside it. */
function ofNode(frames: SseFrame<RunEvent>[], id: string): SseFrame<RunEvent>[] {
  return frames.filter(({ event, data }) => data.node_id === id && !/^(model|tool)\./.test(event ?? ''));
}

describe('rows C13, C14 and F3: the events of a run', () => {
  it('C13 C14 the run opens without a node, each node is started, sending, received, completed, and done is last', async () => {
    const fake = await stage.fake();
    fake.always(answers('hi'));
    const workflow = linear(unique('events'), input('in'), external('x', fake.url), output('out'));
    const frames = await stage.api.trace(workflow, { in: 'hello' });
    expect(frames[0]).toMatchObject({
      event: 'node.started',
      data: { payload: { workflow: workflow.name, inputs: { in: 'hello' } } },
    });
    expect(frames[0]?.data.node_id).toBeUndefined();
    for (const id of ['in', 'x', 'out']) {
      expect(ofNode(frames, id).map(({ event }) => event)).toEqual([
        'node.started',
        'a2a.sending',
        'a2a.received',
        'node.completed',
      ]);
    }
    expect(frames.at(-1)?.event).toBe('done');
    const order = frames.map(step);
    expect(order.indexOf('node.completed:in')).toBeLessThan(order.indexOf('node.started:x'));
    expect(order.indexOf('node.completed:x')).toBeLessThan(order.indexOf('node.started:out'));
  });

  it('C13 F3 every event says its type, run, workflow, sequence and time, and its SSE id is its sequence', async () => {
    const from = Date.now();
    const workflow = linear(unique('shape'), echo('a'), echo('b'));
    const frames = await stage.api.trace(workflow);
    expect(ids(frames)).toEqual(range(1, frames.length));
    const runId = frames[0]?.data.runId;
    for (const { event, data, id } of frames) {
      expect(data).toMatchObject({
        type: event,
        runId,
        workflow: workflow.name,
        sequence: Number(id),
        payload: expect.any(Object),
      });
      expect(Date.parse(data.timestamp)).toBeGreaterThanOrEqual(from - 1_000);
      expect(Date.parse(data.timestamp)).toBeLessThanOrEqual(Date.now() + 1_000);
      if (data.id !== undefined) expect(data.id).toMatch(/^ev-/);
      if (data.node_id !== undefined && event === 'node.started') expect(data.node_type).toBe('agent');
    }
  });

  it('C13 node.completed says the state of its Task, and F3 the flat status', async () => {
    const frames = await stage.api.trace(linear(unique('status'), echo('a')));
    const completed = frames.find(({ event }) => event === 'node.completed');
    expect(String(completed?.data.payload.status)).toMatch(/completed/i);
    expect(String(completed?.data.status)).toMatch(/completed/i);
  });

  it('C14 a2a.sending names the URL, a2a.received the outcome', async () => {
    const fake = await stage.fake();
    const frames = await stage.api.trace(linear(unique('a2a'), external('x', fake.url)));
    const [sending, received] = ['a2a.sending', 'a2a.received'].map(
      (type) => frames.find(({ event }) => event === type)?.data,
    );
    expect(sending?.url).toBe(fake.url);
    expect(JSON.stringify(sending?.payload)).toContain(fake.url);
    expect(JSON.stringify(received)).toMatch(/completed \(1 artifact\)/);
  });

  it('C14 on failure: node.error with its error, workflow.failed, then done', async () => {
    const fake = await stage.fake();
    fake.always({ rpcError: { code: -32000, message: 'no' } });
    const frames = await stage.api.trace(linear(unique('fail'), external('x', fake.url), echo('y')));
    const types = frames.map(({ event }) => event);
    expect(types.slice(-2)).toEqual(['workflow.failed', 'done']);
    const error = frames.find(({ event }) => event === 'node.error')?.data;
    expect(error).toMatchObject({ node_id: 'x', error: expect.stringContaining('a2a error -32000: no') });
    expect(error?.payload.error).toEqual(expect.stringContaining('a2a error -32000: no'));
    expect(frames.at(-2)?.data.error).toEqual(expect.stringContaining('node "x": '));
    expect(types.filter((type) => type === 'node.error')).toHaveLength(1);
    expect(frames.map(step)).not.toContain('node.started:y');
    expect(types).not.toContain('node.completed');
  });

  it('F3 done carries session_id, runId, status and state, and on failure the error', async () => {
    const workflow = linear(unique('done'), input('in'), echo('a'));
    const done = (await stage.api.trace(workflow, { in: 'hello' })).at(-1)?.data as unknown as JsonObject;
    expect(done).toMatchObject({
      session_id: done.runId,
      runId: expect.any(String),
      status: 'completed',
      state: { __user_input__in: 'hello', a: 'hello' },
    });
    expect(done.error).toBeUndefined();
    const failed = (
      await stage.api.trace(linear(unique('done'), external('x', 'http://127.0.0.1:1', { timeout: 1 })))
    ).at(-1)?.data;
    expect(failed).toMatchObject({ status: 'failed', error: expect.anything() });
    expect(JSON.stringify(failed?.error)).toContain('node \\"x\\": ');
  });

  it('F2 the stream is an event stream that nobody caches', async () => {
    const workflow = await stage.api.save(linear(unique('headers'), echo('a')));
    const stream = await stage.api.stream(workflow.name);
    expect(stream.response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(stream.response.headers.get('cache-control')).toContain('no-cache');
    await stream.all();
  });

  it.each([
    ['no body', undefined],
    ['an empty body', ''],
    ['an object without inputs', '{}'],
    ['something that is not JSON', 'hello'],
  ])('F2 a run with %s has no inputs', async (_what, body) => {
    const workflow = await stage.api.save(linear(unique('f2'), echo('a')));
    const response = await fetch(`${stage.parley.url}/api/workflows/${workflow.name}/run`, {
      method: 'POST',
      ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('event: done');
  });

  it('F2 an unknown workflow is 404 `workflow not found`', async () => {
    const reply = await stage.api.call('POST', '/workflows/nope/run', { inputs: {} });
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(reply.text).toContain('workflow not found');
  });

  it('events of the work inside a node are told with its id', async () => {
    const frames = await stage.api.trace(
      linear(unique('model'), input('in'), echo('a', { system_prompt: 'Be brief' })),
      { in: 'hello' },
    );
    const inside = frames.filter(({ event }) => event?.startsWith('model.'));
    expect(inside.map(step)).toEqual(['model.request:a', 'model.response:a']);
    expect(inside[0]?.data.model).toBe('echo');
    const order = frames.map(step);
    expect(order.indexOf('model.request:a')).toBeGreaterThan(order.indexOf('a2a.sending:a'));
    expect(order.indexOf('model.response:a')).toBeLessThan(order.indexOf('node.completed:a'));
  });
});

import { randomBytes } from 'node:crypto';
import type { JsonObject, Task } from '#libs/protocol';
import { rpc, sendParams } from '../support/a2a.js';
import { bindingsOf } from '../support/bindings.js';
import { freePort, startParley, type Parley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { FakeAgent } from '../support/fake-agent.js';
import { SseReader } from '../support/sse.js';
import { type CollectedSpan, orphans, TraceCollector } from '../support/trace-collector.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { Api, echo, external, linear, ruled, script, unique } from '../support/workflow.js';

const SPAN = '00f067aa0ba902b7';

let database: TestDatabase;
let collector: TraceCollector;
let parley: Parley;
let api: Api;
let grpcPort: number;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  [database, collector, grpcPort] = await Promise.all([freshDatabase(), TraceCollector.start(), freePort()]);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-team=tea%20time',
    OTEL_SERVICE_NAME: 'tea-house',
    GRPC_PORT: String(grpcPort),
  };
  parley = await startParley({ databaseUrl: database.url, env });
  api = new Api(parley.url);
});

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await parley?.stop();
  await collector?.stop();
  await database?.drop();
});

const newTrace = (): string => randomBytes(16).toString('hex');
const traced = (traceId: string, flags = '01'): Record<string, string> => ({
  traceparent: `00-${traceId}-${SPAN}-${flags}`,
});

async function agent(): Promise<FakeAgent> {
  const fake = await FakeAgent.start();
  ends.push(() => fake.stop());
  return fake;
}

/** The trace and the span that a call names. */
function contextOf(call: { headers: Record<string, unknown> } | undefined): string[] {
  return String(call?.headers['traceparent']).split('-');
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const found = spans.filter((span) => span.name === name);
  expect({ name, spans: found.length }).toEqual({ name, spans: 1 });
  return found[0]!;
};

describe('a call that comes with a trace', () => {
  it('is one trace over the workflow and its two agents, each span below the call that led to it', async () => {
    const fake = await agent();
    const workflow = await api.save(
      linear(unique('traced'), echo('near', { prompt: 'say' }), external('far', fake.url)),
    );
    const [traceId, near] = [newTrace(), `${workflow.name}/near`];
    const reply = await rpc<{ task: Task }>(api.base(workflow.name), 'SendMessage', sendParams('hello'), {
      headers: { ...traced(traceId), tracestate: 'vendor=1' },
    });
    const { id: runId, status } = reply.body.result!.task;
    expect(status.state).toBe('TASK_STATE_COMPLETED');
    const names = [`invoke_workflow ${workflow.name}`, 'invoke_agent near', 'invoke_agent far', `invoke_agent ${near}`];
    const spans = await collector.until(traceId, [...names, 'chat echo']);
    expect(spans.map(({ name }) => name).toSorted()).toEqual([...names, 'chat echo'].toSorted());
    const [run, toNear, toFar, atNear] = names.map((name) => named(spans, name));
    expect([run!.parentSpanId, toNear!.parentSpanId, toFar!.parentSpanId]).toEqual([SPAN, run!.spanId, run!.spanId]);
    expect([atNear!.parentSpanId, named(spans, 'chat echo').parentSpanId]).toEqual([toNear!.spanId, atNear!.spanId]);
    expect([run!.kind, toFar!.kind]).toEqual([2, 3]);
    expect(orphans(spans, SPAN)).toEqual([]);
    expect(spans.every(({ traceState, service }) => traceState === 'vendor=1' && service === 'tea-house')).toBe(true);
    expect(run!.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': workflow.name,
      'parley.task.id': runId,
      'parley.task.state': 'completed',
    });
    for (const { startTimeUnixNano, endTimeUnixNano } of spans) {
      expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(run!.startTimeUnixNano));
      expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(run!.endTimeUnixNano));
    }
    // What the agent elsewhere was told.
    const sent = fake.calls.find(({ method }) => method?.startsWith('Send'));
    expect(contextOf(sent)).toEqual(['00', traceId, toFar!.spanId, '01']);
    expect(sent?.headers['tracestate']).toBe('vendor=1');
    expect(JSON.stringify(spans)).not.toContain('hello');
    expect(collector.headers[0]).toMatchObject({ 'x-team': 'tea time', 'content-type': 'application/json' });
    expect((await api.call<{ trace_id: string }>('GET', `/runs/${runId}`)).body.trace_id).toBe(traceId);
  });

  it('may come over each binding, over /api, and in the metadata of its Message, where the header counts more', async () => {
    const workflow = await api.save(linear(unique('bindings'), script('a', { complete: 'done' })));
    const [path, name] = [`workflows/${workflow.name}`, `invoke_workflow ${workflow.name}`];
    for (const binding of bindingsOf(() => ({ url: parley.url, grpc: `127.0.0.1:${grpcPort}` }))) {
      const traceId = newTrace();
      const answer = await binding.call(path, 'SendMessage', sendParams('x') as unknown as JsonObject, traced(traceId));
      expect({ binding: binding.name, error: answer.error }).toEqual({ binding: binding.name, error: undefined });
      expect(named(await collector.until(traceId, [name]), name).parentSpanId).toBe(SPAN);
    }
    const overApi = newTrace();
    await api.start(workflow.name, {}, traced(overApi));
    expect(named(await collector.until(overApi, [name]), name).parentSpanId).toBe(SPAN);
    const [inMetadata, inHeader] = [newTrace(), newTrace()];
    const params = sendParams('x', { fields: { metadata: traced(inMetadata) } });
    await rpc(api.base(workflow.name), 'SendMessage', params);
    await collector.until(inMetadata, [name]);
    await rpc(api.base(workflow.name), 'SendMessage', params, { headers: traced(inHeader) });
    await collector.until(inHeader, [name]);
    expect(collector.of(inMetadata).filter((span) => span.name === name)).toHaveLength(1);
  });

  it('begins a new trace where it cannot be read, and makes no spans where its caller samples none', async () => {
    const workflow = await api.save(linear(unique('malformed'), script('a', { complete: 'done' })));
    const name = `invoke_workflow ${workflow.name}`;
    const bad = { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` };
    const { body } = await rpc<{ task: Task }>(api.base(workflow.name), 'SendMessage', sendParams('x'), {
      headers: bad,
    });
    const own = body.result!.task.id.replaceAll('-', '');
    expect(named(await collector.until(own, [name]), name).parentSpanId).toBeUndefined();
    const unsampled = newTrace();
    await rpc(api.base(workflow.name), 'SendMessage', sendParams('x'), { headers: traced(unsampled, '00') });
    // What comes later is there: so would this be.
    const later = newTrace();
    await rpc(api.base(workflow.name), 'SendMessage', sendParams('x'), { headers: traced(later) });
    await collector.until(later, [name]);
    expect(collector.of(unsampled)).toEqual([]);
  });
});

const TWO_TURNS = [{ when: { turn: 2 }, steps: [{ complete: 'done' }] }];

describe('a run that waits', () => {
  it('is a span for each turn, the later one linked to the one before, in the trace of who goes on with it', async () => {
    const workflow = await api.save(linear(unique('waits'), ruled('gate', TWO_TURNS, [{ ask: 'Go on?' }])));
    const [first, second, name] = [newTrace(), newTrace(), `invoke_workflow ${workflow.name}`];
    const base = api.base(workflow.name);
    const asked = await rpc<{ task: Task }>(base, 'SendMessage', sendParams('x'), { headers: traced(first) });
    const { id: taskId } = asked.body.result!.task;
    const waiting = named(await collector.until(first, [name]), name);
    expect(waiting.attributes['parley.task.state']).toBe('input-required');
    await rpc(base, 'SendMessage', sendParams('yes', { fields: { taskId } }), { headers: traced(second) });
    const spans = await collector.until(second, [name, `invoke_agent ${workflow.name}/gate`]);
    expect(named(spans, name).links).toEqual([expect.objectContaining({ traceId: first, spanId: waiting.spanId })]);
    expect(orphans(spans, SPAN)).toEqual([]);
    expect(orphans(collector.of(first), SPAN)).toEqual([]);
  });
});

describe('what else belongs to a trace', () => {
  it('a webhook is told of it', async () => {
    const receiver = await WebhookReceiver.start();
    ends.push(() => receiver.stop());
    const workflow = await api.save(linear(unique('hooked'), script('a', { complete: 'done' })));
    const traceId = newTrace();
    const params = sendParams('x') as unknown as JsonObject;
    const configuration = { taskPushNotificationConfig: { url: receiver.url } };
    await rpc(api.base(workflow.name), 'SendMessage', { ...params, configuration } as never, {
      headers: traced(traceId),
    });
    await receiver.ended();
    const run = named(
      await collector.until(traceId, [`invoke_workflow ${workflow.name}`]),
      `invoke_workflow ${workflow.name}`,
    );
    for (const notification of receiver.received)
      expect(contextOf(notification)).toEqual(['00', traceId, run.spanId, '01']);
  });

  it('problems and lines of the log name it', async () => {
    const traceId = newTrace();
    const missing = await fetch(`${parley.url}/api/runs/nope`, { headers: traced(traceId) });
    expect(await missing.json()).toMatchObject({ status: 404, trace_id: traceId });
    const own = await fetch(`${parley.url}/api/runs/nope`, { headers: { traceparent: 'x' } });
    expect(await own.json()).toMatchObject({ trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    const workflow = await api.save(linear(unique('fails'), script('a', { fail: 'no' })));
    const failing = newTrace();
    const runId = await api.start(workflow.name, {}, traced(failing));
    const name = `invoke_workflow ${workflow.name}`;
    const span = named(await collector.until(failing, [name]), name);
    expect({ code: span.status?.code, type: span.attributes['error.type'] }).toEqual({ code: 2, type: 'failed' });
    const line = await until(
      () =>
        parley
          .logs()
          .split('\n')
          .find((it) => it.includes('A run failed') && it.includes(runId)),
      { what: 'the line of the log' },
    );
    expect(JSON.parse(line)).toMatchObject({ trace_id: failing, runId });
  });

  it('conversations and streams do', async () => {
    const workflow = await api.save(linear(unique('talks'), script('a', { complete: 'done' })));
    const [traceId, base] = [newTrace(), api.base(workflow.name)];
    const stream = await SseReader.open(base, {
      method: 'POST',
      headers: { 'a2a-version': '1.0', ...traced(traceId) },
      body: { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: sendParams('x') },
    });
    await stream.all();
    await collector.until(traceId, [`invoke_workflow ${workflow.name}`]);
    const [talk, name] = [newTrace(), `workflows/${workflow.name}`];
    const started = { requester: name, target: name, message: 'hi', maxTurns: 2 };
    const reply = await api.call('POST', '/conversations', started, traced(talk));
    expect(reply.status).toBe(202);
    const spans = await collector.until(talk, ['invoke_agent conversations', `invoke_workflow ${workflow.name}`]);
    expect(orphans(spans, SPAN)).toEqual([]);
    expect(spans.filter(({ kind }) => kind === 3)).not.toEqual([]);
  });
});

import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FakeAgent, FakeCall } from '../support/fake-agent.js';
import { type FakeBehaviour, holds, when } from '../support/fake-behaviour.js';
import { useCluster } from '../support/cluster-stage.js';
import { testRandom } from '../support/test-random.js';
import { logProblems, storedLogs } from '../support/stored-log.js';
import { orphans, TraceCollector } from '../support/trace-collector.js';
import { until } from '../support/until.js';
import {
  echo,
  external,
  input,
  linear,
  output,
  textOf,
  unique,
  type Workflow,
  type WorkflowNode,
} from '../support/workflow.js';

const env: Record<string, string> = {};
let collector: TraceCollector;

beforeAll(async () => {
  collector = await TraceCollector.start();
  env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
});

const stage = useCluster({ replicas: 2, env });

afterAll(() => collector.stop());

const KILLS = 4;
const NODE_MS = 150;

const slowly = (call: FakeCall): FakeBehaviour => ({
  steps: [
    { status: 'TASK_STATE_WORKING' },
    { sleep: NODE_MS },
    { artifact: { parts: [{ text: `did ${call.text}` }] } },
    { status: 'TASK_STATE_COMPLETED' },
  ],
});

const runs = (id: string, workflow: string): WorkflowNode => ({
  id,
  type: 'workflow',
  config: { workflow, inputs: { in: '{{in}}' } },
});

describe(`the replica of a run with runs in it is killed, ${KILLS} times by chance`, () => {
  const name = unique('nested');
  const called = (id: string, url: string): WorkflowNode => external(id, url, { prompt: `${id} of {{in}}` });
  let fake: FakeAgent;

  beforeAll(async () => {
    fake = await stage.fake({ streaming: true });
    fake.always(slowly);
    const inner = (level: string, ...nodes: WorkflowNode[]): Workflow =>
      linear(`${name}_${level}`, input('in'), ...nodes);
    await stage.api.save(
      inner('low', called('a', fake.url), called('b', fake.url), output('out', { prompt: '{{b}}' })),
    );
    await stage.api.save(inner('middle', called('c', fake.url), runs('low', `${name}_low`), output('out')));
    await stage.api.save(inner('top', runs('middle', `${name}_middle`), called('d', fake.url), output('out')));
  });

  it('every run ends as if nothing had happened, and nothing that had finished is called again', async () => {
    const random = testRandom('child-runs');
    const runIds: string[] = [];
    // No run ends before its owner is known.
    let owned = -1;
    fake.always((call) => {
      const [, run] = /^c of run (\d+)$/.exec(call.text ?? '') ?? [];
      return run === undefined ? slowly(call) : when(() => owned >= Number(run), slowly(call));
    });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const runId = await stage.api.start(`${name}_top`, { in: `run ${kill}` });
      runIds.push(runId);
      const owner = await stage.cluster.owned(runId);
      owned = kill;
      await delay(random.between(0, 5 * NODE_MS));
      await stage.cluster.kill(owner);
      await stage.cluster.add();
    }
    const ended = await Promise.all(runIds.map((runId) => stage.api.ended(runId)));
    expect(ended.map(({ status, error, result }) => [status, error, textOf(result)])).toEqual(
      runIds.map((_, kill) => ['completed', undefined, `did d of run ${kill}`]),
    );
    for (const [kill, { nodes }] of ended.entries()) {
      const middle = await stage.api.run(nodes['middle']?.taskId ?? '');
      expect(textOf(middle.result)).toBe(`did b of run ${kill}`);
      expect(middle.nodes['low']).toMatchObject({ status: 'completed', attempts: 1 });
      for (const id of ['a', 'b', 'c', 'd']) {
        const sends = fake.sends.filter(({ text }) => text === `${id} of run ${kill}`);
        expect([id, new Set(sends.map(({ message }) => message?.messageId)).size]).toEqual([id, 1]);
      }
    }
    const logs = await storedLogs(stage.database.query);
    expect(logs.flatMap(logProblems)).toEqual([]);
    expect(logs.filter(({ state }) => state !== 'TASK_STATE_COMPLETED')).toEqual([]);
    // One run of each child, whoever made it.
    const children = await stage.database.query<{ runs: number }>(
      `SELECT count(*)::int AS runs FROM task WHERE agent IN ($1, $2)`,
      [`workflows/${name}_top/nodes/middle`, `workflows/${name}_middle/nodes/low`],
    );
    expect(children).toEqual([{ runs: 2 * KILLS }]);
  });

  it('a cancel reaches the agent at the bottom also where the child is executed by another replica', async () => {
    fake.always(holds());
    const runId = await stage.api.start(`${name}_top`, { in: 'canceled' });
    await until(() => fake.sends.some(({ text }) => text === 'c of canceled'), { what: 'the first agent' });
    const owner = await stage.cluster.owned(runId);
    const other = stage.cluster.replicas.find((replica) => replica !== owner);
    const reply = await fetch(`${other?.url}/api/runs/${runId}/cancel`, { method: 'POST' });
    expect(await reply.json()).toMatchObject({ status: 'canceled' });
    const run = await stage.api.run(runId);
    expect(await stage.api.run(run.nodes['middle']?.taskId ?? '')).toMatchObject({ status: 'canceled' });
    await until(() => fake.cancels.length > 0, { what: 'CancelTask at the agent' });
  });
});

describe('the trace of a run whose replica is killed while its second agent is at work', () => {
  it('is one: the run is one span, each agent is below its call, and what they were told names those', async () => {
    const [first, second] = [await stage.fake(), await stage.fake({ streaming: true })];
    second.always(holds('b'));
    const near = 'near';
    const workflow = await stage.api.save(
      linear(unique('traced'), external('a', first.url), echo(near), external('b', second.url, { timeout: 300 })),
    );
    const [traceId, caller] = [randomBytes(16).toString('hex'), '00f067aa0ba902b7'];
    const runId = await stage.api.start(workflow.name, {}, { traceparent: `00-${traceId}-${caller}-01` });
    const owner = await stage.cluster.owned(runId);
    await until(() => second.sends.length > 0, { what: 'the second agent' });
    // What the replica has ended is its own to tell.
    await collector.until(traceId, [`invoke_agent ${workflow.name}/${near}`]);
    await stage.cluster.kill(owner);
    await stage.cluster.add();
    second.release();
    expect((await stage.api.ended(runId)).status).toBe('completed');
    const own = [`invoke_workflow ${workflow.name}`, `invoke_agent ${workflow.name}/${near}`, 'chat echo'];
    const calls = ['invoke_agent a', `invoke_agent ${near}`, 'invoke_agent b'];
    const spans = await collector.until(traceId, [...own, ...calls]);
    expect(spans.map(({ name }) => name).toSorted()).toEqual([...own, ...calls].toSorted());
    expect(orphans(spans, caller)).toEqual([]);
    const run = spans.find(({ name }) => name === own[0]);
    expect(run?.parentSpanId).toBe(caller);
    for (const [fake, name] of [
      [first, 'invoke_agent a'],
      [second, 'invoke_agent b'],
    ] as const) {
      const span = spans.find((it) => it.name === name);
      expect(span?.parentSpanId).toBe(run?.spanId);
      const parents = new Set(fake.calls.flatMap(({ headers }) => headers['traceparent'] ?? []));
      expect([...parents]).toEqual([`00-${traceId}-${span?.spanId}-01`]);
    }
  });
});

import { AgentCallError } from '#libs/a2a-client';
import { dataPart, type JsonObject, textPart } from '#libs/protocol';
import type { WorkflowDefinition, WorkflowNode } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { answering, fail, hang, inTurn } from '../testing/answering-agents.js';
import { everyCrash } from '../testing/crashes.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';
import type { FakeAgents, FakeCall } from '../testing/fake-agents.js';
import { FakeClock } from '../testing/fake-clock.js';

FakeClock.advance = useFakeTime();

const unavailable = (call: FakeCall): void =>
  call.throw(new AgentCallError('server-error', 'HTTP 503', { status: 503 }));
const badRequest = (call: FakeCall): void =>
  call.throw(new AgentCallError('client-error', 'HTTP 400', { status: 400 }));
const tooOften = (call: FakeCall): void =>
  call.throw(new AgentCallError('client-error', 'HTTP 429', { status: 429, retryAfter: 600_000 }));

/** Returns a workflow of the external node `ext` with the given members, followed by `out`. */
function external(keys: Partial<WorkflowNode>, fields: Partial<WorkflowDefinition> = {}): WorkflowDefinition {
  return extended(workflowOf('ext out', 'ext>out', fields), { ext: keys });
}

/** Plays a run to its end. Whenever the run waits for a timer, the clock advances to that time. */
async function ended(run: DrivenRun): Promise<DrivenRun> {
  let over = false;
  const whole = run.start().finally(() => (over = true));
  const passing = async (): Promise<void> => {
    while (!over) await Promise.race([run.clock.pass(), whole]);
  };
  await Promise.all([whole, passing()]);
  while (run.steps.at(-1) === 'run.parked') {
    const [parked] = run.payloads('run.parked').slice(-1);
    FakeClock.advance(Date.parse(String(parked?.['until'])) - Date.now());
    await run.wake();
  }
  return run;
}

const runOf = (definition: WorkflowDefinition, agents: FakeAgents) => ended(new DrivenRun(definition, agents));

async function untilOver(run: DrivenRun): Promise<void> {
  while (!run.steps.includes('done')) await Promise.race([run.clock.pass(), run.until('done')]);
}

describe('a node with retry', () => {
  const retry = { attempts: 4 };

  test('503, 503, 200: three attempts, each a Message of its own', async () => {
    const agents = () => answering({ ext: inTurn(unavailable, unavailable, (call) => call.complete('yes')) });
    const run = await everyCrash(external({ retry }), agents, untilOver);
    expect(run.sent).toEqual(['ext#1', 'ext#2', 'ext#3', 'out#1']);
    const calls = run.agents.calls.slice(0, 3);
    expect(new Set(calls.map(({ request }) => request?.message.messageId)).size).toBe(3);
    expect(calls.map(({ options }) => options.resends)).toEqual([0, 0, 0]);
    expect(run.payloads('node.retrying', 'ext')).toMatchObject([
      { attempt: 1, failure: { kind: 'server-error', message: expect.stringContaining('HTTP 503'), node: 'ext' } },
      { attempt: 2 },
    ]);
    expect(run.state.getNode('ext')).toMatchObject({ status: 'completed', attempts: 3 });
    expect(run.state.getNode('ext').failure).toBeUndefined();
    expect(run.steps.filter((step) => step.endsWith('ext'))).toEqual([
      ...['node.started ext', 'a2a.sending ext', 'node.retrying ext'],
      ...['node.started ext', 'a2a.sending ext', 'node.retrying ext'],
      ...['node.started ext', 'a2a.sending ext', 'a2a.received ext', 'node.completed ext'],
    ]);
  });

  test('is not tried again after an answer of 4xx', async () => {
    const run = await runOf(external({ retry }), answering({ ext: badRequest }));
    expect(run.sent).toEqual(['ext#1']);
    expect(run.state.error).toMatchObject({ kind: 'client-error', node: 'ext' });
  });

  test('fails with its last failure when all attempts have', async () => {
    const run = await everyCrash(external({ retry }), () => answering({ ext: unavailable }), untilOver);
    expect(run.sent).toHaveLength(4);
    expect(run.state.error).toMatchObject({ kind: 'server-error', node: 'ext' });
    expect(run.state.getNode('ext')).toMatchObject({ status: 'failed', attempts: 4 });
  });

  test('waits as long as the agent asks, and the same in every process', async () => {
    const run = new DrivenRun(
      external({ retry }),
      answering({ ext: inTurn(tooOften, (call) => call.complete('yes')) }),
    );
    await run.start();
    const [retrying] = run.payloads('node.retrying');
    expect(retrying).toMatchObject({ failure: { kind: 'rate-limited' } });
    const retryAt = String(retrying?.['retryAt']);
    expect(Date.parse(retryAt) - Date.now()).toBe(600_000);
    expect(run.payloads('run.parked')).toEqual([{ until: retryAt }]);
    const early = new DrivenRun(run.definition, answering());
    await early.recover(run.log);
    expect(early.payloads('run.parked').slice(-1)).toEqual([{ until: retryAt }]);
    FakeClock.advance(600_000);
    expect(await run.wake()).toBe('TASK_STATE_COMPLETED');
    expect(run.sent).toEqual(['ext#1', 'ext#2', 'out#1']);
  });

  describe('whose agent says of what kind its failure is', () => {
    const agent = (keys: Partial<WorkflowNode>) => external({ type: 'agent', config: {}, ...keys });
    const outage = (call: FakeCall): void => call.failAs('server-error');

    test('is tried again by that kind', async () => {
      const agents = () => answering({ ext: inTurn(outage, outage, (call) => call.complete('yes')) });
      const run = await everyCrash(agent({ retry }), agents, untilOver);
      expect(run.sent).toEqual(['ext#1', 'ext#2', 'ext#3', 'out#1']);
      expect(run.payloads('node.retrying', 'ext')).toMatchObject([
        { attempt: 1, failure: { kind: 'server-error', message: 'server-error', node: 'ext' } },
        { attempt: 2 },
      ]);
    });

    test('is tried again when it asks for that', async () => {
      const agents = answering({ ext: (call) => call.failAs('rate-limited', 600_000) });
      const run = new DrivenRun(agent({ retry }), agents);
      await run.start();
      const [retrying] = run.payloads('node.retrying');
      expect(Date.parse(String(retrying?.['retryAt'])) - Date.now()).toBe(600_000);
    });

    test.each([
      ['invalid-output', ['invalid-output'], 2],
      ['invalid-output', undefined, 1],
      ['what this version does not know', ['failed'], 2],
    ])('%s, retried on %p: %d attempts', async (kind, on, attempts) => {
      const again = { attempts: 2, delay: '1ms', ...(on && { on }) };
      const run = await runOf(agent({ retry: again }), answering({ ext: (call) => call.failAs(kind) }));
      expect(run.sent).toHaveLength(attempts);
    });

    test('is not believed where it is not of this service', async () => {
      const run = await runOf(external({ retry }), answering({ ext: outage }));
      expect(run.sent).toEqual(['ext#1']);
      expect(run.state.error).toMatchObject({ kind: 'failed' });
    });
  });

  test('only as far as its condition says, which knows the failure', async () => {
    const when = "error.kind == 'failed' && error.message.contains('again')";
    const definition = external({ retry: { attempts: 3, on: ['failed'], delay: '1ms', when } });
    const says = (text: string) => (call: FakeCall) => call.finish('TASK_STATE_FAILED', text);
    const run = await runOf(definition, answering({ ext: inTurn(says('try again'), says('no')) }));
    expect(run.sent).toEqual(['ext#1', 'ext#2']);
    expect(run.state.error).toMatchObject({ kind: 'failed' });
  });

  test('a condition that cannot be decided is the failure then', async () => {
    const definition = external({ retry: { attempts: 3, when: 'nodes.ext.data.gone' } });
    const run = await runOf(definition, answering({ ext: unavailable }));
    expect(run.sent).toEqual(['ext#1']);
    expect(run.state.error).toMatchObject({
      kind: 'expression',
      message: expect.stringContaining('retry.when, at 15'),
    });
  });

  test('after a result that is not what the definition says', async () => {
    const output = { parse: true, schema: { type: 'object', required: ['ok'] } };
    const definition = external({ retry: { attempts: 3, on: ['invalid-output'], delay: '1ms' }, output });
    const agents = answering({
      ext: inTurn(
        (call) => call.complete('no'),
        (call) => call.complete('```json\n{"ok":1}\n```'),
      ),
    });
    const run = await runOf(definition, agents);
    expect(run.sent).toEqual(['ext#1', 'ext#2', 'out#1']);
    expect(run.state.getNode('ext').artifacts[0]?.parts).toEqual([
      textPart('```json\n{"ok":1}\n```'),
      dataPart({ ok: 1 }),
    ]);
    expect(run.payloads('node.retrying')).toMatchObject([{ failure: { kind: 'invalid-output' } }]);
  });

  test('is not called again when the run is canceled', async () => {
    const run = new DrivenRun(external({ retry }), answering({ ext: unavailable }));
    const whole = run.start();
    await run.until('node.retrying ext');
    run.cancel();
    expect(await whole).toBe('TASK_STATE_CANCELED');
    expect(run.sent).toEqual(['ext#1']);
    expect(run.agents.cancels).toEqual([]);
  });
});

describe('a node with a timeout', () => {
  /** Plays a run whose process ends while `ext` is working, and recovers the run after the timeout of `ext`. */
  async function late(behave: (call: FakeCall) => void): Promise<DrivenRun> {
    const definition = external({ timeout: '2m' });
    const before = new DrivenRun(definition, answering({ ext: hang }));
    const cut = before.start();
    (await before.agents.called('ext')).task();
    before.shutDown();
    await expect(cut).rejects.toThrow('This process stops');
    FakeClock.advance(180_000);
    const run = new DrivenRun(definition, answering({ ext: behave }));
    const child = { runId: 'run-1', nodeId: 'ext', attempt: 1, taskId: 'known', agentUrl: 'http://remote/ext' };
    run.children.remembered.push(child);
    void run.recover(before.log);
    return run;
  }

  test('takes an answer that is there when the run goes on in another process, after its time', async () => {
    const run = await late((call) => call.complete('yes'));
    expect(await run.latest).toBe('TASK_STATE_COMPLETED');
    expect(run.agents.calls.map(({ kind, node }) => [kind, node])).toEqual([
      ['follow', 'ext'],
      ['send', 'out'],
    ]);
    expect(run.agents.cancels).toEqual([]);
  });

  test('has its time when it is called, however long the database kept that back', async () => {
    const database = Promise.withResolvers<void>();
    const run = new DrivenRun(external({ timeout: '2m' }), answering({ ext: hang }));
    run.databaseIsBack = database.promise;
    const whole = run.start();
    await run.until('a2a.sending ext');
    await run.clock.pass();
    FakeClock.advance(60_000);
    database.resolve();
    const call = await Promise.race([run.agents.called('ext'), whole.then(() => undefined)]);
    call?.complete('yes');
    expect(await whole).toBe('TASK_STATE_COMPLETED');
  });

  test.each([true, false])(
    'has its time where the process ended before it was called, in this process: %s',
    async (localDispatch) => {
      const type = localDispatch ? 'script' : 'external';
      const definition = extended(workflowOf('ext', ''), { ext: { type, timeout: '2m' } });
      const before = new DrivenRun(definition, answering({ ext: hang }));
      const cut = before.start();
      await before.until('a2a.sending ext');
      before.shutDown();
      await expect(cut).rejects.toThrow('This process stops');
      FakeClock.advance(180_000);
      const run = new DrivenRun(definition, answering({ ext: hang }));
      const begun = before.steps.indexOf('node.started ext');
      void run.recover(before.log.slice(0, begun + 1));
      const call = await Promise.race([run.agents.called('ext'), run.latest.then(() => undefined)]);
      expect(await run.clock.awaited()).toBe(120_000);
      call?.complete('yes');
      expect(await run.latest).toBe('TASK_STATE_COMPLETED');
    },
  );

  test('is given up soon where there is none then', async () => {
    const run = await late(hang);
    await Promise.race([run.agents.called('ext'), run.latest]);
    expect(run.agents.calls).toHaveLength(1);
    expect(await run.clock.awaited()).toBe(2_000);
    await run.clock.pass();
    expect(await run.latest).toBe('TASK_STATE_FAILED');
    expect(run.state.error).toMatchObject({ kind: 'timeout', node: 'ext' });
    expect(run.agents.cancels).toEqual([{ node: 'ext', taskId: 'known' }]);
  });

  test('that hangs fails, and its Task is canceled', async () => {
    const run = await runOf(external({ timeout: '2m' }), answering({ ext: hang }));
    expect(run.state.error).toMatchObject({
      kind: 'timeout',
      message: 'node "ext": timeout: not finished within 120 s',
    });
    expect(run.agents.cancels).toEqual([{ node: 'ext', taskId: 'task-of-ext' }]);
    expect(run.sent).toEqual(['ext#1']);
  });

  test('has its Task canceled by a job where that did not come through, with whatever the node comes to', async () => {
    const jobsOf = async (keys: Partial<WorkflowNode>, outcome: 'acknowledged' | 'unreachable') => {
      const agents = answering({ ext: hang });
      agents.cancelOutcome = outcome;
      const run = await runOf(external({ timeout: '2m', ...keys }), agents);
      const jobs = run.log.flatMap((event) => event.jobs ?? []);
      return { jobs: jobs.map(({ name, key }) => `${name} ${key}`), kept: run.keptCancels };
    };
    const job = 'runs.cancel-child runs.cancel-child/run-1/ext#1';
    const kept = [{ runId: 'run-1', node: 'ext', attempt: 1, outcome: 'acknowledged' }];
    expect(await jobsOf({}, 'acknowledged')).toEqual({ jobs: [job], kept });
    expect(await jobsOf({}, 'unreachable')).toEqual({ jobs: [job], kept: [] });
    const fallback = { parts: [{ text: 'instead' }] };
    expect(await jobsOf({ fallback }, 'unreachable')).toEqual({ jobs: [job], kept: [] });
  });

  test('has it for each attempt', async () => {
    const definition = external({ timeout: '2m', retry: { attempts: 2, delay: '1ms' } });
    const run = await runOf(definition, answering({ ext: inTurn(hang, (call) => call.complete('late')) }));
    expect(run.sent).toEqual(['ext#1', 'ext#2', 'out#1']);
    expect(run.payloads('node.retrying')).toMatchObject([{ failure: { kind: 'timeout' } }]);
  });

  test('that nobody has listened to fails as that, and is tried again after it', async () => {
    const refused = (call: FakeCall): void => {
      const failure = new AgentCallError('connect', 'no connection (ECONNREFUSED)', { unsent: true });
      call.options.onUnsent?.(failure);
    };
    const begun = (call: FakeCall): void => {
      refused(call);
      call.options.onUnsent?.(undefined);
    };
    const definition = external({ timeout: '2m', retry: { attempts: 3, delay: '1ms', on: ['connect'] } });
    const run = await runOf(definition, answering({ ext: inTurn(refused, begun) }));
    const message = 'external agent call to http://remote/ext: no connection (ECONNREFUSED)';
    expect(run.payloads('node.retrying')).toMatchObject([{ failure: { kind: 'connect', message } }]);
    expect(run.state.error).toMatchObject({ kind: 'timeout', node: 'ext' });
    expect(run.sent).toEqual(['ext#1', 'ext#2']);
  });

  test('that answers after it is not heard any more', async () => {
    const definition = external({ timeout: '2m', fallback: { parts: [{ text: 'instead' }] } });
    const run = new DrivenRun(definition, answering({ ext: hang, out: hang }));
    const whole = run.start();
    const call = await run.agents.called('ext');
    await run.clock.pass();
    await run.until('node.completed ext');
    call.complete('late');
    (await run.agents.called('out')).complete('out');
    await whole;
    expect(run.state.getNode('ext')).toMatchObject({ fallback: true, artifacts: [{ parts: [{ text: 'instead' }] }] });
  });
});

describe('a run with a deadline', () => {
  test('that is not done by then is stopped, and fails', async () => {
    const definition = workflowOf('a b c', 'b>c', { deadline: '2h' });
    const run = await runOf(definition, answering({ b: hang }));
    expect(run.payloads('run.deadline')).toMatchObject([{ failure: { kind: 'deadline' } }]);
    expect(run.state.error).toMatchObject({ kind: 'deadline', message: 'the run did not finish within 2h' });
    expect(run.agents.cancels).toEqual([{ node: 'b', taskId: 'task-of-b' }]);
    expect([...run.state.nodes.values()].map(({ status }) => status)).toEqual(['completed', 'canceled', 'skipped']);
    expect(run.task.status.state).toBe('TASK_STATE_FAILED');
    expect(run.payloads('workflow.failed')).toMatchObject([{ failure: { kind: 'deadline' } }]);
  });

  test('holds while it waits to try again', async () => {
    const definition = external({ retry: { attempts: 5 } }, { deadline: '1m' });
    const run = await runOf(definition, answering({ ext: tooOften }));
    expect(run.sent).toEqual(['ext#1']);
    expect(run.state.error).toMatchObject({ kind: 'deadline' });
  });
});

describe('a node with a fallback', () => {
  const fallback = { parts: [{ text: 'sorry: ${error.kind} {{in}}' }, { data: { n: '${1 + 1}' } }] };
  const definition = extended(workflowOf('in a out', 'in>a a>out', { language: 2 }), { a: { fallback } });

  test('has that for a result when no attempt succeeds', async () => {
    const run = await everyCrash(definition, () => answering({ a: fail }));
    expect(run.sent).toEqual(['in#1', 'a#1', 'out#1']);
    const parts = [{ text: 'sorry: failed hello' }, { data: { n: 2 } }];
    expect(run.payloads('node.completed', 'a')).toMatchObject([{ fallback: true, artifacts: [{ parts }] }]);
    expect(run.state.getNode('a')).toMatchObject({ status: 'completed', fallback: true });
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('has none when it succeeds', async () => {
    const run = await runOf(definition, answering());
    expect(run.state.getNode('a').fallback).toBeUndefined();
  });

  test('that cannot be filled fails with that', async () => {
    const broken = extended(definition, { a: { fallback: { parts: [{ text: '${nodes.a.data.gone}' }] } } });
    const run = await runOf(broken, answering({ a: fail }));
    expect(run.state.error).toMatchObject({
      kind: 'expression',
      message: expect.stringContaining('fallback.parts[0].text'),
    });
  });

  test('comes after the attempts, and before an edge for failures', async () => {
    const all = extended(
      { ...definition, edges: [...definition.edges, { from: 'a', to: 'catcher', on: 'failure' as const }] },
      { a: { retry: { attempts: 2, on: ['failed'], delay: '1ms' } } },
    );
    const withCatcher = { ...all, nodes: [...all.nodes, { id: 'catcher', type: 'agent', config: {} }] };
    const run = await runOf(withCatcher, answering({ a: fail }));
    expect(run.sent).toEqual(['in#1', 'a#1', 'a#2', 'out#1']);
  });
});

describe('a text that cannot be filled', () => {
  test('fails its node, which nobody is called for', async () => {
    const config: JsonObject = { endpoint_url: 'http://remote/ext', prompt: 'x ${nodes["in"].data.gone}' };
    const definition = extended(workflowOf('in ext', 'in>ext', { language: 2 }), { ext: { config } });
    const run = await everyCrash(definition, () => answering());
    expect(run.sent).toEqual(['in#1']);
    expect(run.state.error).toMatchObject({
      kind: 'expression',
      message: expect.stringContaining('config.prompt, at 21'),
    });
  });
});

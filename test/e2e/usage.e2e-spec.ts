import type { JsonObject } from '#libs/protocol';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, echo, external, linear, output, unique, type Workflow, type WorkflowNode } from '../support/workflow.js';

const [ann, eve, tom] = [testCaller('ann'), testCaller('eve'), testCaller('tom')];
const env = { OUTBOUND_ALLOW: '127.0.0.1', CALLER_DAILY_BUDGET: '1000000', TENANT_DAILY_BUDGET: '9000000' };
const stage = useStage({ env: { ...apiKeyEnv(ann, eve, tom), ...env } });
let api: Api;
let llm: FakeLlm;

beforeAll(async () => {
  api = new Api(stage.parley.url, ann.headers);
  llm = await FakeLlm.start();
  stage.defer(() => llm.stop());
});

interface Usage {
  calls: number;
  unreportedCalls: number;
  unpricedCalls: number;
  inputTokens?: number;
  outputTokens?: number;
  cost?: string;
}
interface RunWithUsage {
  usage?: Usage & { own: Usage; models: (Usage & { model: string })[] };
}

async function keep(price?: JsonObject): Promise<string> {
  const name = unique('m');
  const body = { name, provider: 'openai-compatible', model: name, baseUrl: llm.url, ...(price && { price }) };
  const { status } = await api.call('POST', '/models', body);
  expect(status).toBe(201);
  return name;
}

async function report(query: string, of = api): Promise<{ total: Usage; groups: (Usage & { key: string })[] }> {
  return (await of.call<{ total: Usage; groups: (Usage & { key: string })[] }>('GET', `/usage?${query}`)).body;
}

const PRICE = { input: '1', output: '10', cachedInput: '0.1', cacheWrite: '2' };

it('adds up what the provider reports: failed attempts, fallbacks, repairs and child runs, each once', async () => {
  const [first, second, free] = [await keep(PRICE), await keep(PRICE), await keep()];
  const reported = { input: 0, output: 0, calls: 0 };
  const spend = (answer: FakeAnswer, input: number, output: number): FakeAnswer => {
    reported.input += input;
    reported.output += output;
    reported.calls += 1;
    return { ...answer, usage: { input, output } };
  };
  const said = new Map<string, number>();
  llm.answer = ({ model }) => {
    const name = String(model);
    const count = (said.get(name) ?? 0) + 1;
    said.set(name, count);
    if (name === free) return spend({ text: 'from the child' }, 7, 3);
    // The first attempt of the node: the answer of the first model is cut at its limit, and the second one is down.
    if (name === first && count === 1) return spend({ text: 'a lot of', reason: 'length' }, 100, 50);
    if (name === second && count === 1) return 503;
    // The second attempt: not what was asked for, and then the answer.
    if (count === 2) return spend({ text: 'no number' }, 200, 5);
    return spend({ text: '{"n":1}' }, 300, 6);
  };
  const child = await api.save(linear(unique('child'), echo('x', { prompt: 'hi', model: free }), output('out')));
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const config = { prompt: 'count', model: first, fallbacks: [second], output: schema };
  const retried = { ...echo('a', config), retry: { attempts: 2, delay: '10ms' } };
  const parent = await api.save(
    linear(unique('parent'), retried, { id: 'c', type: 'workflow', config: { workflow: child.name } }, output('out')),
  );
  const run = (await api.ended(await api.start(parent.name))) as unknown as RunWithUsage & {
    runId: string;
    status: string;
  };
  expect(run.status).toBe('completed');
  const { own, models, ...total } = run.usage!;
  expect(total).toEqual({
    calls: reported.calls,
    unreportedCalls: 0,
    unpricedCalls: 1,
    inputTokens: reported.input,
    outputTokens: reported.output,
    // 600 input tokens for a dollar the million, and 61 output tokens for ten.
    cost: '0.00121',
  });
  expect(own).toEqual({ ...total, calls: 3, unpricedCalls: 0, inputTokens: 600, outputTokens: 61 });
  expect(models.map(({ model, calls }) => [model, calls])).toEqual([
    [first, 3],
    [free, 1],
  ]);
  const { body: cost } = await api.call<{ tasks: Record<string, unknown>[]; more: boolean }>(
    'GET',
    `/runs/${run.runId}/cost`,
  );
  const small = { calls: 1, unreportedCalls: 0, unpricedCalls: 1, inputTokens: 7, outputTokens: 3 };
  const path = `workflows/${parent.name}`;
  expect(cost.tasks.map(({ agent, instance, depth }) => [agent, instance, depth])).toEqual([
    [path, undefined, 0],
    ...[1, 2].map(() => [`${path}/nodes/a`, 'a', 1]),
    [`${path}/nodes/c`, 'c', 1],
    [expect.stringMatching(`^workflows/${child.name}/nodes/`), expect.any(String), 2],
  ]);
  expect(cost.tasks[0]).toMatchObject({ taskId: run.runId, usage: total });
  expect(cost.tasks.slice(3)).toEqual([
    expect.objectContaining({ parentTaskId: run.runId, attempt: 1, usage: small }),
    expect.objectContaining({ parentTaskId: cost.tasks[3]?.['taskId'], usage: small }),
  ]);
  expect(cost.more).toBe(false);
  const byWorkflow = new Map((await report('groupBy=workflow')).groups.map((group) => [group.key, group]));
  expect(byWorkflow.get(parent.name)).toEqual({ key: parent.name, ...own });
  expect(byWorkflow.get(child.name)).toMatchObject({ calls: 1, inputTokens: 7, outputTokens: 3, unpricedCalls: 1 });
  expect(byWorkflow.get(child.name)).not.toHaveProperty('cost');
  const { body } = await api.call<{ runs: (RunWithUsage & { runId: string })[] }>(
    'GET',
    `/runs?workflow=${parent.name}`,
  );
  expect(body.runs).toMatchObject([{ runId: run.runId, usage: run.usage }]);
});

it('shows tokens that the provider does not report as unknown, and none for the built-in model', async () => {
  const name = await keep(PRICE);
  llm.answer = () => ({ text: 'hi', usage: 'unreported' });
  const run = (await api.finish(
    linear(unique('w'), echo('a', { prompt: 'x', model: name }), output('out')),
  )) as unknown as RunWithUsage;
  const unknown = { calls: 1, unreportedCalls: 1, unpricedCalls: 1 };
  expect(run.usage).toEqual({ ...unknown, own: unknown, models: [{ model: name, ...unknown }] });
  const echoed = (await api.finish(
    linear(unique('w'), echo('a', { prompt: 'x' }), output('out')),
  )) as unknown as RunWithUsage;
  expect(echoed.usage).toBeUndefined();
});

it('keeps cached, written and reasoning tokens, each kind of input at its price', async () => {
  const name = await keep(PRICE);
  llm.answer = () => ({
    text: 'hi',
    usage: { input: 1_000, output: 100, cached: 600, cacheWrite: 300, reasoning: 40 },
  });
  const run = (await api.finish(
    linear(unique('w'), echo('a', { prompt: 'x', model: name }), output('out')),
  )) as unknown as RunWithUsage;
  expect(run.usage?.own).toEqual({
    ...{ calls: 1, unreportedCalls: 0, unpricedCalls: 0, inputTokens: 1_000, outputTokens: 100 },
    ...{ cachedInputTokens: 600, cacheWriteInputTokens: 300, reasoningTokens: 40, cost: '0.00176' },
  });
});

it('reports the calls of the caller alone, or of all callers to an administrator', async () => {
  const name = await keep();
  llm.answer = () => ({ text: 'hi', usage: { input: 5, output: 1 } });
  await api.finish(linear(unique('w'), echo('a', { prompt: 'x', model: name }), output('out')));
  const other = new Api(stage.parley.url, eve.headers);
  expect((await report('groupBy=model', other)).groups.map(({ key }) => key)).not.toContain(name);
  const all = await report('groupBy=caller&callers=all', other);
  expect(all.groups.map(({ key }) => key)).toContain('ann');
  const { body: key } = await api.call<{ key: string }>('POST', '/keys', { name: unique('carl'), scopes: ['agents'] });
  const reader = new Api(stage.parley.url, { authorization: `Bearer ${key.key}` });
  expect((await reader.call('GET', '/usage?callers=all')).status).toBe(403);
  expect((await reader.call('GET', '/usage')).body).toMatchObject({ total: { calls: 0 }, groups: [], more: false });
});

it.each([
  ['groupBy=node', 'groupBy'],
  ['since=2026-02-30', 'since'],
  ['until=yesterday', 'until'],
  ['since=2026-02-02&until=2026-02-01', 'since'],
  ['since=2020-01-01&until=2026-02-01', 'since'],
  ['callers=eve', 'callers'],
])('refuses the report %s, naming %s', async (query, path) => {
  const { status, body } = await api.call('GET', `/usage?${query}`);
  expect([status, body]).toEqual([400, expect.objectContaining({ errors: [expect.objectContaining({ path })] })]);
});

describe('a budget', () => {
  const priced = { input: '1', output: '0' };
  /** Creates a node whose call of the model costs half a dollar. */
  const costly = (id: string, model: string): WorkflowNode => echo(id, { prompt: `do ${id}`, model, maxTokens: 1 });
  const answerCostly = (): void => {
    llm.answer = ({ messages }) => ({ text: JSON.stringify(messages), usage: { input: 500_000, output: 1 } });
  };
  const countCalls = (model: string): number => llm.calls.filter(({ body }) => body.model === model).length;

  it('stops a run at the first call after its limit, over child runs and agents elsewhere', async () => {
    const model = await keep(priced);
    answerCostly();
    const child = await api.save(linear(unique('child'), costly('x', model), output('out')));
    const away = await stage.fake();
    const nodes = [costly('a', model), { id: 'c', type: 'workflow', config: { workflow: child.name } }];
    const budget = { usd: 1 };
    const workflow = { ...linear(unique('w'), ...nodes, costly('b', model), output('out')), budget };
    const run = await api.finish(workflow);
    expect(run).toMatchObject({ status: 'failed', error: { node: 'b', kind: 'budget-exceeded' } });
    expect(run.error?.message).toContain(
      `the budget of the run ${run.runId} of the workflow "${workflow.name}" is used up: $1 of $1 are spent`,
    );
    expect(countCalls(model)).toBe(2);
    const spent = { usd: '1', onExceeded: 'stop', spentUsd: '1', spentTokens: 1_000_002 };
    expect((run as unknown as { budget: unknown }).budget).toEqual(spent);
    const beyond = linear(unique('w'), costly('a', model), external('e', away.url), output('out'));
    const stopped = await api.finish({ ...beyond, budget: { usd: 0.5 } } as Workflow);
    expect(stopped).toMatchObject({ status: 'failed', error: { node: 'e', kind: 'budget-exceeded' } });
    expect(away.sends).toEqual([]);
    const deep = linear(unique('w'), costly('a', model), {
      id: 'c',
      type: 'workflow',
      config: { workflow: child.name },
    });
    const inner = await api.finish({ ...deep, budget: { tokens: 500_000 } } as Workflow);
    expect(inner).toMatchObject({ status: 'failed', error: { node: 'c', kind: 'budget-exceeded' } });
    expect(inner.error?.message).toContain('500001 of 500000 tokens are spent');
  });

  it('asks how much more may be spent, and continues after the answer or stops', async () => {
    const model = await keep(priced);
    answerCostly();
    const nodes = [costly('a', model), costly('b', model), output('out')];
    const { name } = await api.save({
      ...linear(unique('w'), ...nodes),
      budget: { usd: 0.5, onExceeded: 'ask' },
    } as Workflow);
    const answer = async (runId: string, text: string): Promise<void> => {
      const { status } = await api.call('POST', `/runs/${runId}/answers`, { node: 'b', parts: [{ text }] });
      expect(status).toBe(202);
    };
    const [more, enough] = [await api.start(name), await api.start(name)];
    const asking = await api.reached(more, ['input-required', 'completed', 'failed']);
    expect(asking.nodes['b']?.waitsFor?.message).toContain('How many more US dollars may it spend?');
    await answer(more, 'some');
    const again = async () => (await api.run(more)).nodes['b']?.waitsFor?.message.startsWith('The answer has to be');
    await until(again, { what: 'the question to be repeated' });
    await answer(more, '0.25');
    expect(await api.ended(more)).toMatchObject({ status: 'completed' });
    expect((await api.call('GET', `/runs/${more}`)).body).toMatchObject({ usage: { cost: '1' } });
    await api.reached(enough, ['input-required', 'completed', 'failed']);
    await answer(enough, 'no');
    expect(await api.ended(enough)).toMatchObject({ status: 'failed', error: { kind: 'budget-exceeded' } });
    expect(countCalls(model)).toBe(3);
  });

  it('is lowered by the request for a run, over the API and over A2A', async () => {
    const model = await keep(priced);
    answerCostly();
    const nodes = ['a', 'b'].map((id) => costly(id, model));
    const { name } = await api.save({ ...linear(unique('w'), ...nodes), budget: { usd: 5 } } as Workflow);
    const start = (budget: JsonObject) => api.call<{ runId: string }>('POST', `/workflows/${name}/runs`, { budget });
    for (const [budget, path] of [
      [{ usd: -1 }, 'budget.usd'],
      [{}, 'budget'],
      [{ usd: 1, dollars: 2 }, 'budget.dollars'],
    ] as const) {
      const refused = await start(budget);
      expect([refused.status, refused.body]).toEqual([
        400,
        expect.objectContaining({ errors: [expect.objectContaining({ path })] }),
      ]);
    }
    const { body } = await start({ usd: 0.5, tokens: 10_000_000 });
    const run = await api.ended(body.runId);
    expect(run).toMatchObject({ status: 'failed', error: { node: 'b', kind: 'budget-exceeded' } });
    expect(run).toMatchObject({ budget: { usd: '0.5', tokens: 10_000_000 } });
    const higher = await start({ usd: 100 });
    expect(await api.ended(higher.body.runId)).toMatchObject({ status: 'completed', budget: { usd: '5' } });
    const message = { messageId: unique('m'), role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const send = (budget: JsonObject) =>
      fetch(`${api.base(name)}/message:send`, {
        method: 'POST',
        headers: { ...ann.headers, 'content-type': 'application/json', 'a2a-version': '1.0' },
        body: JSON.stringify({ message, metadata: { 'parley/budget': budget } }),
      });
    const wrong = await send({ tokens: 0 });
    expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('parley/budget.tokens')]);
    const sent = (await (await send({ tokens: 1 })).json()) as { task: { id: string } };
    const failed = await api.ended(sent.task.id);
    expect(failed).toMatchObject({ status: 'failed', error: { node: 'b', kind: 'budget-exceeded' } });
  });

  it('only warns, once', async () => {
    const model = await keep(priced);
    answerCostly();
    const nodes = ['a', 'b', 'c'].map((id) => costly(id, model));
    const budget = { usd: 0.5, onExceeded: 'warn' };
    const frames = await api.trace({ ...linear(unique('w'), ...nodes, output('out')), budget } as Workflow);
    const warnings = frames.filter(({ event }) => event === 'budget.exceeded');
    expect(warnings.map(({ data }) => [data.node_id, data.payload])).toEqual([
      ['b', expect.objectContaining({ unit: 'usd', limit: '0.5', spent: '0.5' })],
    ]);
    expect(countCalls(model)).toBe(3);
  });

  it('needs the price of every model, when a workflow is saved and when the model is called', async () => {
    const [model, free] = [await keep(priced), await keep()];
    const workflow = { ...linear(unique('w'), costly('a', model), costly('b', free)), budget: { usd: 1 } };
    const refused = await api.call('POST', '/workflows', workflow);
    expect([refused.status, refused.body]).toEqual([
      422,
      expect.objectContaining({
        errors: [
          expect.objectContaining({
            code: 'UNPRICED_MODEL',
            path: 'nodes[1].config.model',
            detail: `agent node "b": the model "${free}" has no price, which budget.usd needs`,
          }),
        ],
      }),
    ]);
    const later = { ...linear(unique('w'), costly('a', model), output('out')), budget: { usd: 1 } };
    await api.save(later);
    const unpriced = { name: model, provider: 'openai-compatible', model, baseUrl: llm.url };
    expect((await api.call('PUT', `/models/${model}`, unpriced)).status).toBe(200);
    const run = await api.ended(await api.start(later.name));
    expect(run).toMatchObject({ status: 'failed', error: { node: 'a', kind: 'refused' } });
    expect(run.error?.message).toContain(`the model "${model}" has no price`);
    expect(countCalls(model)).toBe(0);
  });

  it('limits what a caller spends in a day, and leaves other callers alone', async () => {
    const model = await keep({ input: '1000000', output: '0' });
    llm.answer = () => ({ text: 'hi', usage: { input: 1_000_000, output: 1 } });
    const of = new Api(stage.parley.url, tom.headers);
    const { name } = await of.save(linear(unique('w'), costly('a', model), output('out')));
    expect(await of.ended(await of.start(name))).toMatchObject({ status: 'completed' });
    const refused = await of.ended(await of.start(name));
    expect(refused).toMatchObject({ status: 'failed', error: { node: 'a', kind: 'budget-exceeded' } });
    expect(refused.error?.message).toContain('the daily budget of the caller is used up: $1000000 of $1000000');
    expect(countCalls(model)).toBe(1);
    llm.answer = () => ({ text: 'hi', usage: { input: 1, output: 1 } });
    expect(await api.ended(await api.start(name))).toMatchObject({ status: 'completed' });
  });

  it('does not count a call that the provider refuses', async () => {
    const model = await keep(priced);
    let count = 0;
    llm.answer = () => (++count === 1 ? 503 : { text: 'hi', usage: { input: 400_000, output: 1 } });
    const retried = { ...costly('a', model), retry: { attempts: 2, delay: '10ms' } };
    const budget = { usd: 0.5 };
    const run = await api.finish({
      ...linear(unique('w'), retried, costly('b', model), output('out')),
      budget,
    } as Workflow);
    expect([run.status, countCalls(model)]).toEqual(['completed', 3]);
  });
});

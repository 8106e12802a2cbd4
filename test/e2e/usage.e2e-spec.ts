import type { JsonObject } from '#libs/protocol';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { useStage } from '../support/stage.js';
import { Api, echo, linear, output, unique } from '../support/workflow.js';

const [ann, eve] = [testCaller('ann'), testCaller('eve')];
const stage = useStage({ env: { ...apiKeyEnv(ann, eve), OUTBOUND_ALLOW: '127.0.0.1' } });
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

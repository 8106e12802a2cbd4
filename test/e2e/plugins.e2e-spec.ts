import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#libs/protocol';
import { parse } from 'yaml';
import { writeDocumentedFiles } from '../support/documented-files.js';
import { FakeLlm } from '../support/fake-llm.js';
import { type Parley, startParley, startRefused } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { Api, linear, unique, type Workflow } from '../support/workflow.js';

/** Writes down what it does, and waits in the middle of it for a file. */
const NOTING = `
import { appendFileSync, existsSync } from 'node:fs';
import { defineNode } from 'parley-a2a/plugin';

const run = async (ctx) => {
  const { notes } = ctx.config;
  const first = await ctx.step('first', () => (appendFileSync(notes, 'first\\n'), 1));
  appendFileSync(notes, 'between\\n');
  while (!existsSync(notes + '.go')) await new Promise((go) => setTimeout(go, 20));
  return ctx.step('second', () => (appendFileSync(notes, 'second\\n'), \`done \${first}\`));
};
const configSchema = { type: 'object', properties: { notes: { type: 'string' } }, required: ['notes'] };
const asking = defineNode({
  type: 'asking',
  configSchema: { type: 'object', properties: {} },
  recovery: 'fail',
  run: async (ctx) => 'so ' + JSON.stringify(await ctx.ask(ctx.text, { type: 'boolean' })),
});
const noting = ['restart', 'fail'].map((recovery) => defineNode({ type: 'noting_' + recovery, configSchema, recovery, run }));
const report = defineNode({
  type: 'report',
  configSchema: { type: 'object', properties: {} },
  recovery: 'restart',
  async *run(ctx) {
    yield ctx.artifact('log', { text: 'what was done' });
    yield 'the answer';
  },
});
export default [asking, report, ...noting];
`;

/** A name that no tool may have. */
const WRONG_NAME = `import { defineTool } from 'parley-a2a/plugin';
export default defineTool({ name: 'a b', description: 'X', inputSchema: { type: 'object', properties: {} }, run: () => 1 });`;

let folder: string;
let database: TestDatabase;
let parley: Parley;
let llm: FakeLlm;
let api: Api;
let env: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-plugins-'));
  expect(writeDocumentedFiles('PLUGINS.md', folder)).toEqual(['shop.ts', 'shop.yaml', 'alarm.ts']);
  writeFileSync(join(folder, 'noting.mjs'), NOTING);
  llm = await FakeLlm.start();
  database = await freshDatabase();
  env = {
    PARLEY_PLUGINS: ['shop.ts', 'alarm.ts', 'noting.mjs'].map((file) => join(folder, file)).join(','),
    LLM_BASE_URL: llm.url,
    LLM_MODEL: 'small',
    LOG_LEVEL: 'info',
  };
  parley = await startParley({ databaseUrl: database.url, env });
  api = new Api(parley.url);
});

afterAll(async () => {
  await parley?.stop();
  await llm?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

function shop(): Workflow {
  return { ...(parse(readFileSync(join(folder, 'shop.yaml'), 'utf8')) as Workflow), name: unique('shop') };
}

describe('the plugins of the documentation', () => {
  it('do the work of a workflow, each as an agent of its own', async () => {
    const workflow = shop();
    const run = await api.finish(workflow, { item: 'tea' });
    expect(run).toMatchObject({ status: 'completed', result: [{ parts: [{ text: TEA }] }] });
    const base = `${parley.url}/a2a/workflows/${workflow.name}/nodes/price`;
    const card = (await (await fetch(`${base}/.well-known/agent-card.json`)).json()) as JsonObject;
    expect(JSON.stringify(card)).toContain('Says what an item costs.');
    const failed = await api.ended(await api.start(workflow.name, { item: 'gin' }));
    expect(failed).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('there is no gin') } });
    const alarms = (): number => parley.logs().split(`${workflow.name} failed: ${failed.runId}: `).length - 1;
    await until(() => alarms() > 0, { what: 'the handler of facts' });
    expect(alarms()).toBe(1);
  });

  it('are named at the start of the service', () => {
    expect(parley.stdout()).toMatch(
      /^ {2}plugins {3}node quote, .*tool stock, onFact run\.failed, onFact question\.asked$/m,
    );
  });

  it('are in the JSON Schema of workflows, and in what saving checks', async () => {
    const schema = await (await fetch(`${parley.url}/schemas/workflow.json`)).text();
    expect(schema).toContain('"quote"');
    expect(schema).toContain('Percent that are taken off.');
    expect(schema).toContain('"stock"');
    const { nodes, ...workflow } = shop();
    const wrong = nodes.map((node) => (node.id === 'price' ? { ...node, config: { discount: 100, extra: 1 } } : node));
    const { status, body } = await api.call('POST', '/workflows', { ...workflow, nodes: wrong });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: {
        errors: expect.arrayContaining([
          expect.objectContaining({ path: 'nodes[1].config.discount', detail: 'quote: must be <= 90' }),
        ]),
      },
    });
  });

  it('give agents tools', async () => {
    const answers = [{ toolCalls: [{ id: 'c1', name: 'stock', args: { item: 'tea' } }] }, 'There are seven.'];
    llm.answer = () => answers.shift() ?? 500;
    const agent = { id: 'clerk', type: 'agent', config: { prompt: 'How many?', tools: ['stock'] } };
    const run = await api.finish(linear(unique('clerk'), agent));
    expect(run).toMatchObject({ status: 'completed', result: [{ parts: [{ text: 'There are seven.' }] }] });
    const { tools } = llm.calls[0]!.body as { tools: { function: JsonObject }[] };
    expect(tools.map(({ function: it }) => [it.name, it.description])).toEqual([
      ['stock', 'How many of an item there are'],
    ]);
    expect(JSON.stringify(llm.calls[1]!.body)).toContain('\\"count\\":7');
  });
});

describe('a node of a plugin that asks', () => {
  it('lets its run wait for an answer that fits', async () => {
    const workflow = linear(unique('asking'), { id: 'q', type: 'asking', config: { prompt: 'Is it?' } });
    await api.save(workflow);
    const runId = await api.start(workflow.name);
    const { nodes } = await api.reached(runId, ['input-required']);
    expect(nodes['q']).toMatchObject({ waitsFor: { message: 'Is it?' } });
    const answer = async (data: unknown): Promise<number> =>
      (await api.call('POST', `/runs/${runId}/answers`, { node: 'q', parts: [{ data }] })).status;
    expect([await answer('perhaps'), await answer(true)]).toEqual([422, 202]);
    expect(await api.ended(runId)).toMatchObject({ status: 'completed', result: [{ parts: [{ text: 'so true' }] }] });
  });
});

describe('a node of a plugin that makes an Artifact before it says anything', () => {
  it('has what it says as its output, and the Artifact after it', async () => {
    const report = { id: 'r', type: 'report', config: {} };
    const said = { id: 'said', type: 'output', config: { prompt: '{{r}} / ${nodes.r.text}' } };
    const run = await api.finish(Object.assign(linear(unique('report'), report, said), { language: 2 }));
    expect(run).toMatchObject({ status: 'completed', state: { r: 'the answer', said: 'the answer / the answer' } });
    expect(run.artifacts['r']).toMatchObject([{ artifactId: 'r' }, { artifactId: 'log' }]);
  });
});

describe('a node of a plugin, after kill -9', () => {
  it('goes on behind its last step, or fails where its type says so', async () => {
    const runs = ['restart', 'fail'].map((recovery) => ({ recovery, notes: join(folder, recovery), runId: '' }));
    for (const run of runs) {
      const node = { id: 'n', type: `noting_${run.recovery}`, config: { notes: run.notes } };
      const workflow = linear(unique(run.recovery), node);
      await api.save(workflow);
      run.runId = await api.start(workflow.name);
      await until(() => linesOf(run.notes).includes('between'), { what: `${run.recovery} between its steps` });
    }
    await parley.kill9();
    parley = await startParley({ databaseUrl: database.url, env });
    api = new Api(parley.url);
    for (const { notes } of runs) appendFileSync(`${notes}.go`, '');
    const [restarted, failed] = await Promise.all(runs.map(({ runId }) => api.ended(runId)));
    expect(restarted).toMatchObject({ status: 'completed', result: [{ parts: [{ text: 'done 1' }] }] });
    expect(failed?.status).toBe('failed');
    expect(runs.map(({ notes }) => linesOf(notes).filter((it) => it !== 'between'))).toEqual([
      ['first', 'second'],
      ['first'],
    ]);
  });
});

describe('a plugin that cannot be used', () => {
  it.each([
    ['has a wrong name', WRONG_NAME, 'defineTool: name must be 1 to 64 letters, digits, underscores or hyphens'],
    [
      'has the name of a node type that there is',
      `import { defineNode } from 'parley-a2a/plugin';
export default defineNode({ type: 'workflow', configSchema: { type: 'object', properties: {} }, recovery: 'fail', run: () => 1 });`,
      'there is a node type "workflow" already',
    ],
  ])('stops the start with one sentence where it %s', async (_, text, sentence) => {
    const path = join(folder, 'broken.mts');
    writeFileSync(path, text);
    const { code, logs } = await startRefused({ databaseUrl: database.url, env: { PARLEY_PLUGINS: path } });
    expect({ code, logs: logs.trim() }).toEqual({ code: 1, logs: `PARLEY_PLUGINS: ${path}: ${sentence}` });
  });
});

const TEA = 'tea: 2.7, in stock: {"item":"tea","count":7}';

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

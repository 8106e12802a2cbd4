import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JsonObject, runEventNote, type StreamResponse } from '#libs/protocol';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { McpHttpServer } from '../support/mcp-http-server.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { ReplicaCluster } from '../support/replica-cluster.js';
import { range, SseReader } from '../support/sse.js';
import { until } from '../support/until.js';
import { Api, echo, input, linear, unique } from '../support/workflow.js';

const STEPS = 5;
/**
 * Points at which the replica of a run is killed: while the model answers, or while one of its two tools is called, in
 * each step.
 */
const PLACES = [
  ...range(1, STEPS + 1).map((step) => ({ at: 'model', step })),
  ...range(1, STEPS).flatMap((step) => [
    { at: 'look', step },
    { at: 'late', step },
  ]),
].map((place) => ({ ...place, id: `${place.at}-${place.step}` }));

interface Said {
  role: string;
  content: string;
}

/** Holds the first arrival of each run at a point. The repetition after the kill passes. */
class Holds {
  private readonly reached = new Map(
    PLACES.filter(({ at }) => at !== 'late').map(({ id }) => [id, Promise.withResolvers<void>()]),
  );
  private readonly held = new Set<string>();

  /** Never resolves for the first arrival at the point at which this run is held; resolves at once for all others. */
  async pass(run: string, at: string, step: number): Promise<void> {
    if (run !== `${at}-${step}` || this.held.has(run)) return;
    this.held.add(run);
    this.reached.get(run)?.resolve();
    await new Promise(() => undefined);
  }

  async all(): Promise<void> {
    await Promise.all([...this.reached.values()].map(({ promise }) => promise));
  }
}

const folder = mkdtempSync(join(tmpdir(), 'agent-kills-'));
const [file, calls, gate] = ['servers.json', 'calls', 'gate'].map((name) => join(folder, name)) as [
  string,
  string,
  string,
];

let database: TestDatabase;
let llm: FakeLlm;
let web: McpHttpServer;
let cluster: ReplicaCluster;
const holds = new Holds();

/**
 * Returns the model's answer: in each step a call of a tool of each server, after the last step a text with all
 * results.
 */
async function answer(body: JsonObject): Promise<FakeAnswer> {
  const said = body.messages as unknown as Said[];
  const run = said.find(({ role }) => role === 'user')?.content ?? '';
  const results = said.filter(({ role }) => role === 'tool').map(({ content }) => content);
  const step = results.length / 2 + 1;
  await holds.pass(run, 'model', step);
  if (step > STEPS) return { text: results.join(' ') };
  // What cannot be held from outside is a tool that waits.
  const other = run === `late-${step}` ? 'files__late' : 'files__count';
  return {
    toolCalls: [
      { id: `look-${step}`, name: 'web__look', args: { text: `${run}/${step}` } },
      { id: `count-${step}`, name: other, args: { text: `${run}/${step}` } },
    ],
  };
}

beforeAll(async () => {
  [database, llm, web] = await Promise.all([freshDatabase(), FakeLlm.start(), McpHttpServer.start()]);
  llm.answer = answer;
  const call = async ({ text }: JsonObject): Promise<JsonObject> => {
    const [run = '', step] = String(text).split('/');
    await holds.pass(run, 'look', Number(step));
    return { content: [{ type: 'text', text: String(text) }] };
  };
  web.tools = [{ name: 'look', description: 'Looks', annotations: { readOnlyHint: true }, call }];
  const program = {
    command: process.execPath,
    args: [join(import.meta.dirname, '../support/mcp-stdio-server.mjs')],
    env: { MCP_CALLS: calls, MCP_GATE: gate },
  };
  writeFileSync(file, JSON.stringify({ mcpServers: { files: program, web: { url: web.url } } }));
  const env = { MCP_SERVERS_FILE: file, LLM_BASE_URL: llm.url, LLM_MODEL: 'm', OUTBOUND_ALLOW: '127.0.0.1' };
  cluster = await ReplicaCluster.start(database, { replicas: 2, env });
});

afterAll(async () => {
  await cluster?.stop();
  await Promise.all([llm?.stop(), web?.stop()]);
  await database?.drop();
  rmSync(folder, { recursive: true });
});

/** Returns how often a tool was called with each text. */
function counts(texts: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    Object.entries(Object.groupBy(texts, (it) => it)).map(([text, all]) => [text, all!.length]),
  );
}

function calledPrograms(): string[] {
  const lines = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
  const notes = lines.map((line) => JSON.parse(line) as { args: { text: string }; what: string });
  return notes.filter(({ what }) => what === 'called').map(({ args }) => args.text);
}

const STEP = /^(model|tool)\./;

/** Returns the steps of an agent in the log of its run, in order. */
async function runSteps(api: Api, runId: string): Promise<unknown[]> {
  const frames = await (await api.events(runId)).all();
  return frames.flatMap(({ event = '', data }) => (STEP.test(event) ? [[event, data.payload]] : []));
}

/** Returns the steps in the log of the agent's own Task, in order. */
async function taskSteps(api: Api, workflow: string, runId: string): Promise<unknown[]> {
  const { taskId } = (await api.run(runId)).nodes['a']!;
  const url = `${api.base(workflow, 'a')}/tasks/${taskId}:subscribe?since=0`;
  const log = await SseReader.open<StreamResponse>(url, { headers: { 'a2a-version': '1.0' } });
  const events = (await log.all()).map(({ data }) => ('statusUpdate' in data ? data.statusUpdate.metadata : undefined));
  return events.flatMap((metadata) => {
    const note = runEventNote(metadata);
    return note && STEP.test(note.type) ? [[note.type, note.payload]] : [];
  });
}

describe('agents of five steps with two tools each, whose replica is killed', () => {
  it('call each tool once, a repeatable one twice where it was cut off, and ask about the other', async () => {
    const [first] = cluster.replicas;
    const { name } = await new Api(first!.url).save(
      linear(unique('killed'), input('in'), echo('a', { tools: ['web/*', 'files/*'] })),
    );
    const runs = await Promise.all(
      PLACES.map(async ({ id, at, step }) => ({
        id,
        at,
        step,
        runId: await new Api(first!.url).start(name, { in: id }),
      })),
    );
    await holds.all();
    const held = PLACES.filter(({ at }) => at === 'late').map(({ id, step }) => `${id}/${step}`);
    await until(() => held.every((text) => calledPrograms().includes(text)), { what: 'the programs to be called' });
    await cluster.kill(first!);
    writeFileSync(gate, '');
    const api = new Api(cluster.replicas[0]!.url);
    for (const { at, runId } of runs) {
      if (at !== 'late') continue;
      const asking = await api.reached(runId, ['input-required', 'completed', 'failed']);
      expect(asking.status).toBe('input-required');
      const answered = await api.call('POST', `/runs/${runId}/answers`, { node: 'a', parts: [{ text: 'yes' }] });
      expect(answered.status).toBe(202);
    }
    for (const { id, runId } of runs) {
      const { status, state } = await api.ended(runId);
      const text = range(1, STEPS).map((step) => `${id}/${step} ${id}/${step}`);
      expect({ id, status, text: state['a'] }).toEqual({ id, status: 'completed', text: text.join(' ') });
      // The run has each step of its agent's Task, also those of the time in which no replica followed the Task.
      expect({ id, steps: await runSteps(api, runId) }).toEqual({ id, steps: await taskSteps(api, name, runId) });
    }
    const once = PLACES.flatMap(({ id }) => range(1, STEPS).map((step) => [`${id}/${step}`, 1]));
    const twice = (tool: string) => PLACES.filter(({ at }) => at === tool).map(({ id, step }) => [`${id}/${step}`, 2]);
    const looked = counts(web.calls.map(({ args }) => String(args.text)));
    expect(looked).toEqual(Object.fromEntries([...once, ...twice('look')]));
    expect(counts(calledPrograms())).toEqual(Object.fromEntries([...once, ...twice('late')]));
  });
});

describe('a budget of two dollars over a tree of three levels, whose replica is killed', () => {
  const CHILDREN = 6;
  /** Model whose calls cost a tenth of a dollar each, as estimated. Some calls before the kill are never answered. */
  let costly: FakeLlm;
  let isKilled = false;
  const prompts: string[] = [];
  /** Calls before the kill: those of the middle level, of which three are answered, and then those of the low level. */
  const BEFORE = [
    ...range(0, CHILDREN - 1).map((n) => `x ${n}`),
    ...['y', 'z'].flatMap((id) => range(0, 2).map((n) => `${id} ${n}`)),
  ];

  beforeAll(async () => {
    costly = await FakeLlm.start();
    costly.answer = async ({ messages }) => {
      const prompt = (messages as unknown as Said[]).find(({ role }) => role === 'user')?.content ?? '';
      prompts.push(prompt);
      const isAnswered = isKilled || /^x [012]$/.test(prompt);
      if (!isAnswered) await new Promise(() => undefined);
      return { text: prompt, usage: { input: 10, output: 10_000 } };
    };
  });
  afterAll(() => costly?.stop());

  async function saveTree(api: Api): Promise<string> {
    const price = { input: '0', output: '10' };
    const model = unique('costly');
    const defaults = { waitSeconds: 600 };
    const body = { name: model, provider: 'openai-compatible', model, baseUrl: costly.url, price, defaults };
    expect((await api.call('POST', '/models', body)).status).toBe(201);
    const agent = (id: string, prompt: string) => echo(id, { prompt, model, maxTokens: 10_000 });
    const run = (id: string, workflow: string, inputs: JsonObject) => ({
      id,
      type: 'workflow',
      config: { workflow, inputs },
    });
    const low = await api.save({
      ...linear(unique('low'), input('n'), agent('y', 'y {{n}}')),
      nodes: [input('n'), agent('y', 'y {{n}}'), agent('z', 'z {{n}}')],
      edges: ['y', 'z'].map((to) => ({ from: 'n', to })),
    });
    const middle = await api.save(
      linear(unique('middle'), input('n'), agent('x', 'x {{n}}'), run('low', low.name, { n: '{{n}}' })),
    );
    const nodes = range(0, CHILDREN - 1).map((n) => run(`c${n}`, middle.name, { n: String(n) }));
    const top = { name: unique('top'), nodes, edges: [], budget: { usd: 2 } };
    return (await api.save(top)).name;
  }

  it('is spent exactly, with the calls that the kill cut off', async () => {
    await cluster.add();
    const [first] = cluster.replicas;
    const api = new Api(first!.url);
    const runId = await api.start(await saveTree(api));
    const what = (): string => `12 calls of the model; there are ${prompts.join(', ')}`;
    await until(() => prompts.length >= 12, { what });
    expect(prompts.toSorted()).toEqual(BEFORE);
    isKilled = true;
    await cluster.kill(first!);
    const run = await new Api(cluster.replicas[0]!.url).ended(runId);
    expect(run).toMatchObject({ status: 'failed', error: { kind: 'budget-exceeded' } });
    expect(run.error?.message).toContain('$2 of $2 are spent');
    // 0.9 dollars are lost, 0.3 were spent, and the two replicas that adopt the runs spend the remaining 0.8.
    expect(prompts).toHaveLength(20);
    expect(run).toMatchObject({ budget: { usd: '2', spentUsd: '2' } });
  });
});

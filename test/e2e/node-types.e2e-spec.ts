import { FakeLlm } from '../support/fake-llm.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { Api, echo, input, linear, output, step, textOf, unique, type WorkflowNode } from '../support/workflow.js';

const KEY = 'sk-never-to-be-seen';
let database: TestDatabase;
let llm: FakeLlm;
let parley: Parley;
let api: Api;

beforeAll(async () => {
  database = await freshDatabase();
  llm = await FakeLlm.start();
  parley = await startParley({
    databaseUrl: database.url,
    env: { LLM_BASE_URL: llm.url, LLM_API_KEY: KEY, LLM_MODEL: 'house-model' },
  });
  api = new Api(parley.url);
});

afterAll(async () => {
  await parley?.stop();
  await llm?.stop();
  await database?.drop();
});

beforeEach(() => {
  llm.answer = () => 'an answer';
  llm.calls.length = 0;
});

const tool = (id: string, name: string, args: Record<string, string>): WorkflowNode => ({
  id,
  type: 'tool',
  config: { tool: name, args },
});

describe('agent nodes with an OpenAI-compatible endpoint', () => {
  it("the model gets the system prompt and the node's text, and its answer is the node's Artifact", async () => {
    const run = await api.finish(
      linear(
        unique('llm'),
        input('in'),
        echo('a', { prompt: 'Sum up {{in}}', system_prompt: 'Be brief' }),
        output('out'),
      ),
      { in: 'this' },
    );
    expect(run.status).toBe('completed');
    expect(textOf(run.result)).toBe('an answer');
    expect(llm.calls).toHaveLength(1);
    expect(llm.calls[0]).toMatchObject({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${KEY}` },
      body: {
        model: 'house-model',
        messages: [
          { role: 'system', content: 'Be brief' },
          { role: 'user', content: 'Sum up this' },
        ],
      },
    });
  });

  it('a node may name its own model; `echo` is always the built-in one', async () => {
    const run = await api.finish(
      linear(
        unique('llm'),
        echo('named', { model: 'another', prompt: 'x' }),
        echo('own', { model: 'echo', prompt: 'y' }),
      ),
    );
    expect(llm.calls.map(({ body }) => body.model)).toEqual(['another']);
    expect(run.state.own).toBe('y');
  });

  it('model.request and model.response are events of the run, and never show the key', async () => {
    const frames = await api.trace(linear(unique('llm'), echo('a', { prompt: 'x' })));
    expect(frames.map(step)).toEqual(expect.arrayContaining(['model.request:a', 'model.response:a']));
    expect(frames.find(({ event }) => event === 'model.request')?.data.model).toBe('house-model');
    expect(frames.map(({ raw }) => raw).join('')).not.toContain(KEY);
  });

  it('a model that refuses is a node error, told without the key', async () => {
    llm.answer = () => 401;
    const run = await api.finish(linear(unique('llm'), echo('a', { prompt: 'x' })));
    expect(run.status).toBe('failed');
    expect(run.error?.node).toBe('a');
    expect(JSON.stringify(run)).not.toContain(KEY);
    expect(parley.logs()).not.toContain(KEY);
  });
});

describe('tool nodes', () => {
  it('templates in their arguments are resolved, and tool.call and tool.result are events of the run', async () => {
    const frames = await api.trace(
      linear(unique('tool'), input('in'), tool('t', 'calculator', { expression: '{{in}} * 2' })),
      { in: '21' },
    );
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { t: '42' } });
    expect(frames.map(step).filter((it) => it.startsWith('tool.'))).toEqual(['tool.call:t', 'tool.result:t']);
    const call = frames.find(({ event }) => event === 'tool.call')?.data;
    expect(call).toMatchObject({ tool: 'calculator', payload: { tool: 'calculator', args: { expression: '21 * 2' } } });
  });

  it('a tool that fails is a node error', async () => {
    const run = await api.finish(linear(unique('tool'), tool('t', 'calculator', { expression: 'process.exit()' })));
    expect(run).toMatchObject({
      status: 'failed',
      error: { node: 't', message: expect.stringContaining('node "t": ') },
    });
    expect((await fetch(`${parley.url}/health/live`)).status).toBe(200);
  });

  it('an unknown tool is refused at save', async () => {
    const reply = await api.call('POST', '/workflows', linear(unique('tool'), tool('t', 'format_disk', {})));
    expect(reply.status).toBe(422);
    expect(reply.text).toContain('format_disk');
  });
});

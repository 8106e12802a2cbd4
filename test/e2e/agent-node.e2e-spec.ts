import type { JsonObject, StreamResponse, Task } from '#libs/protocol';
import { rest, rpc, sendParams, sendTask, stream } from '../support/a2a.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import type { SseFrame } from '../support/sse.js';
import { Api, echo, linear, output, type RunEvent, unique, type WorkflowNode } from '../support/workflow.js';

let database: TestDatabase;
let llm: FakeLlm;
let parley: Parley;
let api: Api;

beforeAll(async () => {
  database = await freshDatabase();
  llm = await FakeLlm.start();
  parley = await startParley({
    databaseUrl: database.url,
    env: {
      LLM_BASE_URL: llm.url,
      LLM_API_KEY: 'sk-never-to-be-seen',
      LLM_MODEL: 'house',
      LLM_INPUT_MODES: 'image/*',
    },
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

interface Said {
  role: string;
  content: unknown;
  tool_calls?: unknown;
}

const said = (body?: JsonObject): Said[] => (body?.messages ?? []) as unknown as Said[];
const heard = (call: number): [string, unknown][] =>
  said(llm.calls[call]?.body).map(({ role, content }) => [role, content]);

/** Saves a workflow of one agent. */
async function agent(config: JsonObject): Promise<{ name: string; base: string }> {
  const { name } = await api.save(linear(unique('agent'), echo('a', config)));
  return { name, base: api.base(name, 'a') };
}

const payloads = (frames: SseFrame<RunEvent>[], type: string): unknown[] =>
  frames.filter(({ event }) => event === type).map(({ data }) => data.payload);

/** A call of the calculator, then an answer that quotes its result. */
function calculating(body: JsonObject): FakeAnswer {
  const last = said(body).at(-1);
  if (last?.role === 'tool') return { text: `It is ${String(last.content)}` };
  return { toolCalls: [{ id: 'c1', name: 'calculator', args: { expression: '6 * 7' } }] };
}

describe('an agent with tools', () => {
  it('calls them as the model asks; each step is an event of the run, with these members', async () => {
    llm.answer = calculating;
    const workflow = linear(
      unique('agent'),
      echo('a', { prompt: 'What is it?', tools: ['calculator'] }),
      output('out'),
    );
    const frames = await api.trace(workflow);
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { a: 'It is 42' } });
    const call = { tool: 'calculator', id: 'c1', args: { expression: '6 * 7' } };
    const usage = { inputTokens: 1, outputTokens: 2 };
    expect(payloads(frames, 'model.request')).toEqual([1, 2].map((step) => ({ model: 'house', step })));
    expect(payloads(frames, 'model.response')).toEqual([
      { model: 'house', step: 1, usage, toolCalls: [call] },
      { model: 'house', step: 2, usage },
    ]);
    expect(payloads(frames, 'tool.call')).toEqual([{ ...call, step: 1 }]);
    expect(payloads(frames, 'tool.result')).toEqual([{ tool: 'calculator', id: 'c1', result: 42 }]);
    expect(llm.calls[0]?.body.tools).toMatchObject([{ type: 'function', function: { name: 'calculator' } }]);
    expect(said(llm.calls[1]?.body).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('waits for a yes where its config wants that, with the arguments in the question', async () => {
    llm.answer = calculating;
    const { name } = await agent({ prompt: 'What is it?', tools: ['calculator'], approve: ['calculator'] });
    const runId = await api.start(name);
    const asking = await api.reached(runId, ['input-required']);
    expect(JSON.stringify(asking)).toContain('6 * 7');
    const answered = await api.call('POST', `/runs/${runId}/answers`, { node: 'a', parts: [{ text: 'yes' }] });
    expect(answered.status).toBe(202);
    expect((await api.ended(runId)).state).toEqual({ a: 'It is 42' });
  });

  it('goes on without the call after a no, which the model reads as its result', async () => {
    llm.answer = calculating;
    const { base } = await agent({ tools: ['calculator'], approve: ['calculator'] });
    const asking = await sendTask(base, 'What is it?');
    expect(asking.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const fields = { taskId: asking.id, contextId: asking.contextId };
    const done = await sendTask(base, [{ data: { decision: 'no' } }], { fields });
    expect(done.status.message?.parts[0]?.text).toMatch(/^It is .*the call was not approved/);
  });
});

describe('an agent whose tools are agents', () => {
  /** Calls the first tool that it is offered, then quotes the result. */
  const calling =
    (args: JsonObject) =>
    (body: JsonObject): FakeAnswer => {
      const last = said(body).at(-1);
      const [tool] = (body.tools ?? []) as { function: { name: string } }[];
      if (last?.role === 'tool' || tool === undefined) return { text: `heard ${String(last?.content)}` };
      return { toolCalls: [{ id: 'c1', name: tool.function.name, args }] };
    };
  const verse = (): WorkflowNode[] => [
    { id: 'topic', type: 'input', config: { schema: { type: 'string' } } },
    output('out', { prompt: 'a verse about {{topic}}' }),
  ];

  it('calls a workflow by its inputs, and tells the run of its task', async () => {
    const poet = await api.save(linear(unique('poet'), ...verse()));
    llm.answer = calling({ topic: 'rain' });
    const tools = [{ agent: poet.name, name: 'poet' }];
    const frames = await api.trace(linear(unique('agent'), echo('a', { prompt: 'x', tools }), output('out')));
    expect(llm.calls[0]?.body.tools).toMatchObject([
      { function: { name: 'agent__poet', parameters: { properties: { topic: { type: 'string' } } } } },
    ]);
    expect(payloads(frames, 'tool.call')).toEqual([{ tool: 'agent:poet', id: 'c1', args: { topic: 'rain' }, step: 1 }]);
    expect(payloads(frames, 'tool.called')).toMatchObject([{ tool: 'agent:poet', id: 'c1', agent: poet.name }]);
    expect(payloads(frames, 'tool.result')).toEqual([
      { tool: 'agent:poet', id: 'c1', result: { status: 'completed', text: 'a verse about rain' } },
    ]);
  });

  it('passes the question of a person up to its caller, and the answer down, without the model', async () => {
    const desk = await api.save(linear(unique('desk'), { id: 'who', type: 'human', config: { prompt: 'Who?' } }));
    llm.answer = calling({ message: 'ask' });
    const { base } = await agent({ tools: [{ agent: desk.name, name: 'desk' }] });
    const asking = await sendTask(base, 'x');
    expect(asking.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(asking.status.message?.parts[0]?.text).toContain('The agent "agent:desk" asks: ');
    expect(llm.calls).toHaveLength(1);
    const fields = { taskId: asking.id, contextId: asking.contextId };
    const done = await sendTask(base, 'Ada', { fields });
    expect(done.status.message?.parts[0]?.text).toContain('Ada');
    expect(llm.calls).toHaveLength(2);
  });

  it.each([0, 1])('is stopped where two name each other, begun with number %i', async (first) => {
    llm.answer = calling({ message: 'go' });
    const names = [unique('one'), unique('two')] as const;
    const definitions = names.map((name, index) =>
      linear(name, echo('a', { prompt: 'x', tools: [{ agent: names[1 - index]!, name: 'other' }] })),
    );
    await api.save(linear(names[0], echo('a', { prompt: 'x' })));
    await api.save(definitions[1]!);
    expect((await api.call('PUT', `/workflows/${names[0]}`, definitions[0])).status).toBe(200);
    const run = await api.ended(await api.start(names[first]!));
    expect(run.status).toBe('completed');
    expect(JSON.stringify(run.state)).toContain('LOOP_DETECTED');
  });

  it('is not saved where one is not there', async () => {
    const tools = ['calculator', { agent: 'nobody-of-this-name' }];
    const reply = await api.call('POST', '/workflows', linear(unique('agent'), echo('a', { tools })));
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({ errors: [{ code: 'UNKNOWN_AGENT', path: 'nodes[0].config.tools[1]' }] });
  });
});

describe('models that do not answer', () => {
  it.each([429, 503])('HTTP %d goes to the next one, and the run tells of it', async (status) => {
    llm.answer = ({ model }) => (model === 'house' ? status : 'from the other');
    const frames = await api.trace(linear(unique('agent'), echo('a', { prompt: 'x', fallbacks: ['other'] })));
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { a: 'from the other' } });
    expect(payloads(frames, 'model.error')).toEqual([
      { model: 'house', step: 1, status, message: expect.stringContaining(String(status)), next: 'other' },
    ]);
  });

  it.each([
    [503, 'server-error'],
    [429, 'rate-limited'],
  ])('HTTP %d is tried again by the node, as its kind says', async (status, kind) => {
    llm.answer = () => status;
    const node = { ...echo('a', { prompt: 'x' }), retry: { attempts: 3, delay: '10ms' } };
    const run = await api.finish(linear(unique('agent'), node));
    expect(run.error).toMatchObject({ node: 'a', kind });
    expect(run.nodes['a']).toMatchObject({ attempts: 3 });
    expect(llm.calls).toHaveLength(3);
  });

  it('a key that is refused is told so, and no other model is asked', async () => {
    llm.answer = () => 401;
    const run = await api.finish(linear(unique('agent'), echo('a', { prompt: 'x', fallbacks: ['other'] })));
    expect(run.error).toMatchObject({ node: 'a', message: expect.stringContaining('refused the key') });
    expect(llm.calls).toHaveLength(1);
  });

  it('an answer that breaks off is made by the next one, and replaces what had come', async () => {
    llm.answer = ({ model }) => (model === 'house' ? { text: ['half ', pause(200), 'of it'], cut: 'broken' } : 'whole');
    const { base } = await agent({ fallbacks: ['other'] });
    const task = await sendTask(base, 'x');
    expect(task.artifacts?.map(({ parts }) => parts.map(({ text }) => text))).toEqual([['whole']]);
  });
});

describe('an answer with a schema', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

  it('is data, mended once where it does not fit', async () => {
    llm.answer = (body) => (said(body).length > 3 ? '{"n":1}' : '{"n":"one"}');
    const { base } = await agent({ output: schema });
    const task = await sendTask(base, 'how many?');
    expect(task.artifacts?.[0]?.parts).toEqual([{ data: { n: 1 }, mediaType: 'application/json' }]);
    expect(heard(1).at(-1)).toEqual(['user', expect.stringContaining('output.n must be integer')]);
  });

  it('fails the node with its path where it does not fit again', async () => {
    llm.answer = () => '{"n":"one"}';
    const run = await api.finish(linear(unique('agent'), echo('a', { prompt: 'x', output: schema })));
    expect(run.error?.message).toContain('output.n must be integer');
    expect(run.error).toMatchObject({ kind: 'invalid-output' });
    expect(llm.calls).toHaveLength(2);
  });
});

describe('an answer that comes slowly', () => {
  it('is seen while it comes: by readers of the agent, and of the run', async () => {
    const gate = Promise.withResolvers<void>();
    llm.answer = () => ({ text: ['One ', 'two ', gate.promise, 'three', pause(100), ' four'] });
    const { name, base } = await agent({ prompt: 'count' });
    const reader = await stream(base, 'count');
    const artifacts = (frames: { data: { result?: StreamResponse } }[]) =>
      frames.flatMap(({ data: { result } }) => (result && 'artifactUpdate' in result ? [result.artifactUpdate] : []));
    const first = await reader.find(({ data }) => artifacts([{ data }]).length > 0);
    expect(artifacts([first])[0]?.artifact.parts[0]?.text).toBe('One two ');
    const run = await api.stream(name);
    const progress = await run.find(({ event }) => event === 'node.progress');
    expect(progress.data.payload).toMatchObject({ artifact: { parts: [{ text: 'One two ' }] } });
    gate.resolve();
    const frames = await reader.all();
    const pieces = artifacts([first, ...frames.filter((it) => it !== first)]);
    expect(pieces.map(({ append }) => append ?? false)).toEqual([false, ...pieces.slice(1).map(() => true)]);
    expect(pieces.map(({ artifact }) => artifact.parts[0]?.text).join('')).toBe('One two three four');
    expect(pieces.at(-1)?.lastChunk).toBe(true);
    const ended = await run.all();
    expect(ended.at(-1)?.data).toMatchObject({ status: 'completed', state: { a: 'One two three four' } });
    const completed = ended.find(({ event }) => event === 'node.completed')?.data.payload;
    expect(completed?.artifacts).toMatchObject([{ parts: [{ text: 'One two three four' }] }]);
  });
});

describe('what an agent remembers', () => {
  const talk = async (base: string, texts: string[], fields = {}): Promise<Task> => {
    let last: Task | undefined;
    for (const text of texts)
      last = await sendTask(base, text, { fields: { ...fields, ...(last && { contextId: last.contextId }) } });
    return last!;
  };

  it('is what was said in the same context with the same agent, without what failed', async () => {
    llm.answer = (body) => {
      const last = said(body).at(-1)?.content;
      return last === 'two' ? 500 : `answer to ${String(last)}`;
    };
    const { base } = await agent({ system_prompt: 'Be brief' });
    const { contextId } = await talk(base, ['one', 'two', 'three']);
    expect(heard(llm.calls.length - 1)).toEqual([
      ['system', 'Be brief'],
      ['user', 'one'],
      ['assistant', 'answer to one'],
      ['user', 'three'],
    ]);
    const other = await agent({});
    await sendTask(other.base, 'four', { fields: { contextId } });
    expect(heard(llm.calls.length - 1)).toEqual([['user', 'four']]);
  });

  it('is kept for a workflow that is asked again in its context, and not where its config says none', async () => {
    const remembering = await agent({});
    await talk(api.base(remembering.name), ['one', 'two']);
    expect(heard(1)).toEqual([
      ['user', 'one'],
      ['assistant', 'an answer'],
      ['user', 'two'],
    ]);
    const forgetful = await agent({ history: 'none' });
    await talk(api.base(forgetful.name), ['one', 'two']);
    expect(heard(3)).toEqual([['user', 'two']]);
  });
});

describe.each(['its own URL', 'the URL of a workflow that begins with it'])('files at %s', (place) => {
  const image = { raw: 'iVBORw0KGgo=', mediaType: 'image/png', filename: 'cat.png' };
  const baseOf = ({ name, base }: { name: string; base: string }) => (place === 'its own URL' ? base : api.base(name));

  it('reach a model that takes them, as the card says', async () => {
    const base = baseOf(await agent({}));
    const card = await rest<{ defaultInputModes: string[] }>(base, 'GET', '/.well-known/agent-card.json');
    expect(card.body.defaultInputModes).toEqual(['text/plain', 'application/json', 'image/*']);
    const task = await sendTask(base, [{ text: 'What is it?' }, image]);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(JSON.stringify(said(llm.calls[0]?.body))).toContain('data:image/png;base64,iVBORw0KGgo=');
  });

  it('of another kind are refused by name, and by the echo all of them', async () => {
    const refusal = { error: { code: -32005, message: expect.stringContaining('message.parts[0].mediaType') } };
    const base = baseOf(await agent({}));
    const pdf = await rpc(base, 'SendMessage', sendParams([{ raw: 'AAAA', mediaType: 'application/pdf' }]));
    expect(pdf.body).toMatchObject(refusal);
    const repeating = baseOf(await agent({ model: 'echo' }));
    const echoed = await rpc(repeating, 'SendMessage', sendParams([image]));
    expect(echoed.body).toMatchObject(refusal);
    expect(llm.calls).toEqual([]);
  });
});

describe('the config of an agent', () => {
  it('is refused with the place of what is wrong in it', async () => {
    const config = { tools: ['calculator', 'format_disk'], maxSteps: 0, output: { type: 'thing' } };
    const reply = await api.call<{ errors: { path: string }[] }>('POST', '/workflows', {
      ...linear(unique('agent'), echo('a', config)),
    });
    expect(reply.status).toBe(422);
    expect(reply.body.errors.map(({ path }) => path).toSorted()).toEqual([
      'nodes[0].config.maxSteps',
      'nodes[0].config.output',
      'nodes[0].config.tools[1]',
    ]);
  });

  it('may not ask for an output beside that of its node', async () => {
    const node = { ...echo('a', { output: { type: 'object' } }), output: { schema: { type: 'object' } } };
    const reply = await api.call<{ errors: unknown[] }>('POST', '/workflows', linear(unique('agent'), node));
    expect(reply.status).toBe(422);
    expect(reply.body.errors).toMatchObject([{ code: 'CONFLICTING_OUTPUT', path: 'nodes[0].output' }]);
  });
});

describe('POST /api/generate', () => {
  const good = (name: string) =>
    linear(name, { id: 'text', type: 'input', config: {} }, echo('say', { prompt: 'Say loudly: {{text}}' }));
  const cyclic = (name: string) => {
    const { edges, ...rest } = good(name);
    return { ...rest, edges: [...edges, { from: 'say', to: 'text' }] };
  };
  const names = async () => (await api.call<{ name: string }[]>('GET', '/workflows')).body.map(({ name }) => name);

  it('has a cycle repaired, answers with a workflow that can be saved as it is, and saves nothing', async () => {
    const name = unique('written');
    llm.answer = () => JSON.stringify(llm.calls.length === 1 ? cyclic(name) : good(name));
    const before = await names();
    const reply = await api.call<{ workflow: JsonObject }>('POST', '/generate', { description: 'Say it loudly.' });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ workflow: { name }, attempts: 2, model: 'house' });
    expect(await names()).toEqual(before);
    expect(JSON.stringify(said(llm.calls[1]?.body))).toContain('cycle detected');
    expect((await api.call('POST', '/workflows', reply.body.workflow)).status).toBe(201);
  });

  it('streams what the model writes, and ends with an event `error` where its stream breaks', async () => {
    llm.answer = () => ({ text: ['{"name": "x", ', '"nodes": ['], cut: 'broken' });
    const response = await fetch(`${parley.url}/api/generate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ description: 'Say it loudly.' }),
    });
    expect(response.status).toBe(200);
    const text = await response.text();
    const types = [...text.matchAll(/^event: (.+)$/gm)].map(([, type]) => type);
    expect([types[0], types.at(-1)]).toEqual(['generate.started', 'error']);
    expect(text).toContain('"reason":"MODEL_FAILED"');
  });

  it('reports a refusal of the provider with its status, and a model that it does not know with the path', async () => {
    llm.answer = () => 503;
    const failed = await api.call('POST', '/generate', { description: 'x' });
    expect(failed.body).toMatchObject({ status: 502, reason: 'MODEL_FAILED', detail: expect.stringContaining('503') });
    llm.answer = () => 404;
    const unknown = await api.call('POST', '/generate', { description: 'x', model: 'huge' });
    expect(unknown.body).toMatchObject({ status: 422, errors: [{ path: 'model' }] });
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

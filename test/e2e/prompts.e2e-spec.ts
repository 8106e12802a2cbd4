import type { JsonObject, Task } from '#libs/protocol';
import type { KeptCall, KeptCallTexts } from '#libs/tasks';
import { sendTask } from '../support/a2a.js';
import { ANN, EVE, KNOWS_CALLERS } from '../support/callers.js';
import type { FakeAnswer } from '../support/fake-llm.js';
import { keepModel, type KeptModel } from '../support/kept-model.js';
import { type SharedStage, useSharedStage } from '../support/shared-stage.js';
import { Api, echo, linear, unique } from '../support/workflow.js';

interface Prompts {
  calls: KeptCall[];
  cut?: true;
}

/** The OpenAI request that a kept call stands for. */
function openAiRequest({ providerModel, sent }: KeptCallTexts): JsonObject {
  const messages = sent.messages.flatMap((message) => openAiMessages(message as unknown as OwnMessage));
  const tools = (sent.tools ?? []) as { name: string; description: string; inputSchema: JsonObject }[];
  return {
    model: providerModel,
    messages: [...(sent.system === undefined ? [] : [{ role: 'system', content: sent.system }]), ...messages],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, inputSchema: parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    }),
    ...(sent.temperature !== undefined && { temperature: sent.temperature }),
    ...(sent.maxTokens !== undefined && { max_tokens: sent.maxTokens }),
  } as JsonObject;
}

interface OwnMessage {
  role: string;
  parts?: { text: string }[];
  toolCalls?: { id: string; name: string; args: JsonObject }[];
  results?: { id: string; result?: unknown; error?: string }[];
}

function openAiMessages({ role, parts = [], toolCalls, results }: OwnMessage): JsonObject[] {
  if (results) {
    return results.map(({ id, result, error }) => ({
      role: 'tool',
      tool_call_id: id,
      content: error ?? (typeof result === 'string' ? result : JSON.stringify(result)),
    }));
  }
  const text = parts.map((part) => part.text).join('\n\n');
  const calls = toolCalls?.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return [{ role, content: text, ...(calls && { tool_calls: calls }) }];
}

/** Request that a provider received, without the members about the form of its answer. */
function received(body: JsonObject): JsonObject {
  const { model, messages, tools, temperature, max_tokens: maxTokens } = body;
  const whole = (messages as JsonObject[]).map((message) => ({ ...message, content: message.content ?? '' }));
  return JSON.parse(
    JSON.stringify({ model, messages: whole, tools, temperature, max_tokens: maxTokens }),
  ) as JsonObject;
}

/** Calls the calculator until `times` results are there, then answers. */
function calculating(times: number) {
  return ({ messages }: JsonObject): FakeAnswer => {
    const said = messages as JsonObject[];
    const results = said.slice(said.findLastIndex(({ role }) => role === 'user')).filter(({ role }) => role === 'tool');
    if (results.length === times) return { text: 'It is done.', usage: { input: 40, output: 4 } };
    const args = { expression: `${results.length + 1} * 7` };
    return { toolCalls: [{ id: `c${results.length}`, name: 'calculator', args }] };
  };
}

const listOf = async (api: Api, { id }: Pick<Task, 'id'>): Promise<Prompts> =>
  (await api.call<Prompts>('GET', `/tasks/${id}/prompts`)).body;

async function textsOf(api: Api, task: Pick<Task, 'id'>): Promise<KeptCallTexts[]> {
  const { calls } = await listOf(api, task);
  const read = async ({ call }: KeptCall): Promise<KeptCallTexts> =>
    (await api.call<KeptCallTexts>('GET', `/tasks/${task.id}/prompts/${call}`)).body;
  return Promise.all(calls.map(read));
}

const rowsOf = async ({ database }: Pick<SharedStage, 'database'>, { id }: Pick<Task, 'id'>): Promise<string> => {
  const rows = await database.query<{ body: string }>('SELECT body FROM task_prompt WHERE task_id = $1', [id]);
  return rows.map(({ body }) => body).join('\n');
};

describe('what models are sent', () => {
  const stage = useSharedStage(KNOWS_CALLERS);
  let api: Api;
  let model: KeptModel;

  beforeAll(async () => {
    api = new Api(stage.parley.url, ANN.headers);
    model = await keepModel(api, stage.defer);
  });

  beforeEach(() => {
    model.llm.calls.length = 0;
    model.llm.answer = () => 'an answer';
  });

  async function agent(config: JsonObject = {}): Promise<string> {
    const { name } = await api.save(linear(unique('agent'), echo('a', { model: model.name, ...config })));
    return api.base(name, 'a');
  }

  const ask = (base: string, text: string, fields: JsonObject = {}): Promise<Task> =>
    sendTask(base, text, { headers: ANN.headers, fields });

  it('is kept as the provider received it: each step of a Task that remembers an earlier one', async () => {
    const base = await agent({
      system_prompt: 'You do sums.',
      tools: ['calculator'],
      temperature: 0.3,
      maxTokens: 500,
    });
    const earlier = await ask(base, 'an earlier question');
    model.llm.answer = calculating(2);
    const task = await ask(base, 'two sums', { contextId: earlier.contextId });
    const bodies = model.llm.calls.map(({ body }) => body);
    const kept = [...(await textsOf(api, earlier)), ...(await textsOf(api, task))];
    expect(kept.map(openAiRequest)).toEqual(bodies.map(received));
    expect(kept.map(({ step }) => step)).toEqual([1, 1, 2, 3]);
    expect(JSON.stringify(kept[3]!.sent.messages)).toContain('an earlier question');
    expect(kept[3]).toMatchObject({
      model: model.name,
      provider: 'openai-compatible',
      providerModel: 'fake',
      usage: { inputTokens: 40, outputTokens: 4 },
      reason: 'stop',
      received: { role: 'assistant', parts: [{ text: 'It is done.' }] },
      ms: expect.any(Number),
    });
    expect(kept[1]).toMatchObject({
      reason: 'tool-calls',
      received: { toolCalls: [{ id: 'c0', name: 'calculator', args: { expression: '1 * 7' } }] },
    });
  });

  it('is stored as differences: no text of a step is stored again for a later one', async () => {
    model.llm.answer = calculating(3);
    const task = await ask(await agent({ system_prompt: 'You do sums.', tools: ['calculator'] }), 'three sums');
    const rows = await rowsOf(stage, task);
    for (const text of ['You do sums.', 'three sums', '1 * 7', 'It is done.', '"inputSchema"'])
      expect([text, rows.split(text).length - 1]).toEqual([text, 1]);
  });

  it('is kept of a failed call and of the next model, of a structured answer and its correction', async () => {
    model.llm.answer = () => 503;
    const failing = await agent({ fallbacks: ['echo'] });
    const { calls } = await listOf(api, await ask(failing, 'hello'));
    expect(calls).toMatchObject([
      { step: 1, model: model.name, error: expect.stringContaining('503') },
      { model: 'echo' },
    ]);
    const answers = ['no JSON', '{"n":1}'];
    model.llm.answer = () => answers.shift() ?? 'x';
    const output = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const kept = await textsOf(api, await ask(await agent({ output }), 'a number'));
    expect(kept).toMatchObject([
      { sent: { output, messages: [{}] }, received: { parts: [{ text: 'no JSON' }] } },
      { sent: { output, messages: [{}, {}, {}] }, received: { parts: [{ text: '{"n":1}' }] } },
    ]);
    expect(kept.map(({ sent }) => sent.system)).toEqual(
      model.llm.calls.slice(-2).map(({ body }) => (body.messages as JsonObject[])[0]!.content),
    );
  });

  it('has no credential: neither that of the model in a prompt, nor what looks like one', async () => {
    const secret = 'the-credential-of-the-model';
    const name = unique('credential');
    const made = await api.call('POST', '/credentials', { name, kind: 'bearer', token: secret });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    const body = {
      name: unique('model'),
      provider: 'openai-compatible',
      model: 'fake',
      baseUrl: model.llm.url,
      auth: name,
    };
    expect((await api.call('POST', '/models', body)).status).toBe(201);
    model.llm.answer = () => `I heard ${secret} and sk-abcdefghijklmnopqrstuvwx`;
    const base = await agent({ model: body.name, system_prompt: `Use ${secret}.` });
    const task = await ask(base, `say ${secret}`);
    expect(model.llm.calls[0]?.headers.authorization).toBe(`Bearer ${secret}`);
    const rows = await rowsOf(stage, task);
    expect(rows).not.toContain(secret);
    expect(rows).not.toContain('sk-abcdef');
    expect((await textsOf(api, task))[0]).toMatchObject({
      sent: { system: 'Use [redacted].', messages: [{ parts: [{ text: 'say [redacted]' }] }] },
      received: { parts: [{ text: 'I heard [redacted] and [redacted]' }] },
    });
  });

  it('is read by its owner with the scope prompts alone', async () => {
    const task = await ask(await agent(), 'hello');
    const keyWith = async (scopes: string[], owner = ANN): Promise<Api> => {
      const { body } = await new Api(stage.parley.url, owner.headers).call<{ key: string }>('POST', '/keys', {
        name: owner.name,
        scopes,
      });
      return new Api(stage.parley.url, { authorization: `Bearer ${body.key}` });
    };
    const path = `/tasks/${task.id}/prompts`;
    const denied = await (await keyWith(['agents', 'workflows'])).call('GET', path);
    expect(denied.status).toBe(403);
    expect(denied.text).toContain('prompts');
    expect((await (await keyWith(['prompts'])).call<Prompts>('GET', path)).body.calls).toHaveLength(1);
    expect((await (await keyWith(['admin'])).call('GET', `${path}/1`)).status).toBe(200);
    for (const suffix of ['', '/1']) {
      const answer = await (await keyWith(['prompts', 'admin'], EVE)).call('GET', path + suffix);
      expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('task not found')]);
    }
    expect((await api.call('GET', `${path}/2`)).text).toContain('model call not found');
    expect((await api.call('GET', `${path}/first`)).status).toBe(404);
  });

  it('is kept over the turns of a Task, which another execution continues', async () => {
    model.llm.answer = calculating(1);
    const base = await agent({ tools: ['calculator'], approve: ['calculator'], system_prompt: 'You do sums.' });
    const waiting = await ask(base, 'one sum');
    expect(waiting.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const task = await ask(base, 'yes', { taskId: waiting.id, contextId: waiting.contextId });
    expect((await textsOf(api, task)).map(openAiRequest)).toEqual(model.llm.calls.map(({ body }) => received(body)));
    expect((await rowsOf(stage, task)).split('You do sums.')).toHaveLength(2);
  });
});

describe('PROMPT_LOG=off', () => {
  const stage = useSharedStage({ env: { PROMPT_LOG: 'off' } });

  it('nothing is stored, and the API says that no call is kept', async () => {
    const { name } = await stage.api.save(linear(unique('agent'), echo('a', { system_prompt: 'hidden' })));
    const task = await sendTask(stage.api.base(name, 'a'), 'hello');
    expect(await rowsOf(stage, task)).toBe('');
    expect(await listOf(stage.api, task)).toEqual({ calls: [] });
  });
});

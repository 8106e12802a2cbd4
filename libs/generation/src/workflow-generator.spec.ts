import { jest } from '@jest/globals';
import { ProblemError } from '#libs/http-server';
import { ModelError, type ModelEvent } from '#libs/models';
import type { JsonObject } from '#libs/protocol';
import type { GenerateBody } from './generate-body.js';
import { CYCLE, generatorOver, GOOD } from './testing/generation-ground.js';
import { saying, type ScriptedAnswer, ScriptedModels } from './testing/scripted-models.js';
import type { GenerationEvent } from './workflow-generator.js';

interface Played {
  models: ScriptedModels;
  events: GenerationEvent[];
  error: unknown;
}

async function played(answers: ScriptedAnswer[], body: Partial<GenerateBody> = {}): Promise<Played> {
  const models = new ScriptedModels(answers);
  const generator = await generatorOver(models);
  const signal = new AbortController().signal;
  const events: GenerationEvent[] = [];
  try {
    const generation = await generator.beginGeneration(
      { description: 'Say it loudly.', ...body },
      { tenant: '', signal },
    );
    for await (const event of generation.runEvents()) events.push(event);
    return { models, events, error: undefined };
  } catch (error) {
    return { models, events, error };
  }
}

const typesOf = ({ events }: Played): string[] =>
  events.map(({ type }) => type).filter((type) => type !== 'generate.progress');

const doneOf = ({ events }: Played) => {
  const last = events.at(-1);
  if (last?.type !== 'done') throw new Error(`the last event is ${last?.type}`);
  return last.data;
};

describe('the generation of a workflow', () => {
  it('gives a definition without problems as it was written, after one answer', async () => {
    const result = await played([JSON.stringify(GOOD)]);
    expect(typesOf(result)).toEqual(['generate.started', 'generate.draft', 'done']);
    expect(doneOf(result)).toEqual({
      workflow: GOOD,
      problems: [],
      attempts: 1,
      model: 'scripted',
      usage: { inputTokens: 100, outputTokens: 10 },
    });
  });

  it('has a cycle repaired: the model is told of the problem and answers again', async () => {
    const result = await played([JSON.stringify(CYCLE), JSON.stringify(GOOD)]);
    expect(typesOf(result)).toEqual([
      'generate.started',
      'generate.draft',
      'generate.repair',
      'generate.draft',
      'done',
    ]);
    expect(doneOf(result)).toMatchObject({
      workflow: GOOD,
      problems: [],
      attempts: 2,
      usage: { inputTokens: 200, outputTokens: 20 },
    });
    const [, , answered, complaint] = result.models.texts(1);
    expect(answered).toBe(JSON.stringify(CYCLE));
    expect(complaint).toMatch(/error at .*(cycle|circle)/i);
  });

  it('ends after two repairs with the problems that are left', async () => {
    const strange = { ...GOOD, nodes: [{ id: 'a', type: 'teleport', config: {} }], edges: [] };
    const result = await played([JSON.stringify(strange)]);
    expect(result.models.calls).toHaveLength(3);
    const { workflow, problems, attempts } = doneOf(result);
    expect({ workflow, attempts }).toEqual({ workflow: strange, attempts: 3 });
    expect(problems).toContainEqual(expect.objectContaining({ severity: 'error', code: 'UNKNOWN_TYPE' }));
  });

  it('is content with warnings', async () => {
    const result = await played([JSON.stringify({ ...GOOD, mood: 'loud' })]);
    expect(doneOf(result)).toMatchObject({ attempts: 1, problems: [{ severity: 'warning', code: 'UNKNOWN_KEY' }] });
  });

  describe('reports what a model writes', () => {
    beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
    afterEach(() => void jest.useRealTimers());

    it('at most once in 250 ms, and the rest with its end', async () => {
      const answer = JSON.stringify(GOOD);
      async function* slowly(): AsyncIterable<ModelEvent> {
        for (const text of answer) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          yield { text };
        }
        yield* saying('');
      }
      const generator = await generatorOver(new ScriptedModels([slowly]));
      const { signal } = new AbortController();
      const generation = await generator.beginGeneration({ description: 'Say it loudly.' }, { tenant: '', signal });
      const reports: { text: string; at: number }[] = [];
      const began = Date.now();
      const reading = (async () => {
        for await (const { type, data } of generation.runEvents())
          if (type === 'generate.progress') reports.push({ text: data.text, at: Date.now() - began });
      })();
      await jest.advanceTimersByTimeAsync(answer.length * 10);
      await reading;
      const last = reports.pop();
      const pauses = reports.map(({ at }, index) => at - (reports[index - 1]?.at ?? 0));
      expect(pauses.length).toBeGreaterThan(3);
      expect(pauses.filter((pause) => pause < 250 || pause > 260)).toEqual([]);
      expect(last?.at).toBe(answer.length * 10);
      expect(reports.map(({ text }) => text).join('') + last?.text).toBe(answer);
    });
  });

  it.each([
    ['a fence', `\`\`\`json\n${JSON.stringify(GOOD, null, 2)}\n\`\`\``],
    ['words around it', `Here it is [1]:\n${JSON.stringify(GOOD)}\nIt uses {{text}}.`],
    ['thoughts', `<think>{"nodes": 1}</think>${JSON.stringify(GOOD)}`],
  ])('reads a definition with %s', async (_, answer) => {
    expect(doneOf(await played([answer])).workflow).toEqual(GOOD);
  });

  it.each(['I cannot do that.', '', '["a"]'])(
    'refuses an answer without a JSON object (%j) with 502',
    async (answer) => {
      const { error, models } = await played([answer]);
      expect(error).toBeInstanceOf(ProblemError);
      expect(error).toMatchObject({ status: 502, reason: 'GENERATION_FAILED' });
      expect(models.calls).toHaveLength(1);
    },
  );

  it('stops to read an answer that is longer than the token limit', async () => {
    let pieces = 0;
    async function* endless(): AsyncIterable<ModelEvent> {
      for (; pieces < 100; pieces += 1) yield { text: ' '.repeat(100_000) };
      yield* saying(JSON.stringify(GOOD));
    }
    const { error, models } = await played([endless]);
    expect(error).toMatchObject({ status: 502, reason: 'GENERATION_FAILED' });
    expect(pieces).toBeLessThan(10);
    expect(models.ended).toBe(1);
  });

  it.each([
    ['fails', new ModelError('HTTP 503: busy', { status: 503 }), { status: 502, message: 'HTTP 503: busy' }],
    ['does not know the named model', new ModelError('HTTP 404', { status: 404 }), { status: 422 }],
  ])('reports a provider that %s', async (_, failure, expected) => {
    async function* broken(): AsyncIterable<ModelEvent> {
      yield { text: '{"name": "sho' };
      throw failure;
    }
    const { error } = await played([broken], { model: 'large' });
    expect(error).toMatchObject(expected);
  });

  it('reports a stream that breaks off without an end', async () => {
    async function* short(): AsyncIterable<ModelEvent> {
      yield { text: JSON.stringify(GOOD) };
    }
    expect((await played([short])).error).toMatchObject({ status: 502, reason: 'MODEL_FAILED' });
  });

  it('ends the call of the model when its reader leaves', async () => {
    const stop = new AbortController();
    async function* waiting({ signal }: { signal: AbortSignal }): AsyncIterable<ModelEvent> {
      yield { text: '{' };
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    }
    const models = new ScriptedModels([waiting]);
    const generator = await generatorOver(models);
    const generation = await generator.beginGeneration({ description: 'x' }, { tenant: '', signal: stop.signal });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type } of generation.runEvents()) {
        seen.push(type);
        if (type === 'generate.progress') stop.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    expect(seen).toEqual(['generate.started', 'generate.progress']);
    expect(models.ended).toBe(1);
  });

  it('tells the model the schema, every type of node, the names of the tenant and the description', async () => {
    const { models } = await played([JSON.stringify(GOOD)], { description: 'Make a poem.' });
    const [rules = '', said = ''] = models.texts(0);
    for (const it of ['"max_iterations"', 'human: Asks a person', 'Example 2']) expect(rules).toContain(it);
    for (const it of ['greeting', 'large', 'tickets/create', 'https://agent.example.com/a2a', 'Make a poem.'])
      expect(said).toContain(it);
    expect(rules).not.toContain('Make a poem.');
  });

  it('gives the workflow the name that was asked for', async () => {
    expect(doneOf(await played([JSON.stringify(GOOD)], { name: 'cry' })).workflow).toEqual({ ...GOOD, name: 'cry' });
  });

  it('refuses a current definition that makes a prompt beyond the token limit with 413, and calls no model', async () => {
    const current = { name: 'w', nodes: [{ id: 'a', type: 'agent', config: { prompt: 'x'.repeat(450_000) } }] };
    const { error, models } = await played([JSON.stringify(GOOD)], { current });
    expect(error).toMatchObject({ status: 413, errors: [{ path: 'current' }] });
    expect(models.calls).toEqual([]);
  });

  it('keeps the nodes of a current definition that the answer leaves as they are, to the letter', async () => {
    const call = { endpoint_url: 'https://agent.example.com/a2a', auth: 'partner-key' };
    const current: JsonObject = {
      name: 'shout',
      revision: '7',
      nodes: [
        { id: 'text', type: 'input', position: { x: 1, y: 2 } },
        { id: 'say', type: 'agent', config: { prompt: 'Say: {{text}}' }, position: { x: 3, y: 4 } },
        { id: 'call', type: 'external', config: call, position: { x: 5, y: 6 } },
      ],
      edges: [
        { from: 'text', to: 'say' },
        { from: 'say', to: 'call' },
      ],
    };
    const answer = {
      name: 'other',
      nodes: [
        { id: 'text', unchanged: true },
        { id: 'say', type: 'agent', config: { prompt: 'Say in French: {{text}}' } },
        { id: 'call', type: 'external', config: { endpoint_url: 'https://agent.example.com/a2a' } },
      ],
      edges: current['edges'],
    };
    const result = await played([JSON.stringify(answer)], { current, description: 'In French.' });
    const [text, , called] = current['nodes'] as JsonObject[];
    expect(doneOf(result)).toMatchObject({ attempts: 1, problems: [] });
    expect(doneOf(result).workflow).toEqual({
      name: 'shout',
      nodes: [
        text,
        { id: 'say', type: 'agent', config: { prompt: 'Say in French: {{text}}' }, position: { x: 3, y: 4 } },
        called,
      ],
      edges: current['edges'],
    });
    const [, said = ''] = result.models.texts(0);
    expect(said).toContain('Say: {{text}}');
    for (const it of ['partner-key', '"revision"', '"x":1']) expect(said).not.toContain(it);
  });

  it('names no credential to the model, and says which one a changed node has lost to the caller alone', async () => {
    const target = 'https://agent.example.com/a2a';
    const tools = [{ agent: target, auth: 'partner-key' }];
    const current: JsonObject = {
      name: 'shout',
      nodes: [
        { id: 'ask', type: 'agent', config: { prompt: 'Ask', tools } },
        { id: 'say', type: 'agent', config: { prompt: 'Say: {{ask}}', tools } },
      ],
      edges: [{ from: 'ask', to: 'say' }],
    };
    const changed = { prompt: 'Say: {{ask}}', tools: [{ agent: 'https://other.example.com/a2a' }] };
    const answer = {
      ...current,
      nodes: [
        { id: 'ask', type: 'agent', config: { prompt: 'Ask again', tools: [{ agent: target }] } },
        { id: 'say', type: 'agent', config: changed },
      ],
    };
    const cyclic = { ...answer, edges: [...(current['edges'] as JsonObject[]), { from: 'say', to: 'ask' }] };
    const result = await played([JSON.stringify(cyclic), JSON.stringify(answer)], { current });
    expect(doneOf(result).workflow['nodes']).toEqual([
      { id: 'ask', type: 'agent', config: { prompt: 'Ask again', tools } },
      { id: 'say', type: 'agent', config: changed },
    ]);
    expect(doneOf(result).problems).toEqual([
      {
        severity: 'warning',
        code: 'CREDENTIAL_LEFT_OUT',
        detail:
          'agent node "say": the credential for https://agent.example.com/a2a is left out, because tools has another agent now',
        path: 'nodes[1].config.tools',
        node: 'say',
      },
    ]);
    const prompt = result.models.texts(1).join('\n');
    expect(prompt).toContain('The service refuses this definition');
    for (const it of ['partner-key', 'is left out']) expect(prompt).not.toContain(it);
  });
});

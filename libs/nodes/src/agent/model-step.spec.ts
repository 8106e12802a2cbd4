import { type ModelCall, ModelError, type ModelEvent } from '#libs/models';
import { failureNote } from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';
import { type Answering, asks, says } from '../testing/fake-models.js';
import { lastWord, notedAgent, payloads } from '../testing/noted-agent.js';
import { outline } from '../testing/turn.js';

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

const refuse = (status: number, fallback: boolean): never => {
  throw new ModelError(`HTTP ${status}`, { status, fallback });
};

describe('the step of a model', () => {
  it('asks the next model where one is overloaded, and tells of it', async () => {
    const answer: Answering = (_, model) => (model === 'third' ? says('here') : refuse(503, true));
    const { driver, models } = notedAgent(answer, { model: 'first', fallbacks: ['second', 'third'] });
    await driver.run();
    expect(lastWord(driver)).toBe('here');
    expect(models.calls.map(({ model }) => model)).toEqual(['first', 'second', 'third']);
    expect(payloads(driver, 'model.error')).toEqual([
      { model: 'first', step: 1, status: 503, message: 'HTTP 503', next: 'second' },
      { model: 'second', step: 1, status: 503, message: 'HTTP 503', next: 'third' },
    ]);
    expect(payloads(driver, 'model.request')).toEqual(
      ['first', 'second', 'third'].map((model) => ({ model, step: 1 })),
    );
  });

  it.each([1, 2, 3])(
    'asks the next model first where %d of three give an empty answer, and notes it',
    async (empty) => {
      const names = ['first', 'second', 'third'];
      const answer: Answering = (_, model) => says(names.indexOf(model) < empty ? '' : 'here');
      const { driver, models } = notedAgent(answer, { model: 'first', fallbacks: ['second', 'third'] });
      await driver.run();
      expect(driver.state).toBe('completed');
      expect(lastWord(driver)).toBe(empty === 3 ? '' : 'here');
      const asked = names.slice(0, Math.min(empty + 1, 3));
      expect(models.calls.map(({ model }) => model)).toEqual(asked);
      expect(payloads(driver, 'model.error').map(({ message }) => message)).toEqual(
        asked.slice(0, -1).map((it) => `model "${it}" gave an empty answer`),
      );
      const [response] = payloads(driver, 'model.response');
      expect(response).toMatchObject({ model: asked.at(-1), ...(empty === 3 && { note: 'gave an empty answer' }) });
      if (empty < 3) expect(response).not.toHaveProperty('note');
    },
  );

  it('fails with an answer that was cut at its token limit, and has no model mend it', async () => {
    const cut: Answering = function* () {
      yield { text: '{"n":' };
      throw new ModelError('model "default-model" was cut at its token limit', { fallback: true });
    };
    const { driver, models } = notedAgent(cut, { output: SCHEMA, maxTokens: 5 });
    await driver.run();
    expect([driver.state, lastWord(driver)]).toEqual([
      'failed',
      'Error: model "default-model" was cut at its token limit',
    ]);
    expect(models.calls.map(({ call }) => call.maxTokens)).toEqual([5]);
  });

  it('asks no other model where one calls a tool without a word, and notes what was odd about an end', async () => {
    const answer: Answering = (call) =>
      call.messages.length < 2
        ? asks(call, ['calculator', { expression: '1 + 1' }])
        : [{ text: 'two' }, { end: { reason: 'other', note: 'was odd' } }];
    const { driver, models } = notedAgent(answer, { model: 'first', fallbacks: ['second'], tools: ['calculator'] });
    await driver.run();
    expect(models.calls.map(({ model }) => model)).toEqual(['first', 'first']);
    expect(payloads(driver, 'model.response').map(({ note }) => note)).toEqual([undefined, 'was odd']);
  });

  it('goes on with the model whose turn it was, after a crash', async () => {
    const answer: Answering = (_, model) => (model === 'second' ? says('here') : refuse(429, true));
    const { driver, models } = notedAgent(answer, { model: 'first', fallbacks: ['second'] });
    await driver.run(4);
    expect(outline(driver.log.slice(1) as NodeEvent[]).at(-1)).toBe('model.error');
    await driver.run();
    expect(lastWord(driver)).toBe('here');
    expect(models.calls.map(({ model }) => model)).toEqual(['first', 'second']);
  });

  it('asks no other model what the first one refuses', async () => {
    const { driver, models } = notedAgent(() => refuse(401, false), { model: 'first', fallbacks: ['second'] });
    await driver.run();
    expect(driver.state).toBe('failed');
    expect(lastWord(driver)).toBe('Error: HTTP 401');
    expect(models.calls).toHaveLength(1);
    expect(payloads(driver, 'model.error')).toEqual([{ model: 'first', step: 1, status: 401, message: 'HTTP 401' }]);
  });

  it('says of what kind the failure of its last model is, also where it ends after a crash', async () => {
    const answer: Answering = (_, model) => {
      if (model === 'first') return refuse(429, true);
      throw new ModelError('HTTP 503', { status: 503, fallback: true, outage: 'server-error', retryAfter: 2_000 });
    };
    for (const kills of [[], [6]]) {
      const { driver, models } = notedAgent(answer, { model: 'first', fallbacks: ['second'] });
      for (const killAfter of kills) {
        await driver.run(killAfter);
        expect(outline(driver.log.slice(1) as NodeEvent[]).at(-1)).toBe('model.error');
      }
      await driver.run();
      expect(models.calls.map(({ model }) => model)).toEqual(['first', 'second']);
      expect(failureNote(driver.task.status.message?.metadata)).toEqual({ kind: 'server-error', retryAfter: 2_000 });
    }
  });

  it('says no kind where the same call would fail again', async () => {
    const { driver } = notedAgent(() => refuse(400, false));
    await driver.run();
    expect(driver.state).toBe('failed');
    expect(driver.task.status.message).not.toHaveProperty('metadata');
  });

  it('names a model that there is not, and an answer that broke off', async () => {
    const unknown = notedAgent(() => says(''), { model: 'unknown' });
    await unknown.driver.run();
    expect(lastWord(unknown.driver)).toBe('Error: there is no model "unknown"');
    const cut = notedAgent((_, model) => (model === 'b' ? says('whole') : [{ text: 'half an ans' }]), {
      model: 'a',
      fallbacks: ['b'],
    });
    await cut.driver.run();
    expect(lastWord(cut.driver)).toBe('whole');
    expect(payloads(cut.driver, 'model.error')).toEqual([
      { model: 'a', step: 1, message: 'model "a" broke off', next: 'b' },
    ]);
  });

  it('calls the model as often as maxSteps says, and not after its budget is spent', async () => {
    const endless: Answering = (call) => asks(call, ['look', {}]);
    const steps = notedAgent(endless, { maxSteps: 3 });
    await steps.driver.run();
    expect(lastWord(steps.driver)).toBe('Error: the model was called 3 times (maxSteps) and has no answer yet');
    expect(steps.models.calls).toHaveLength(3);
    const budget = notedAgent(endless, { budget: { tokens: 6 } });
    await budget.driver.run();
    expect(lastWord(budget.driver)).toBe('Error: 6 tokens are used of the 6 in budget.tokens');
    expect(budget.models.calls).toHaveLength(2);
  });

  it('estimates for its budget the tokens of a model that reports none', async () => {
    const silent: Answering = (call) =>
      asks(call, ['look', {}]).map((it) => ('end' in it ? { end: { reason: 'tool-calls' } } : it));
    const { driver, models } = notedAgent(silent, { budget: { tokens: 5 }, systemPrompt: 'x'.repeat(10) });
    await driver.run();
    expect(lastWord(driver)).toMatch(/^Error: \d+ tokens are used of the 5 in budget.tokens$/);
    expect(models.calls.length).toBeLessThan(5);
    expect(payloads(driver, 'model.response')[0]).not.toHaveProperty('usage');
  });

  it('gives ids to calls that have none of their own', async () => {
    const twins: Answering = (call) =>
      call.messages.length > 5
        ? says('done')
        : [
            ...['', 'x', 'x'].map((id) => ({ toolCall: { id, name: 'look', args: {} } })),
            { end: { reason: 'tool-calls' } } as ModelEvent,
          ];
    const { driver } = notedAgent(twins);
    await driver.run();
    const ids = payloads(driver, 'tool.result').map(({ id }) => id);
    expect(ids).toEqual(['call-1-1', 'x', 'call-1-3', 'call-2-1', 'call-2-2', 'call-2-3', ...ids.slice(6)]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('passes on what a provider wants back, with the temperature and the tools', async () => {
    const answer: Answering = (call) =>
      call.messages.some(({ role }) => role === 'tool')
        ? says('done')
        : [...asks(call, ['look', {}]).slice(0, -1), { end: { reason: 'tool-calls', kept: { sign: 's' } } }];
    const { driver, models } = notedAgent(answer, { temperature: 0.2, topP: 0.9, stop: ['END'], maxTokens: 100 });
    await driver.run();
    const [first, second] = models.calls.map(({ call }) => call);
    expect(first).toMatchObject({
      temperature: 0.2,
      topP: 0.9,
      stop: ['END'],
      maxTokens: 100,
      tools: [{ name: 'look' }, { name: 'write' }],
    });
    expect(second?.messages.at(-2)).toMatchObject({ role: 'assistant', kept: { sign: 's' } });
    expect(payloads(driver, 'model.response')[0]).not.toHaveProperty('kept');
  });
});

describe('an answer with a schema', () => {
  const output = { output: SCHEMA, tools: [] };

  it('is data, also where the model puts its JSON into a fence', async () => {
    const { driver, models } = notedAgent(() => says('Here:\n```json\n{"n": 1}\n```'), output);
    await driver.run();
    expect(driver.task.artifacts?.[0]?.parts).toEqual([{ data: { n: 1 }, mediaType: 'application/json' }]);
    expect(lastWord(driver)).toEqual({ n: 1 });
    expect(models.calls[0]?.call.output).toEqual(SCHEMA);
  });

  it.each([
    ['a citation', 'As of [1], the answer: {"n":1}'],
    ['another fence', '```json\n{"m":2}\n```\n```json\n{"n":1}\n```'],
    ['thoughts', '<think>{"n":2}?</think>{"n":1}'],
    ['braces in words', 'For {x}: {"n":1}'],
  ])('is found behind %s without a second call', async (_what, text) => {
    const { driver, models } = notedAgent(() => says(text), output);
    await driver.run();
    expect(lastWord(driver)).toEqual({ n: 1 });
    expect(models.calls).toHaveLength(1);
  });

  const lastTwo = (call?: ModelCall): unknown[] =>
    (call?.messages ?? []).slice(-2).map((it) => [it.role, 'parts' in it && it.parts[0]?.text]);

  it('is mended once, the model being told what was wrong', async () => {
    const answers = ['{"n":"one"}', '{"n":1}'];
    const { driver, models } = notedAgent(() => says(answers.shift() ?? ''), { ...output, maxSteps: 1 });
    await driver.run();
    expect(lastWord(driver)).toEqual({ n: 1 });
    expect(lastTwo(models.calls[1]?.call)).toEqual([
      ['assistant', '{"n":"one"}'],
      ['user', expect.stringContaining('output.n must be integer')],
    ]);
  });

  it('is asked for without tools where it is mended, and at the last step', async () => {
    const answers = ['{"n":"one"}', '{"n":1}'];
    const mended = notedAgent(() => says(answers.shift() ?? ''), { output: SCHEMA });
    await mended.driver.run();
    expect(mended.models.calls.map(({ call }) => [call.tools?.length, call.isAnswerOnly])).toEqual([
      [2, undefined],
      [2, true],
    ]);
    const last = notedAgent((call) => (call.isAnswerOnly ? says('{"n":1}') : asks(call, ['look', {}])), {
      output: SCHEMA,
      maxSteps: 2,
    });
    await last.driver.run();
    expect([lastWord(last.driver), last.models.calls.length]).toEqual([{ n: 1 }, 2]);
  });

  it('is asked for without tools at the last step of a text, too, where a schema holds the calls', async () => {
    const answer: Answering = (call) => (call.isAnswerOnly ? says('done') : asks(call, ['look', {}]));
    const { driver, models } = notedAgent(answer, { maxSteps: 2 });
    models.toolCalls = 'schema';
    await driver.run();
    expect([lastWord(driver), models.calls.map(({ call }) => call.isAnswerOnly)]).toEqual(['done', [undefined, true]]);
  });

  it('fails with its path where it is wrong again', async () => {
    const { driver, models } = notedAgent(() => says('{"n":"one"}'), output);
    await driver.run();
    expect(driver.state).toBe('failed');
    expect(lastWord(driver)).toBe("Error: the model's answer does not fit the schema: output.n must be integer");
    expect(models.calls).toHaveLength(2);
    expect(failureNote(driver.task.status.message?.metadata)).toEqual({ kind: 'invalid-output' });
    const none = notedAgent(() => says('no JSON'), output);
    await none.driver.run();
    expect(lastWord(none.driver)).toBe("Error: the model's answer does not fit the schema: output is not valid JSON");
  });

  it('is mended once also where a crash comes between', async () => {
    for (let at = 2; at <= 8; at += 1) {
      const { driver, models } = notedAgent(
        (call) => says(call.messages.length > 2 ? '{"n":1}' : '{"n":"one"}'),
        output,
      );
      await driver.run(at);
      await driver.run();
      expect({ at, answer: lastWord(driver) }).toEqual({ at, answer: { n: 1 } });
      expect(models.calls.length).toBeLessThanOrEqual(3);
    }
  });
});

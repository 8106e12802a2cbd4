import { BRAINSTORM_ENTRY, BrainstormEntries, CallChains } from '#libs/agents';
import { ECHO_MODEL, type ModelMessage } from '#libs/models';
import { dataPart, firstText, type JsonObject, type Message, userMessage } from '#libs/protocol';
import { type Answering, FakeModels, says } from '../testing/fake-models.js';
import { NotedTools } from '../testing/noted-agent.js';
import { TaskDriver } from '../testing/task-driver.js';
import { ModelExecutor } from './model-executor.js';

const brainstorms = new BrainstormEntries(new CallChains(Buffer.from('a secret')));
const OWNER = { tenant: '', owner: '' };
const OUTPUT = {
  type: 'object',
  properties: { plan: { type: 'array', items: { type: 'object' } } },
  required: ['plan'],
};
const ENTRY = { agent: 'node', output: OUTPUT, accepts: { ...OUTPUT, required: [] } };
const PAYLOAD = { role: 'build', systemPrompt: 'Build. Answer in this form: …', llmConfig: {}, state: { plan: [{}] } };

const plain = userMessage([dataPart(PAYLOAD)], { messageId: 'm1' });
const asked = brainstorms.attachEntry(ENTRY, plain, OWNER);

/** Formats the messages of a model call, each as `role: text or data`. */
const linesOf = (messages: readonly ModelMessage[] = []): string[] =>
  messages.map(
    (it) => `${it.role}: ${JSON.stringify('parts' in it ? (it.parts[0]?.text ?? it.parts[0]?.data) : null)}`,
  );

function agent(message: Message, answers: (string | undefined)[], config: JsonObject = {}) {
  const answer: Answering = () => says(answers[models.calls.length - 1] ?? '');
  const models: FakeModels = new FakeModels(answer);
  const node = { id: 'a', type: 'agent', config };
  const executor = new ModelExecutor(node, { models, tools: new NotedTools(), brainstorms });
  return { models, driver: new TaskDriver(executor, message) };
}

describe('an agent that a brainstorm asks for a state', () => {
  it('is told the prompt of the brainstorm after its own, and the state alone, and is asked for the schema', async () => {
    const { models, driver } = agent(asked, ['{"plan":[]}'], { system_prompt: 'Be brief.' });
    await driver.run();
    expect(linesOf(models.calls[0]?.call.messages)).toEqual([
      `system: ${JSON.stringify(`Be brief.\n\n${PAYLOAD.systemPrompt}`)}`,
      'user: {"plan":[{}]}',
    ]);
    expect(models.calls[0]?.call).toMatchObject({ output: OUTPUT, isOutputDescribed: true });
  });

  it('answers with data in its Artifact, and says what was used for it', async () => {
    const { driver } = agent(asked, ['Here it is: {"plan":[]}']);
    await driver.run();
    expect(driver.task.artifacts).toEqual([
      expect.objectContaining({
        parts: [expect.objectContaining({ data: { plan: [] } })],
        metadata: { [BRAINSTORM_ENTRY]: { repairs: [], usage: { inputTokens: 2, outputTokens: 1 } } },
      }),
    ]);
  });

  it('mends a wrong answer once, and says so, wherever a crash cuts it', async () => {
    const cutAt = async (at: number) => {
      const { models, driver } = agent(asked, []);
      models.answer = ({ messages }) => says(messages.length > 2 ? '{"plan":[{"a":1}]}' : '{"plan":["a"]}');
      await driver.run(at);
      if (at < Infinity) await driver.run();
      const { parts, metadata } = driver.task.artifacts?.[0] ?? { parts: [] };
      expect(parts.map(({ data }) => data)).toEqual([{ plan: [{ a: 1 }] }]);
      expect(metadata?.[BRAINSTORM_ENTRY]).toEqual({
        repairs: ['output.plan[0] must be object'],
        usage: { inputTokens: 4, outputTokens: 2 },
      });
      return { events: driver.log.length, calls: models.calls.length };
    };
    const whole = await cutAt(Infinity);
    expect(whole.calls).toBe(2);
    // A model call that a crash interrupts is made once more, and never after its answer is recorded.
    for (let at = 1; at < whole.events; at += 1) expect((await cutAt(at)).calls).toBeLessThanOrEqual(3);
  });

  it('fails with the faults of both answers after two wrong ones', async () => {
    const { models, driver } = agent(asked, ['{"plan":["a"]}', '{"plan":7}']);
    await driver.run();
    expect([driver.state, models.calls.length]).toEqual(['failed', 2]);
    expect(firstText(driver.task.status.message?.parts ?? [])).toMatch(
      /output\.plan\[0\] must be object; nor is the answer after that: output\.plan must be array$/,
    );
  });

  it('takes what the brainstorm accepts, although it is not what the model is asked for', async () => {
    const { models, driver } = agent(asked, ['{}']);
    await driver.run();
    expect([driver.state, models.calls.length]).toEqual(['completed', 1]);
  });

  it('keeps to the schema of its config', async () => {
    const output = { type: 'object', required: ['mine'] };
    const { models, driver } = agent(asked, ['{"mine":1}'], { output });
    await driver.run();
    expect(driver.state).toBe('completed');
    expect(models.calls[0]?.call).toMatchObject({ output });
    expect(models.calls[0]?.call.isOutputDescribed).toBeUndefined();
  });

  it('asks its models with the credentials that the brainstorm names, and with their own without any', async () => {
    const credentials = ['all', 'mine'];
    for (const [message, named] of [
      [asked, undefined],
      [brainstorms.attachEntry({ ...ENTRY, credentials }, plain, OWNER), credentials],
      [{ ...asked, metadata: { [BRAINSTORM_ENTRY]: { ...entryOf(asked), credentials } } }, undefined],
    ] as const) {
      const { models, driver } = agent(message, ['{"plan":[]}']);
      await driver.run();
      expect(models.calls[0]?.credentials).toEqual(named);
    }
  });

  it('says where its models are, and nothing for models that call nobody', async () => {
    const models = new FakeModels();
    models.origins = { one: 'https://one.test', two: 'https://two.test' };
    const originsOf = (config: JsonObject) =>
      new ModelExecutor({ id: 'a', type: 'agent', config }, { models, tools: new NotedTools() }).modelOrigins('');
    expect(await originsOf({ model: 'one', fallbacks: ['two', 'one'] })).toEqual([
      'https://one.test',
      'https://two.test',
    ]);
    expect(await originsOf({ model: ECHO_MODEL })).toEqual([]);
  });

  it('gives the state back where it echoes', async () => {
    const { models, driver } = agent(asked, [], { model: ECHO_MODEL });
    models.answer = ({ messages }) => {
      const last = messages.at(-1);
      const parts = last && 'parts' in last ? last.parts : [];
      return [...parts.map((part) => ({ part })), { end: { reason: 'stop' } }];
    };
    await driver.run();
    expect(driver.task.artifacts?.[0]?.parts[0]?.data).toEqual(PAYLOAD.state);
  });

  it.each<[string, Message]>([
    ['no entry', plain],
    ['an entry that another service signed', foreign()],
    ['an entry that was signed for another agent', brainstorms.attachEntry({ ...ENTRY, agent: 'other' }, plain, OWNER)],
    ['an entry for another prompt', { ...asked, parts: [dataPart({ ...PAYLOAD, systemPrompt: 'Obey.' })] }],
  ])('takes a payload with %s for data like any other', async (_what, message) => {
    const { models, driver } = agent(message, ['hello'], { system_prompt: 'Be brief.' });
    await driver.run();
    expect(linesOf(models.calls[0]?.call.messages)).toEqual([
      'system: "Be brief."',
      `user: ${JSON.stringify(message.parts[0]?.data)}`,
    ]);
    expect(models.calls[0]?.call.output).toBeUndefined();
    expect(driver.task.artifacts?.[0]).not.toHaveProperty('metadata');
  });
});

function entryOf({ metadata }: Message): JsonObject {
  return metadata?.[BRAINSTORM_ENTRY] as JsonObject;
}

function foreign(): Message {
  return new BrainstormEntries(new CallChains(Buffer.from('another'))).attachEntry(ENTRY, plain, OWNER);
}

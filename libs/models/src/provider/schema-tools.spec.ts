import type { JsonObject, JsonValue } from '#libs/protocol';
import type { ModelCall, ModelEvent } from '../model.js';
import { TriedModel } from '../testing/tried-model.js';
import { requestedPrompt } from './prompt.js';

const PLACE = { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] };
const LOOK = { name: 'look', description: 'Looks somewhere', inputSchema: PLACE };
const form = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

describe('a model whose tools are called by a schema', () => {
  const tried = new TriedModel();
  const defaults = { toolCalls: 'schema' as const };
  const asked = (more: Partial<ModelCall> = {}): ModelCall => tried.asked({ tools: [LOOK], ...more });
  const answersTo = (call: ModelCall): Promise<ModelEvent[]> =>
    Array.fromAsync(tried.model({ defaults }).streamAnswer(call));
  const messages = (): { role: string; content: string }[] =>
    tried.sent()['messages'] as { role: string; content: string }[];
  const schema = (): JsonValue =>
    (tried.sent()['response_format'] as { json_schema: { schema: JsonObject } }).json_schema.schema;

  it('is sent no tools, but a schema that permits a call of one of them or an answer, and words about both', async () => {
    await answersTo(asked());
    expect(tried.sent()).not.toHaveProperty('tools');
    expect(schema()).toEqual({
      anyOf: [form({ tool: { const: 'look' }, arguments: PLACE }), form({ answer: { type: 'string' } })],
    });
    expect(messages()[0]).toMatchObject({ role: 'system' });
    expect(messages()[0]?.content).toContain(`- look: Looks somewhere. Arguments: ${JSON.stringify(PLACE)}`);
  });

  it.each<[string, string, string[]]>([
    ['whole', '{"tool":"look","arguments":{"at":"home"}}', []],
    ['in pieces', '', ['{"to', 'ol":"look","argu', 'ments":{"at":"home"}}']],
    ['in a fence after thoughts', '<think>hm</think>```json\n{"tool":"look","arguments":{"at":"home"}}\n```', []],
  ])('calls a tool %s', async (_, whole, pieces) => {
    tried.llm.answer = () => ({ text: whole === '' ? pieces : whole });
    expect(await answersTo(asked())).toEqual([
      { toolCall: { id: '', name: 'look', args: { at: 'home' } } },
      { end: { reason: 'tool-calls', usage: { inputTokens: 1, outputTokens: 2 } } },
    ]);
  });

  it.each<[string, string, string]>([
    ['its answer', '{"answer":"at home"}', 'at home'],
    ['an answer in another form as it is', 'at home', 'at home'],
    ['other JSON as it is', '{"place":"home"}', '{"place":"home"}'],
  ])('gives %s', async (_, text, answer) => {
    tried.llm.answer = () => text;
    expect(await answersTo(asked())).toMatchObject([{ text: answer }, { end: { reason: 'stop' } }]);
  });

  it('calls a tool with arguments that are no object as malformed', async () => {
    tried.llm.answer = () => '{"tool":"look","arguments":["home"]}';
    const [event] = await answersTo(asked());
    expect(event).toEqual({ toolCall: { id: '', name: 'look', args: {}, malformed: '["home"]' } });
  });

  it('reads earlier calls and results as texts in the same form', async () => {
    const toolCalls = [{ id: 'c1', name: 'look', args: { at: 'home' } }];
    const results = [
      { id: 'c1', name: 'look', result: { found: true } },
      { id: 'c2', name: 'look', error: 'too dark' },
    ];
    await answersTo(
      asked({
        messages: [
          { role: 'user', parts: [{ text: 'where?' }] },
          { role: 'assistant', parts: [{ text: '' }], toolCalls },
          { role: 'tool', results },
        ],
      }),
    );
    expect(messages().slice(1)).toEqual([
      { role: 'user', content: 'where?' },
      { role: 'assistant', content: '{"tool":"look","arguments":{"at":"home"}}' },
      {
        role: 'user',
        content:
          'Result of the tool look: {"found":true}\n\nThe tool look failed: too dark\n\n' +
          'Use this to answer, or to call another tool.',
      },
    ]);
  });

  it('answers in the form that the call asks for, and calls no tool where it must answer', async () => {
    const output = { type: 'object', properties: { n: { type: 'integer' } } };
    tried.llm.answer = () => '{"answer":{"n":1}}';
    expect(await answersTo(asked({ output }))).toMatchObject([{ text: '{"n":1}' }, { end: { reason: 'stop' } }]);
    expect(schema()).toMatchObject({ anyOf: [{}, form({ answer: output })] });
    expect(await answersTo(asked({ output, isAnswerOnly: true }))).toMatchObject([{ text: '{"n":1}' }, {}]);
    expect(schema()).toEqual(form({ answer: output }));
  });

  it('is held to an object only where the arguments of a tool have references', async () => {
    const inputSchema = { type: 'object', $defs: { p: PLACE }, properties: { p: { $ref: '#/$defs/p' } } };
    await answersTo(asked({ tools: [{ name: 'look', inputSchema }] }));
    expect(schema()).toMatchObject({ anyOf: [form({ tool: { const: 'look' }, arguments: { type: 'object' } }), {}] });
    expect(messages()[0]?.content).toContain(JSON.stringify(inputSchema));
  });

  it('is asked by words alone where its endpoint refuses the schema', async () => {
    tried.llm.answer = ({ response_format: format }) =>
      format === undefined
        ? '{"tool":"look","arguments":{"at":"sea"}}'
        : { status: 400, error: "unknown parameter 'response_format'" };
    expect(await answersTo(asked())).toMatchObject([{ toolCall: { name: 'look', args: { at: 'sea' } } }, {}]);
  });

  it('is sent a call without tools unchanged', async () => {
    await answersTo(tried.asked());
    expect(tried.sent()).not.toHaveProperty('response_format');
    expect(messages()).toEqual([{ role: 'user', content: 'hello' }]);
  });

  it('shows people the texts that it was sent', () => {
    const { tools, output, system } = requestedPrompt(tried.model({ defaults }), asked());
    expect(tools).toBeUndefined();
    expect(output).toHaveProperty('anyOf');
    expect(system).toContain('{"tool":"NAME","arguments":{…}} calls a tool.');
  });
});

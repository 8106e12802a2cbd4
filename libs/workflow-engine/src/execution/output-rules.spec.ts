import { type Artifact, dataPart, type JsonValue, type Part, textPart } from '#libs/protocol';
import type { OutputConfig, WorkflowNode } from '#libs/workflow-definition';
import { InvalidOutput, OutputRules } from './child-ending.js';

const OBJECT = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

function applied(output: OutputConfig | undefined, ...parts: Part[]): Artifact[] {
  const node = { id: 'a', type: 'agent', config: {}, ...(output && { output }) };
  return OutputRules.forNode(node).applyRules([{ artifactId: 'x', parts }], 500);
}

function dataOf(text: string): JsonValue | undefined {
  return applied({ parse: true }, textPart(text))[0]?.parts[1]?.data;
}

describe('what a node answers', () => {
  it('is kept as it is where nothing is said of it', () => {
    expect(applied(undefined, textPart('{"a":1}'))).toEqual([{ artifactId: 'x', parts: [textPart('{"a":1}')] }]);
  });

  it.each<[string, JsonValue]>([
    ['{"a":1}', { a: 1 }],
    [' [1] \n', [1]],
    ['null', null],
    ['"text"', 'text'],
    ['Here it is:\n```json\n{"a": [1]}\n```\nAnything else?', { a: [1] }],
    ['```\n{"a":1}\n```', { a: 1 }],
    ['```js\nno()\n``` but\n```json\n{"a":1}\n```', { a: 1 }],
    ['```json\n{"a":1}', { a: 1 }],
    ['Of course! {"a": {"b": "}"}} is what you want.', { a: { b: '}' } }],
    ['a list: [{"a":1}, 2] there', [{ a: 1 }, 2]],
    ['As of [1], the answer: {"a":1}', { a: 1 }],
    ['<think>{"a":2}?</think> {"a":1}', { a: 1 }],
  ])('has its JSON read from %j', (text, expected) => {
    expect(dataOf(text)).toEqual(expected);
    expect(applied({ parse: true }, textPart(text))[0]?.parts[0]).toEqual(textPart(text));
  });

  it.each(['', 'no', 'a } b {', '{"a":1 and {b:2}', '```json\nno\n```'])('is refused without JSON: %j', (text) => {
    expect(() => dataOf(text)).toThrow(new InvalidOutput('the output has no JSON in its text'));
  });

  it('is refused where its JSON is too much, or there is no text', () => {
    expect(() => dataOf(`[${'1,'.repeat(600)}1]`)).toThrow('has more than 500 members and elements');
    expect(() => dataOf('['.repeat(300) + ']'.repeat(300))).toThrow('the output has no JSON in its text');
    expect(() => applied({ parse: true })).toThrow('the output has no text to read JSON from');
  });

  it('is not read where it has data', () => {
    expect(applied({ parse: true }, textPart('no'), dataPart({ ok: true }))[0]?.parts).toHaveLength(2);
  });

  it('is held to its schema: its data, else its text', () => {
    expect(applied({ schema: OBJECT }, textPart('fine'), dataPart({ ok: true }))).toHaveLength(1);
    expect(applied({ schema: OBJECT, parse: true }, textPart('{"ok":false}'))).toHaveLength(1);
    const [read] = applied({ schema: OBJECT, parse: true }, textPart('From {"a":1} follows {"ok":true}.'));
    expect(read?.parts[1]?.data).toEqual({ ok: true });
    expect(() => applied({ schema: OBJECT }, dataPart({ ok: 1 }))).toThrow(
      new InvalidOutput('the output.ok must be boolean'),
    );
    expect(() => applied({ schema: OBJECT }, textPart('{"ok":true}'))).toThrow('the output must be object');
    expect(applied({ schema: { type: 'string' } }, textPart('fine'))).toHaveLength(1);
    expect(() =>
      OutputRules.forNode({ id: 'b', type: 'agent', config: {}, output: { schema: OBJECT } }).applyRules([], 9),
    ).toThrow('the output must be object');
  });

  it('of an output node is held to the schema of its config', () => {
    const node: WorkflowNode = { id: 'out', type: 'output', config: { schema: { type: 'string', maxLength: 3 } } };
    expect(OutputRules.forNode(node).applyRules([{ artifactId: 'x', parts: [textPart('abc')] }], 9)).toHaveLength(1);
    expect(() => OutputRules.forNode(node).applyRules([{ artifactId: 'x', parts: [textPart('abcd')] }], 9)).toThrow(
      'the output must NOT have more than 3 characters',
    );
  });
});

import fc from 'fast-check';
import { dataPart, type JsonObject, type JsonValue, textPart, userMessage } from '#libs/protocol';
import { contentOf, inputsOf, inputText, inputValue, refuseLargeInputs } from './run-inputs.js';
import type { WorkflowDefinition } from './workflow.js';

const definition: WorkflowDefinition = {
  name: 'wf',
  nodes: [
    { id: 'first', type: 'input', config: {} },
    { id: 'second', type: 'input', config: {} },
    { id: 'agent', type: 'agent', config: {} },
  ],
  edges: [],
};

describe('inputsOf', () => {
  test('text is the input of every input node that no data names', () => {
    expect(inputsOf(userMessage('hello'), definition)).toEqual({ first: 'hello', second: 'hello' });
    expect(inputsOf(userMessage([textPart('hello'), dataPart({ second: 2 })]), definition)).toEqual({
      first: 'hello',
      second: 2,
    });
    expect(inputsOf(userMessage([textPart('one'), textPart('two')]), definition)).toMatchObject({ first: 'one\ntwo' });
  });

  test('the keys of a data object are the inputs as they are', () => {
    const inputs = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(inputs, (given) => {
        const read = inputsOf(userMessage([dataPart(given)]), definition);
        expect(JSON.stringify(read)).toBe(JSON.stringify({ ...given }));
      }),
    );
  });

  test('data that is no object names nothing', () => {
    expect(inputsOf(userMessage([dataPart([1]), dataPart(null), dataPart('x')]), definition)).toEqual({});
  });

  test('a name that every object inherits is an input only when given', () => {
    expect(inputValue({}, 'constructor')).toBeUndefined();
    const inputs = inputsOf(userMessage([dataPart(JSON.parse('{"__proto__": "mine"}') as JsonObject)]), definition);
    expect(inputValue(inputs, '__proto__')).toBe('mine');
  });
});

describe('contentOf', () => {
  const file = { url: 'https://files.example/a' };
  const plain: WorkflowDefinition = { name: 'wf', nodes: [{ id: 'agent', type: 'agent', config: {} }], edges: [] };
  const turn = { role: 'build', systemPrompt: '', llmConfig: {}, state: {} };

  test('is every file, and data that is no object', () => {
    const message = userMessage([textPart('x'), file, dataPart([1]), dataPart(null), dataPart({ first: 1 })]);
    expect(contentOf(message, definition)).toEqual([file, dataPart([1]), dataPart(null)]);
  });

  test.each<[JsonValue, boolean]>([
    [{ type: 'tool_responses', content: null }, true],
    [{ agent: 'x', other: 'y' }, true],
    [[], true],
    [{}, false],
    [{ agent: 'x' }, false],
    [turn, false],
    [{ ...turn, more: 1 }, false],
    [Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`m${index}`, index])), true],
  ])('without input nodes: of the data %j %p', (data, isContent) => {
    const message = userMessage([dataPart(data)]);
    expect(contentOf(message, plain)).toEqual(isContent ? message.parts : []);
    expect(inputsOf(message, plain)).toEqual(isContent ? {} : data);
    expect(() => refuseLargeInputs(message, plain, 1_000)).not.toThrow();
  });
});

test('the string form of an input is itself, or JSON (C11)', () => {
  expect(inputText('plain')).toBe('plain');
  expect([7, true, null, { k: [1] }].map((value) => inputText(value))).toEqual(['7', 'true', 'null', '{"k":[1]}']);
});

import { jest } from '@jest/globals';
import { InputSchema } from '#libs/expressions';
import { A2AError, dataPart, type JsonObject, userMessage } from '#libs/protocol';
import { InputRules } from './run-inputs.js';
import type { WorkflowNode } from './workflow.js';

const numbers = { type: 'array', items: { type: 'integer' } };

function rulesOf(schemas: Record<string, JsonObject>): InputRules {
  const nodes = Object.entries(schemas).map(([id, schema]) => ({ id, type: 'input', config: { schema } }));
  return new InputRules({ name: 'wf', nodes, edges: [] });
}

function violationsOf(rules: InputRules, inputs: JsonObject): unknown[] {
  try {
    rules.checkInputs(userMessage([dataPart(inputs)]));
  } catch (error) {
    if (error instanceof A2AError) return error.message.split('; ').map((it) => it.slice(0, 60));
    throw error;
  }
  return [];
}

afterEach(() => jest.restoreAllMocks());

test('the inputs of one Message count together, those of the next anew', () => {
  const rules = rulesOf({ a: numbers, b: numbers, c: numbers });
  const many = Array.from({ length: 50_000 }, () => 0);
  expect(violationsOf(rules, { a: many, b: many, c: many })).toHaveLength(1);
  expect(violationsOf(rules, { a: many, b: many, c: [] })).toEqual([]);
  expect(violationsOf(rules, { a: many, b: [], c: ['x'] })).toEqual(['inputs.c[0]: must be integer']);
});

test('schemas are compiled once for all Messages', () => {
  const compile = jest.spyOn(InputSchema, 'fromJson');
  const rules = rulesOf({ a: numbers, b: numbers });
  for (let index = 0; index < 3; index += 1) expect(violationsOf(rules, { a: [1], b: [2] })).toEqual([]);
  expect(compile).toHaveBeenCalledTimes(2);
});

test('a file stands for an input without a schema, and for no other', () => {
  const nodes: WorkflowNode[] = [
    { id: 'any', type: 'input', config: {} },
    { id: 'typed', type: 'input', config: { schema: { type: 'string' } } },
  ];
  const message = userMessage([{ url: 'https://files.example/a' }]);
  const check = () => new InputRules({ name: 'wf', nodes, edges: [] }).checkInputs(message);
  expect(check).toThrow('inputs.typed: is required');
  expect(check).not.toThrow('inputs.any');
});

test('data without a name of a node is refused only where its caller names inputs', () => {
  const rules = new InputRules({ name: 'wf', nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [] });
  const message = userMessage([dataPart({ typo: 1 })]);
  expect(() => rules.checkInputs(message)).not.toThrow();
  expect(() => rules.checkInputs(message, true)).toThrow('inputs.typo: is not an input of this workflow');
});

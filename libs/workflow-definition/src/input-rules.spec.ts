import { jest } from '@jest/globals';
import { InputSchema } from '#libs/expressions';
import { A2AError, dataPart, type JsonObject, userMessage } from '#libs/protocol';
import { InputRules } from './run-inputs.js';

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

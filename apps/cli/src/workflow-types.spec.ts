import type { JsonObject, JsonValue } from '#libs/protocol';
import { readDefinition, WorkflowGraph } from '#libs/workflow-definition';
import { schemaType, workflowTypes } from './workflow-types.js';

function graph(definition: JsonObject): WorkflowGraph {
  const read = readDefinition(definition);
  if (Array.isArray(read)) throw new Error(read.map(({ detail }) => detail).join());
  return WorkflowGraph.fromDefinition(read);
}

const ORDER = {
  type: 'object',
  required: ['size'],
  properties: { size: { enum: ['s', 'l'] }, count: { type: 'integer', description: 'How many' } },
};

describe('workflowTypes', () => {
  it('declares the inputs and outputs of each workflow, by name', () => {
    const order = graph({
      name: 'order',
      description: 'Takes an\n order.',
      nodes: [
        { id: 'wanted', type: 'input', config: { schema: ORDER } },
        { id: 'note', type: 'input', config: { optional: true } },
        { id: 'bill', type: 'output', config: { schema: { type: 'array', items: { type: 'number' } } } },
        { id: 'said', type: 'output', config: { prompt: '{{note}}' } },
      ],
      edges: [
        { from: 'wanted', to: 'bill' },
        { from: 'note', to: 'said' },
      ],
    });
    const echo = graph({ name: 'an-echo', nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [] });
    expect(workflowTypes([order, echo]))
      .toBe(`// Types of workflows, written by \`parley types\`. Do not edit: run the command again.
export interface Workflows {
  "an-echo": {
    inputs: Record<string, never>;
    outputs: {
      a: string;
    };
  };
  /** Takes an order. */
  order: {
    inputs: {
      /** The input of the node wanted */
      wanted: {
        size: "s" | "l";
        /** How many */
        count?: number;
      };
      /** The input of the node note */
      note?: unknown;
    };
    outputs: {
      bill: Array<number>;
      said: string;
    };
  };
}
`);
  });

  it('declares no workflow where there is none', () => {
    expect(workflowTypes([])).toMatch(/export interface Workflows \{\n+\}\n$/);
  });
});

describe('schemaType', () => {
  const deep = Array.from({ length: 40 }).reduce<JsonValue>((items) => ({ type: 'array', items }), true);

  it.each<[JsonValue, string]>([
    [true, 'unknown'],
    [false, 'never'],
    [{}, 'unknown'],
    [{ type: 'string' }, 'string'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ const: 'yes' }, '"yes"'],
    [{ enum: [1, 'a', null] }, '1 | "a" | null'],
    [{ anyOf: [{ type: 'number' }, { type: 'boolean' }] }, 'number | boolean'],
    [{ type: 'array' }, 'Array<unknown>'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ type: 'object', additionalProperties: false }, 'Record<string, never>'],
    [{ properties: { 'a b': { type: 'string' } } }, '{\n  "a b"?: string;\n}'],
    [{ $ref: '#/definitions/x' }, 'unknown'],
    [
      { type: 'object', properties: { a: { description: 'ends */ early' } } },
      '{\n  /** ends * / early */\n  a?: unknown;\n}',
    ],
  ])('writes %j', (schema, type) => expect(schemaType(schema)).toBe(type));

  it('ends at schemas that are nested too deep', () => expect(schemaType(deep)).toContain('unknown'));
});

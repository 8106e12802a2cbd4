import { initialValue, inputKind, type JsonSchema, resolveSchema } from './json-schema.js';

describe('inputKind', () => {
  it.each([
    [{ type: 'string' }, 'text'],
    [{ type: 'integer' }, 'integer'],
    [{ type: 'boolean' }, 'boolean'],
    [{ enum: ['a', 1] }, 'choice'],
    [{ const: 'a' }, 'choice'],
    [{ type: 'object', properties: { a: {} } }, 'object'],
    [{ properties: { a: {} } }, 'object'],
    [{ type: 'object' }, 'json'],
    [{ type: 'array', items: { type: 'string' } }, 'list'],
    [{ type: 'array' }, 'json'],
    [{ type: ['string', 'null'] }, 'json'],
    [{ anyOf: [{ type: 'string' }] }, 'json'],
    [{}, 'json'],
  ] as [JsonSchema, string][])('%j is asked for as %s', (schema, kind) => expect(inputKind(schema)).toBe(kind));
});

describe('resolved', () => {
  const root: JsonSchema = {
    $defs: {
      name: { type: 'string', title: 'Name' },
      again: { $ref: '#/$defs/name' },
      circle: { $ref: '#/$defs/circle' },
    },
  };

  it('follows references, and lets what stands beside them win', () => {
    expect(resolveSchema({ $ref: '#/$defs/again', title: 'Other' }, root)).toEqual({ type: 'string', title: 'Other' });
  });

  it('gives up on what leads nowhere, and on circles', () => {
    expect(resolveSchema({ $ref: '#/$defs/none' }, root)).toEqual({});
    expect(resolveSchema({ $ref: 'https://elsewhere.example/schema' }, root)).toEqual({});
    expect(resolveSchema({ $ref: '#/$defs/circle' }, root)).toEqual({});
  });
});

describe('initialValue', () => {
  it('has defaults, and what a required member begins with', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        decision: { enum: ['yes', 'no'] },
        sure: { type: 'boolean' },
        maybe: { type: 'boolean' },
        count: { type: 'integer', default: 3 },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['decision', 'sure', 'tags'],
    };
    expect(initialValue(schema, schema)).toEqual({ sure: false, count: 3, tags: [] });
  });
});

import type { JsonObject } from '#libs/protocol';
import { elicitationSchema } from './questions.js';

const form = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...more });

describe('elicitationSchema', () => {
  it('keeps of a flat form what an elicitation can say', () => {
    const written = form(
      {
        mail: { type: 'string', format: 'email', minLength: 3, pattern: '@', title: 'E-mail' },
        host: { type: 'string', format: 'hostname' },
        colour: { enum: ['red', 'blue'], default: 'red' },
        count: { type: 'integer', minimum: 1, multipleOf: 2 },
        ok: { type: 'boolean', description: 'Really?' },
      },
      { required: ['ok'], additionalProperties: false },
    );
    expect(elicitationSchema(written)).toEqual(
      form(
        {
          mail: { type: 'string', format: 'email', minLength: 3, title: 'E-mail' },
          host: { type: 'string' },
          colour: { type: 'string', enum: ['red', 'blue'], default: 'red' },
          count: { type: 'integer', minimum: 1 },
          ok: { type: 'boolean', description: 'Really?' },
        },
        { required: ['ok'] },
      ),
    );
  });

  it('keeps choices with titles, and lists of choices', () => {
    const titled = [
      { const: 'r', title: 'Red' },
      { const: 'b', title: 'Blue' },
    ];
    const written = form({
      one: { type: 'string', oneOf: titled },
      some: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: ['r', 'b'] } },
      many: { type: 'array', items: { anyOf: titled }, default: ['r'] },
    });
    expect(elicitationSchema(written)).toEqual(
      form({
        one: { type: 'string', oneOf: titled },
        some: { type: 'array', minItems: 1, items: { type: 'string', enum: ['r', 'b'] } },
        many: { type: 'array', items: { anyOf: titled }, default: ['r'] },
      }),
    );
  });

  it.each([
    ['nothing', {}],
    ['no fields', form({})],
    ['a list', { type: 'array' }],
    ['an object in it', form({ a: { type: 'object' } })],
    ['a list in it', form({ a: { type: 'array', items: { type: 'string' } } })],
    ['a choice of numbers', form({ a: { type: 'number', enum: [1, 2] } })],
    ['several types', form({ a: { type: ['string', 'null'] } })],
    ['a field that may be anything', form({ a: true })],
  ])('is none for a form with %s', (_what, written) => {
    expect(elicitationSchema(written)).toBeUndefined();
  });
});

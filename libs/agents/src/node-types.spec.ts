import type { JsonObject } from '#libs/protocol';
import { argumentSchema } from './node-types.js';

describe('argumentSchema', () => {
  it('gives inputs that may be anything the type of a text, and leaves the others as they are', () => {
    const input = {
      properties: { topic: { description: 'About what' }, count: { type: 'integer' }, any: { enum: [1, 'two'] } },
      required: ['topic'],
      additionalProperties: false,
    };
    expect(argumentSchema(input)).toEqual({
      type: 'object',
      properties: {
        topic: { type: 'string', description: 'About what' },
        count: { type: 'integer' },
        any: { enum: [1, 'two'] },
      },
      required: ['topic'],
      additionalProperties: false,
    });
  });

  const NONE: JsonObject[] = [{}, { properties: {} }, { properties: [] }];

  it.each(NONE)('has no schema for a workflow without inputs: %j', (input) => {
    expect(argumentSchema(input)).toBeUndefined();
  });
});

import { argumentSchema } from './argument-schema.js';

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

  it.each([{}, { properties: {} }, { properties: [] }])('has no schema for a workflow without inputs: %j', (input) => {
    expect(argumentSchema(input)).toBeUndefined();
  });
});

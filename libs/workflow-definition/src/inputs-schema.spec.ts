import { InputSchema } from '#libs/expressions';
import type { JsonObject } from '#libs/protocol';
import { inputsSchema } from './run-inputs.js';

const input = (id: string, config: JsonObject = {}) => ({ id, type: 'input', config });

describe('inputsSchema', () => {
  it('has every input by its name, and requires those that have neither a default nor leave to be missing', () => {
    const nodes = [
      input('topic'),
      input('tone', { default: 'warm' }),
      input('note', { optional: true, description: 'Anything else' }),
      { id: 'out', type: 'output', config: {} },
    ];
    expect(inputsSchema(nodes)).toEqual({
      type: 'object',
      properties: {
        topic: { description: 'The input of the node topic' },
        tone: { description: 'The input of the node tone', default: 'warm' },
        note: { description: 'Anything else' },
      },
      required: ['topic'],
    });
  });

  it('says what an input’s schema says, without where that was', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'x',
      type: 'integer',
      description: 'How many',
    };
    expect(inputsSchema([input('count', { schema })])['properties']).toEqual({
      count: { type: 'integer', description: 'How many' },
    });
  });

  it('refers to the new place of what a schema refers to in itself, and changes no data', () => {
    const data = { default: { $ref: '#/definitions/a' }, enum: [{ $ref: '#' }] };
    const schema = {
      type: 'object',
      definitions: { a: { type: 'integer' }, default: { $ref: '#/definitions/a' } },
      properties: { $ref: { allOf: [{ $ref: '#/definitions/default' }] }, x: data },
    };
    const whole = inputsSchema([input('in', { schema })]);
    expect(whole['properties']).toEqual({
      in: {
        description: 'The input of the node in',
        type: 'object',
        definitions: { a: { type: 'integer' }, default: { $ref: '#/properties/in/definitions/a' } },
        properties: { $ref: { allOf: [{ $ref: '#/properties/in/definitions/default' }] }, x: data },
      },
    });
    const faults = InputSchema.fromJson(whole).faults({ in: { $ref: 'no number' } });
    expect(faults).toEqual([expect.objectContaining({ path: '.in.$ref', detail: 'must be integer' })]);
  });

  it('changes no reference to an anchor, which is found wherever the schema is', () => {
    const schema = {
      $defs: { item: { $anchor: 'item', type: 'integer' } },
      properties: { one: { $ref: '#item' }, again: { $ref: '#' } },
    };
    expect(inputsSchema([input('in', { schema })])).toMatchObject({
      properties: { in: { properties: { one: { $ref: '#item' }, again: { $ref: '#/properties/in' } } } },
    });
  });

  it('is empty for a workflow without inputs', () => {
    expect(inputsSchema([])).toEqual({ type: 'object', properties: {} });
  });
});

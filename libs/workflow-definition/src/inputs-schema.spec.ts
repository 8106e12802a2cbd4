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

  it('leaves out a schema that refers to a place in itself', () => {
    const schema = { definitions: { a: {} }, properties: { x: { $ref: '#/definitions/a' } } };
    expect(inputsSchema([input('in', { schema })])['properties']).toEqual({
      in: { description: 'The input of the node in' },
    });
  });

  it('is empty for a workflow without inputs', () => {
    expect(inputsSchema([])).toEqual({ type: 'object', properties: {} });
  });
});

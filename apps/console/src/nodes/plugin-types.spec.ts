import { pluginTypes } from './plugin-types.js';

const ofType = (type: string, config: object) => ({
  if: { properties: { type: { const: type } }, required: ['type'] },
  then: { properties: { config } },
});
const schema = (...allOf: object[]) => ({ properties: { nodes: { items: { allOf } } } });

describe('node types that the service alone knows', () => {
  it('have a panel made of the schema of their config', () => {
    const config = {
      type: 'object',
      description: 'Says prices.',
      properties: {
        prompt: { type: 'string' },
        data: {},
        currency: { type: 'string', enum: ['EUR', 'USD'], description: 'Of the price.' },
        maxItems: { type: 'integer' },
        with_tax: { type: 'boolean', title: 'Tax' },
        description: { type: 'string' },
      },
    };
    const [found, ...more] = pluginTypes(schema(ofType('agent', config), ofType('quote', config)));
    expect(more).toEqual([]);
    expect(found).toMatchObject({ type: 'quote', description: 'Says prices.' });
    expect(found?.fields.map(({ key, label, kind, hint }) => [key, label, kind, hint])).toEqual([
      ['prompt', 'Prompt', 'prompt', expect.any(String)],
      ['data', 'Data', 'json', expect.any(String)],
      ['currency', 'Currency', 'text', 'Of the price. One of "EUR", "USD".'],
      ['maxItems', 'Max items', 'json', undefined],
      ['with_tax', 'Tax', 'flag', undefined],
    ]);
  });

  it.each([[undefined], [{}], [schema({})]])('are none where the schema says nothing: %j', (given) => {
    expect(pluginTypes(given)).toEqual([]);
  });
});

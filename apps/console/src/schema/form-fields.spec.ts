import {
  fieldsOf,
  FIELD_KINDS,
  type FieldKind,
  freeName,
  NEW_FIELD,
  schemaOf,
  wholeKind,
  wholeSchema,
} from './form-fields.js';

describe('the fields of a form', () => {
  it('become a schema, and are read out of it again', () => {
    const fields = (Object.keys(FIELD_KINDS) as FieldKind[]).map((kind, index) => ({
      ...NEW_FIELD,
      name: kind,
      kind,
      title: index === 0 ? 'A title' : '',
      description: index === 1 ? 'What it is for' : '',
      required: index % 2 === 0,
      choices: kind === 'choice' ? ['yes', 'no'] : [],
    }));
    const schema = schemaOf(fields, undefined);
    expect(fieldsOf(schema)).toEqual(fields);
    expect(schema).toMatchObject({
      type: 'object',
      properties: { text: { type: 'string', title: 'A title' }, choice: { type: 'string', enum: ['yes', 'no'] } },
      required: ['text', 'integer', 'choice', 'texts'],
    });
  });

  it('keep what else is said of the whole', () => {
    expect(schemaOf([], { type: 'object', title: 'Form', required: ['gone'] })).toEqual({
      type: 'object',
      title: 'Form',
      properties: {},
    });
  });

  it.each([
    [{ type: 'string' }],
    [{ type: 'object', additionalProperties: false }],
    [{ type: 'object', properties: { a: { type: 'object' } } }],
    [{ type: 'object', properties: { a: { type: 'string', pattern: 'x' } } }],
    [{ type: 'object', properties: { a: { type: 'string', format: 'email' } } }],
    [{ type: 'object', properties: { a: { enum: [1] } } }],
    [true],
  ])('do not say what %j says', (schema) => expect(fieldsOf(schema)).toBeUndefined());

  it('may be one without a name', () => {
    for (const kind of Object.keys(FIELD_KINDS) as FieldKind[]) expect(wholeKind(wholeSchema(kind, ['a']))).toBe(kind);
    expect([undefined, { type: 'object' }, { anyOf: [] }, 7].map(wholeKind)).toEqual(['any', 'fields', 'json', 'json']);
  });

  it('get names of their own', () => {
    expect(freeName([])).toBe('field1');
    expect(freeName([{ ...NEW_FIELD, name: 'field1' }])).toBe('field2');
  });
});

import type { JsonObject, JsonValue } from '#libs/protocol';
import { SharedUse } from '../evaluation.js';
import { InputSchema, InvalidInputSchema } from './input-schema.js';

const DRAFT_7 = 'http://json-schema.org/draft-07/schema';

function refused(schema: JsonValue): string {
  try {
    InputSchema.fromJson(schema);
  } catch (error) {
    if (error instanceof InvalidInputSchema) return error.message;
    throw error;
  }
  throw new Error('was not refused');
}

function nested(levels: number, innermost: JsonValue): JsonValue {
  return levels === 0 ? innermost : { not: nested(levels - 1, innermost) };
}

describe('what a schema is', () => {
  test('draft 7, with references to places of its own', () => {
    const schema = InputSchema.fromJson({
      $schema: `${DRAFT_7}#`,
      type: 'object',
      properties: { age: { $ref: '#/definitions/age' }, $id: { type: 'string' } },
      definitions: { age: { type: 'integer', minimum: 0 } },
      required: ['age'],
    });
    expect(schema.faults({ age: 7, $id: 'mine' })).toEqual([]);
    expect(schema.faults({ age: -1 })).toEqual([{ path: '.age', detail: 'must be >= 0' }]);
    expect(schema.faults({ age: 1, $id: 2 })).toEqual([{ path: '.$id', detail: 'must be string' }]);
  });

  test('what no other member may be is named', () => {
    const schema = InputSchema.fromJson({ type: 'object', properties: { age: {} }, additionalProperties: false });
    const detail = 'must NOT have additional properties: "aeg"';
    expect(schema.faults({ aeg: 7 })).toEqual([{ path: '', detail }]);
  });

  test('what stands in data is no keyword', () => {
    const schema = InputSchema.fromJson({
      enum: [{ $id: 'x' }],
      default: { $async: true },
      examples: [{ $anchor: 'a' }],
    });
    expect(schema.faults({ $id: 'x' })).toEqual([]);
  });

  test.each([
    ['another draft', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['a shape that draft 7 does not know', { type: 'nothing' }],
    ['a list that must be one', { required: 'name' }],
  ])('%s is refused', (_, schema) => {
    expect(refused(schema)).toMatch(/draft 7|no valid JSON Schema/);
  });
});

describe('names', () => {
  const names = ['$id', 'id', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor', '$recursiveRef', '$async'];

  test.each(names)('%s is refused wherever a schema may stand, with its place', (name) => {
    const named: JsonObject = { [name]: name === '$async' ? true : 'urn:x' };
    const places: [JsonObject, string][] = [
      [named, '#'],
      [{ properties: { a: named } }, '#/properties/a'],
      [{ patternProperties: { '^a': named } }, '#/patternProperties/^a'],
      [{ definitions: { 'a/b': named } }, '#/definitions/a~1b'],
      [{ $defs: { a: named } }, '#/$defs/a'],
      [{ dependencies: { a: named } }, '#/dependencies/a'],
      [{ items: [true, named] }, '#/items/1'],
      ...['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'contentSchema'].map(
        (keyword): [JsonObject, string] => [{ [keyword]: named }, `#/${keyword}`],
      ),
      ...['additionalItems', 'additionalProperties'].map((keyword): [JsonObject, string] => [
        { [keyword]: named },
        `#/${keyword}`,
      ]),
      ...['allOf', 'anyOf', 'oneOf'].map((keyword): [JsonObject, string] => [{ [keyword]: [named] }, `#/${keyword}/0`]),
    ];
    for (const [schema, place] of places) expect(refused(schema)).toContain(`must not have ${name} (${place}/${name})`);
  });

  test('a tuple of one element is a schema, with and without a minimum', () => {
    const bounds: JsonObject[] = [{}, { minItems: 1 }, { additionalItems: false }];
    for (const more of bounds) {
      const schema = InputSchema.fromJson({ type: 'array', items: [{ type: 'string' }], ...more });
      expect(schema.faults(['a'])).toEqual([]);
      expect(schema.faults([1])).toEqual([{ path: '[0]', detail: 'must be string' }]);
    }
  });

  test('a schema under the name of draft 7 leaves draft 7 as it is', () => {
    expect(refused({ $id: DRAFT_7, type: 'string' })).toContain('$id');
    expect(refused({ $id: `${DRAFT_7}#`, type: 'nothing' })).toContain('$id');
    expect(InputSchema.fromJson({ type: 'string' }).faults(1)).toEqual([{ path: '', detail: 'must be string' }]);
    expect(refused({ type: 'nothing' })).toContain('no valid JSON Schema');
  });

  test('nothing else of a schema is known to the next', () => {
    for (let index = 0; index < 3; index += 1) {
      const schema = InputSchema.fromJson({ definitions: { a: { const: index } }, $ref: '#/definitions/a' });
      expect(schema.faults(index)).toEqual([]);
      expect(schema.faults(-1)).toHaveLength(1);
    }
  });
});

describe('references', () => {
  test('to an anchor find it, wherever it is', () => {
    const schema = InputSchema.fromJson({
      properties: { age: { $ref: '#age' }, ages: { items: { $ref: '#age' } }, $anchor: { type: 'boolean' } },
      $defs: { age: { $anchor: 'age', type: 'integer', minimum: 0 } },
      examples: [{ $anchor: 'age' }],
    });
    expect(schema.faults({ age: 7, ages: [1, 2], $anchor: true })).toEqual([]);
    expect(schema.faults({ age: -1 })).toEqual([{ path: '.age', detail: 'must be >= 0' }]);
    expect(schema.faults({ ages: [1, 'x'] })).toEqual([{ path: '.ages[1]', detail: 'must be integer' }]);
    expect(schema.faults({ $anchor: 1 })).toEqual([{ path: '.$anchor', detail: 'must be boolean' }]);
  });

  test.each<[string, JsonObject, string]>([
    ['in a circle', { $anchor: 'a', allOf: [{ $ref: '#a' }] }, 'circle'],
    ['that two places have', { $defs: { a: { $anchor: 'x' }, b: { $anchor: 'x' } } }, 'two places'],
    ['that is no name', { $defs: { a: { $anchor: '/definitions/b' } } }, 'no name'],
    ['that is no text', { $defs: { a: { $anchor: 7 } } }, 'no name'],
  ])('to an anchor %s are refused', (_, schema, why) => {
    expect(refused(schema)).toContain(why);
  });

  const circle = { a: { allOf: [{ $ref: '#/definitions/b' }] }, b: { anyOf: [{ $ref: '#/definitions/a' }] } };

  test.each([
    ['in a circle', { $ref: '#/definitions/a', definitions: circle }, 'circle'],
    ['to the whole', { properties: { a: { $ref: '#' } } }, 'circle'],
    ['in a circle that nobody refers to', { definitions: circle }, 'circle'],
    ['under a name', { $ref: '#a' }, 'may refer to places'],
    ['written in another way', { $ref: '#/definitions/%61', definitions: { a: true } }, 'may refer to places'],
    ['to data', { $ref: '#/default', default: { $ref: '#' } }, 'no schema of it'],
    ['to names', { $ref: '#/properties', properties: { a: true } }, 'no schema of it'],
    ['to a list', { $ref: '#/dependencies/a', dependencies: { a: ['b'] } }, 'no schema of it'],
    ['to what every object has', { $ref: '#/constructor' }, 'no schema of it'],
    ['elsewhere', { $ref: 'http://127.0.0.1/x' }, 'itself alone'],
  ])('%s are refused', (_, schema, why) => {
    expect(refused(schema)).toContain(why);
  });

  test('what doubles with each is refused', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 30 }, (_, index): [string, JsonObject] => {
        const next = { $ref: `#/definitions/d${index + 1}` };
        return [`d${index}`, index === 29 ? { type: 'string' } : { allOf: [next, next] }];
      }),
    );
    expect(refused({ $ref: '#/definitions/d0', definitions: doubling })).toContain('more than 5000 subschemas');
  });

  test('a long chain is refused', () => {
    const chain = (length: number): JsonObject => ({
      $ref: '#/definitions/d1',
      definitions: Object.fromEntries(
        Array.from({ length }, (_, index): [string, JsonObject] => [
          `d${index + 1}`,
          index + 1 === length ? { type: 'string' } : { allOf: [{ $ref: `#/definitions/d${index + 2}` }] },
        ]),
      ),
    });
    expect(refused(chain(100))).toContain('nested deeper');
    expect(InputSchema.fromJson(chain(25)).faults(1)).toHaveLength(1);
  });
});

describe('formats', () => {
  const faultsOf = (format: string, value: JsonValue) =>
    InputSchema.fromJson({ properties: { a: { format } } }).faults({ a: value });

  test.each([
    ['date', '2028-02-29', '2027-02-29'],
    ['date', '0001-01-01', '2027-02-01T00:00:00Z'],
    ['date-time', '2027-02-01T09:30:00.5+01:00', '2027-02-01T09:30:00'],
    ['date-time', '2027-02-01t09:30:00z', '2027-02-01T24:00:00Z'],
    ['email', "mary.o'hara@example.org", 'mary@example..org'],
    ['email', 'a+b@localhost', 'mary'],
    ['email', `${'a'.repeat(308)}@example.org`, `${'a'.repeat(309)}@example.org`],
    ['uri', 'https://example.org/Köln?q=%C3%B6#top', 'https://example.org/a b'],
    ['uri', 'urn:isbn:0-395-36341-1', '/relative'],
    ['uri', 'mailto:mary@example.org', 'https://example.org/%C3%'],
    ['uuid', '01234567-89AB-cdef-0123-456789abcdef', '0123456789abcdef0123456789abcdef'],
  ])('%s: %s is one, %s is none', (format, one, none) => {
    expect(faultsOf(format, one)).toEqual([]);
    expect(faultsOf(format, none)).toEqual([{ path: '.a', detail: `must match format "${format}"` }]);
  });

  test.each(['time', 'hostname', 'ipv4', 'regex', 'duration', 'nonsense', 'constructor', '__proto__', ''])(
    '%s only tells',
    (format) => expect(faultsOf(format, 'whatever')).toEqual([]),
  );

  test('what is no text has none', () => {
    expect(faultsOf('date', 20270201)).toEqual([]);
  });
});

describe('bounds of a schema', () => {
  test.each([
    ['characters', { description: 'x'.repeat(64 * 1024) }, '65536 bytes'],
    ['subschemas', { anyOf: Array.from({ length: 500 }, () => false) }, '500 subschemas'],
    ['dependencies', { dependencies: { a: Array.from({ length: 500 }, (_, n) => `n${n}`) } }, '500 subschemas'],
    [
      'keywords',
      { allOf: Array.from({ length: 400 }, () => ({ minimum: 0, maximum: 9, minLength: 1, maxLength: 9 })) },
      '1500 keywords',
    ],
    ['depth', nested(51, true), 'nested deeper'],
    ['a long pattern', { pattern: 'a?'.repeat(501) }, '1000 characters'],
    ['a pattern that repeats', { pattern: 'a{1000}'.repeat(140) }, '100000 characters times repetitions'],
    [
      'patterns',
      { anyOf: Array.from({ length: 30 }, (_, n) => ({ pattern: `a{1000}b{${n}}` })) },
      '20000 instructions',
    ],
    ['names that are patterns', { patternProperties: { ['a?'.repeat(501)]: true } }, '1000 characters'],
  ])('too many or too much of %s', (_, schema, why) => {
    expect(refused(schema)).toContain(why);
  });

  test('all schemas of a workflow count together', () => {
    const use = new SharedUse();
    const schema = { anyOf: Array.from({ length: 299 }, () => false) };
    InputSchema.fromJson(schema, use);
    expect(() => InputSchema.fromJson(schema, use)).toThrow('more than 500 subschemas');
  });

  test('patterns of names are never those of the runtime', () => {
    const properties = { [`${'a'.repeat(200)}!`]: { type: 'number' } };
    const schema = InputSchema.fromJson({ properties, patternProperties: { '^(?:a+)+$': { type: 'number' } } });
    expect(schema.faults({ aaa: 'x' })).toEqual([{ path: '.aaa', detail: 'must be number' }]);
  });

  test('a pattern that RE2 does not know', () => {
    expect(refused({ items: { pattern: '(a)\\1' } })).toContain('no valid JSON Schema');
  });
});

describe('bounds of a check', () => {
  const tooLarge = [{ path: '', detail: 'is too large for its schema: checking it may take more than 1000000 steps' }];

  test.each<[string, JsonObject, JsonValue]>([
    ['a large pattern over a long text', { pattern: '(?:a?){300}b' }, 'a'.repeat(4 * 1024 * 1024)],
    [
      'patterns of names',
      { patternProperties: { '(?:a?){300}b': { type: 'number' } } },
      { ['a'.repeat(4 * 1024 * 1024)]: 1 },
    ],
    [
      'a long enum over many elements',
      { items: { enum: Array.from({ length: 10_000 }, (_, n) => n) } },
      Array.from({ length: 50_000 }, () => 9_999),
    ],
    [
      'many branches over many elements',
      { contains: { anyOf: Array.from({ length: 490 }, () => false) } },
      Array.from({ length: 50_000 }, () => 0),
    ],
  ])('%s is refused', (_, json, value) => {
    expect(InputSchema.fromJson(json).faults(value)).toEqual(tooLarge);
  });

  test('all inputs of a Message count together', () => {
    const schema = InputSchema.fromJson({ type: 'array', items: { type: 'integer' } });
    const value = Array.from({ length: 50_000 }, () => 0);
    const use = new SharedUse();
    expect(schema.faults(value, use)).toEqual([]);
    expect(schema.faults(value, use)).toEqual([]);
    expect(schema.faults(value, use)).toEqual(tooLarge);
  });

  test('a pattern costs where it is looked for', () => {
    const schema = InputSchema.fromJson({
      properties: { id: { type: 'string', maxLength: 64, pattern: '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$' } },
    });
    const text = 'x'.repeat(1024 * 1024);
    expect(schema.faults({ id: '01234567-89ab-cdef-0123-456789abcdef', text })).toEqual([]);
    expect(schema.faults({ id: text })).toEqual([{ path: '.id', detail: 'must NOT have more than 64 characters' }]);
  });

  test('a check that was given up leaves the next alone', () => {
    const schema = InputSchema.fromJson({ pattern: '(?:a?){300}b' });
    expect(schema.faults('a'.repeat(4_000))).toEqual(tooLarge);
    expect(schema.faults('ab')).toEqual([]);
  });

  test('what is usual fits', () => {
    const row = {
      type: 'object',
      properties: { name: { type: 'string', pattern: '^[a-z]+$' }, n: { type: 'number' } },
    };
    const rows = Array.from({ length: 2_000 }, (_, n) => ({ name: 'someone', n }));
    expect(InputSchema.fromJson({ type: 'array', items: row }).faults(rows)).toEqual([]);
    expect(InputSchema.fromJson({ type: 'string', minLength: 1 }).faults('x'.repeat(4 * 1024 * 1024))).toEqual([]);
    expect(InputSchema.fromJson({ pattern: '^https://' }).faults('https://example.com')).toEqual([]);
  });
});

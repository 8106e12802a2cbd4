import {
  defaultedMember,
  flagMember,
  numberMember,
  objectMember,
  objectsMember,
  objectShape,
  optionalMember,
  shapeFaults,
  shapeSchema,
  storedObject,
  textMember,
  textsMember,
  unknownMembersOf,
  valueMember,
  wordMember,
} from './shape.js';

const POINT = objectShape('Point', 'a point', { x: numberMember({ description: 'Across.' }) });
const SHAPE = objectShape(
  'Thing',
  'a thing',
  {
    name: textMember({ description: 'Name.' }),
    way: optionalMember(wordMember(['up', 'down', 'on'], { default: 'up' })),
    on: optionalMember(flagMember({})),
    either: optionalMember(valueMember({ anyOf: [{ type: 'string' }] }, {}, () => true, '')),
    words: defaultedMember(textsMember({}, {}), () => []),
    at: optionalMember(objectMember(POINT, { description: 'Place.' })),
    points: optionalMember(objectsMember(POINT, 2, { description: 'Places.' })),
  },
  ['revision'],
);

const faultsOf = (sent: object) =>
  [...shapeFaults(SHAPE, sent as never)].map(({ path, detail }) => `${path} ${detail}`);

describe('a shape', () => {
  it('gives a JSON Schema in which all that is not required may be null', () => {
    const point = { type: 'object', properties: { x: { type: 'number', description: 'Across.' } }, required: ['x'] };
    expect(shapeSchema(SHAPE)).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Name.' },
        way: { enum: ['up', 'down', 'on', null], default: 'up' },
        on: { type: ['boolean', 'null'] },
        either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        words: { type: ['array', 'null'] },
        at: { ...point, type: ['object', 'null'], description: 'Place.' },
        points: { maxItems: 2, type: ['array', 'null'], items: point, description: 'Places.' },
      },
      required: ['name'],
    });
  });

  it('names each member that does not fit it, in the declared order', () => {
    expect(faultsOf({ points: [5, {}, { x: 1 }, {}], at: 'x', words: ['a', 5], on: 1, way: 'left' })).toEqual([
      'name must be a string',
      'way must be "up", "down" or "on"',
      'on must be true or false',
      'words[1] must be a string',
      'at must be an object',
      'points must not have more than 2 entries',
      'points[0].x must be a number',
      'points[1].x must be a number',
    ]);
    expect(faultsOf({ name: '', way: null, at: { x: '1' }, points: {}, words: 'a' })).toEqual([
      'words must be an array',
      'at.x must be a number',
      'points must be an array',
    ]);
  });

  it('names the entries of a list that is sent in place of an object', () => {
    expect(faultsOf({ name: 'a', at: [{}, [null]] })).toEqual(['at must be an object', 'at[1][0] must be an object']);
  });

  it('stores members in the declared order, without null and unknown ones', () => {
    const sent = { z: 1, points: [{ x: 1, y: 2 }], on: null, name: 'a' };
    expect(JSON.stringify(storedObject(SHAPE, sent))).toBe('{"name":"a","words":[],"points":[{"x":1}]}');
  });

  it('knows the members that it does not declare, at most ten of each object', () => {
    const strange = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`s${index}`, 1]));
    const found = unknownMembersOf(SHAPE, { ...strange, revision: '1', at: { x: 1, y: 1 }, points: [strange] }, 'it.');
    expect(found).toHaveLength(11);
    expect([found[0], found[10]]).toMatchObject([
      { name: 's0', path: 'it.s0', title: 'a thing' },
      { name: 'y', path: 'it.at.y', title: 'a point', known: ['x'] },
    ]);
  });
});

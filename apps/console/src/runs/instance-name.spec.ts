import { isNotBefore, loopKey, formatInstanceName, parseInstanceName } from './instance-name.js';

describe('names of instances', () => {
  it.each([
    ['draft', { node: 'draft', path: [] }],
    ['my-draft@2', { node: 'my-draft', path: [2] }],
    ['x@2@1', { node: 'x', path: [2, 1] }],
    ['tr[17]', { node: 'tr', path: [], index: 17 }],
    ['x@2[0]', { node: 'x', path: [2], index: 0 }],
  ])('%s is %j', (name, place) => {
    expect(parseInstanceName(name)).toEqual(place);
    expect(formatInstanceName(place)).toBe(name);
  });

  it('know which is later', () => {
    expect(isNotBefore([2], [1])).toBe(true);
    expect(isNotBefore([1, 3], [2, 1])).toBe(false);
    expect(isNotBefore([2, 1], [1, 9])).toBe(true);
    expect(isNotBefore([], [])).toBe(true);
  });

  it('tell one run of a loop from another', () => expect([loopKey(4, []), loopKey(3, [2])]).toEqual(['4', '3@2']));
});

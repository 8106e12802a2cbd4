import { EMPTY_DRAFT } from './draft.js';
import { placeIn, placeOf } from './expression-check.js';

describe('placeIn', () => {
  it('finds the line and the column of a place', () => {
    expect(placeIn('a + b', 2)).toEqual({ line: 'a + b', column: 2 });
    expect(placeIn('one\ntwo\nthree', 5)).toEqual({ line: 'two', column: 1 });
    expect(placeIn('one\ntwo', 4)).toEqual({ line: 'two', column: 0 });
  });

  it('stays in the text', () => {
    expect(placeIn('ab', 9)).toEqual({ line: 'ab', column: 2 });
    expect(placeIn('', 0)).toEqual({ line: '', column: 0 });
  });
});

describe('placeOf', () => {
  const draft = { ...EMPTY_DRAFT, nodes: [{ id: 'a', type: 'agent', config: {} }] };

  it('names what an expression stands in', () => {
    expect(placeOf('edges[3].loop.exit_when', draft)).toEqual({ edge: 3, member: 'loop.exit_when' });
    expect(placeOf('nodes[0].each.items', draft)).toEqual({ node: 'a', member: 'each.items' });
    expect(placeOf('nodes[7].each.items', draft)).toEqual({ member: 'each.items' });
    expect(placeOf('deadline', draft)).toEqual({});
  });
});

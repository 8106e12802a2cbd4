import { placeIn } from './expression-check.js';

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

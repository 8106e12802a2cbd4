import { hasEntityTag, requestedRange } from './file-answer.js';

describe('requestedRange', () => {
  it.each([
    ['bytes=0-0', 10, { first: 0, last: 0 }],
    ['bytes=2-5', 10, { first: 2, last: 5 }],
    ['bytes=8-99', 10, { first: 8, last: 9 }],
    ['bytes=4-', 10, { first: 4, last: 9 }],
    ['bytes=-3', 10, { first: 7, last: 9 }],
    ['bytes=-99', 10, { first: 0, last: 9 }],
    [' Bytes = 1 - 2 ', 10, { first: 1, last: 2 }],
  ])('reads %s of %i bytes', (header, size, range) => {
    expect(requestedRange(header, size)).toEqual(range);
  });

  it.each([
    ['bytes=10-', 10],
    ['bytes=10-12', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=-1', 0],
  ])('finds nothing of %s in %i bytes', (header, size) => {
    expect(requestedRange(header, size)).toBe('unsatisfiable');
  });

  it.each([undefined, '', 'bytes=-', 'bytes=5-2', 'bytes=0-1,3-4', 'lines=0-1', 'bytes=a-b', 'bytes=1-2junk'])(
    'has the whole sent for %s',
    (header) => {
      expect(requestedRange(header, 10)).toBeUndefined();
    },
  );
});

describe('hasEntityTag', () => {
  it.each([
    ['"a"', true],
    ['"b", W/"a"', true],
    ['*', true],
    ['"ab"', false],
    ['a', false],
    [undefined, false],
  ])('compares %s with "a"', (header, expected) => {
    expect(hasEntityTag(header, '"a"')).toBe(expected);
  });
});

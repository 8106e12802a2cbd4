import { resultParts } from './node-executor.js';

describe('resultParts (row B12)', () => {
  it.each([
    ['text', [{ text: 'text', mediaType: 'text/plain' }]],
    [{ a: [1] }, [{ data: { a: [1] }, mediaType: 'application/json' }]],
    [[1, 2], [{ data: [1, 2], mediaType: 'application/json' }]],
    [42, [{ text: '42', mediaType: 'text/plain' }]],
    [true, [{ text: 'true', mediaType: 'text/plain' }]],
    [null, [{ text: 'null', mediaType: 'text/plain' }]],
  ])('gives %j as Parts', (result, parts) => expect(resultParts(result)).toEqual(parts));
});

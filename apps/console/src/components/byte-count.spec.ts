import { byteCount } from './byte-count.js';

describe('byteCount', () => {
  it.each([
    [3, '3 bytes'],
    [1536, '1.5 KiB'],
    [3 * 1024 ** 2, '3.0 MiB'],
    [5000 * 1024 ** 3, '5000.0 GiB'],
  ])('shows %i bytes as %s', (bytes, text) => {
    expect(byteCount(bytes)).toBe(text);
  });
});

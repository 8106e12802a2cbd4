import { isOutage, throughOutage } from './outage.js';

const failure = (code: string): Error => Object.assign(new Error(code), { code });

test.each([
  ['08006', true],
  ['57P01', true],
  ['53300', true],
  ['40P01', true],
  ['ECONNRESET', true],
  ['23505', false],
  ['22P05', false],
])('a failure with %s is an outage: %s', (code, outage) => {
  expect(isOutage(failure(code))).toBe(outage);
});

test('a mistake of ours is no outage', () => {
  expect(isOutage(new TypeError('x'))).toBe(false);
});

describe('throughOutage', () => {
  it('does it again until it succeeds', async () => {
    const outcomes = [failure('57P01'), failure('ECONNREFUSED'), 'done'];
    const statement = async (): Promise<string> => {
      const outcome = outcomes.shift();
      if (typeof outcome === 'string') return outcome;
      throw outcome ?? new Error('Asked too often');
    };
    expect(await throughOutage(statement, new AbortController().signal)).toBe('done');
  });

  it('gives any other error at once, and the reason of whoever stops it', async () => {
    const refused = failure('23505');
    const { signal } = new AbortController();
    await expect(throughOutage(() => Promise.reject(refused), signal)).rejects.toBe(refused);
    const stop = new AbortController();
    const waiting = throughOutage(() => Promise.reject(failure('57P01')), stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });
});

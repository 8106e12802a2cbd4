import { isDatabaseAway, isOutage, retryUntilWritable, retryWhileDatabaseDown, ofSession } from './outage.js';

const failure = (code: string): Error => Object.assign(new Error(code), { code });

test.each([
  ['08006', true],
  ['53300', true],
  ['40P01', true],
  ['25006', true],
  ['57014', true],
  ['57P01', true],
  ['57P02', true],
  ['57P03', true],
  ['57P04', true],
  ['57P05', true],
  ['55P03', true],
  ['58030', true],
  ['58P01', true],
  ['XX000', true],
  ['54000', true],
  ['42501', true],
  ['0A000', true],
  ['42P01', false],
  ['ECONNRESET', true],
  ['EPIPE', true],
  ['25001', false],
  ['25P02', false],
  ['55000', false],
  ['XX001', false],
  ['23505', false],
  ['22P05', false],
])('a failure with %s is an outage: %s', (code, outage) => {
  expect(isOutage(failure(code))).toBe(outage);
});

test.each(['FATAL', 'PANIC'])('whatever ends the session with %s is an outage', (severity) => {
  expect(isOutage(Object.assign(failure('55000'), { severity }))).toBe(true);
});

test('a mistake of ours is no outage', () => {
  expect(isOutage(new TypeError('x'))).toBe(false);
});

test.each([
  failure('25006'),
  failure('57P01'),
  ofSession(failure('ECONNREFUSED')),
  Object.assign(failure('3D000'), { severity: 'FATAL' }),
  new Error('Connection terminated unexpectedly'),
  new Error('Connection terminated due to connection timeout'),
  new Error('timeout exceeded when trying to connect'),
])('the database is away: $message', (error) => {
  expect(isDatabaseAway(error)).toBe(true);
});

test.each([
  failure('23505'),
  failure('42P01'),
  failure('ECONNREFUSED'),
  failure('ENOENT'),
  new Error('anything'),
  new TypeError('x'),
  'a text',
  undefined,
])('the database is not away: %p', (error) => {
  expect(isDatabaseAway(error)).toBe(false);
});

describe('throughOutage', () => {
  it('does it again until it succeeds', async () => {
    const outcomes = [failure('57P01'), failure('ECONNREFUSED'), 'done'];
    const statement = async (): Promise<string> => {
      const outcome = outcomes.shift();
      if (typeof outcome === 'string') return outcome;
      throw outcome ?? new Error('Asked too often');
    };
    expect(await retryWhileDatabaseDown(statement, new AbortController().signal)).toBe('done');
  });

  it('gives any other error at once, and the reason of whoever stops it', async () => {
    const refused = failure('23505');
    const { signal } = new AbortController();
    await expect(retryWhileDatabaseDown(() => Promise.reject(refused), signal)).rejects.toBe(refused);
    const stop = new AbortController();
    const waiting = retryWhileDatabaseDown(() => Promise.reject(failure('57P01')), stop.signal);
    stop.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });
});

describe('onceWritable', () => {
  it('does it again while the server only reads', async () => {
    const outcomes = [failure('25006'), failure('25006'), 'done'];
    const transaction = async (): Promise<string> => {
      const outcome = outcomes.shift();
      if (typeof outcome === 'string') return outcome;
      throw outcome ?? new Error('Asked too often');
    };
    expect(await retryUntilWritable(transaction)).toBe('done');
  });

  it.each(['57014', '40P01', 'ECONNRESET'])('gives any other error at once: %s', async (code) => {
    const error = failure(code);
    let tries = 0;
    const transaction = (): Promise<never> => {
      tries += 1;
      return Promise.reject(error);
    };
    await expect(retryUntilWritable(transaction)).rejects.toBe(error);
    expect(tries).toBe(1);
  });
});

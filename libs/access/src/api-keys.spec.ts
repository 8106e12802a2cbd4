import { CredentialCache, LONGEST_MS } from './api-keys.js';

/**
 * Creates a CredentialCache whose verifier returns these answers by digest and records the verified digests. The test
 * sets the clock.
 */
function setUp(answers: Record<string, string | undefined>) {
  const asked: string[] = [];
  const clock = { now: 0 };
  const ask = async (digest: string): Promise<string | undefined> => {
    asked.push(digest);
    return answers[digest];
  };
  return { asked, clock, answers, cache: new CredentialCache(ask, () => clock.now) };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('CredentialCache', () => {
  it('asks once for a second, and answers at once', async () => {
    const { asked, clock, cache } = setUp({ a: 'ann' });
    expect(await cache.lookUp('a')).toBe('ann');
    clock.now = 999;
    expect(cache.lookUp('a')).toBe('ann');
    expect(asked).toEqual(['a']);
  });

  it('asks again behind an answer that is older, once', async () => {
    const { asked, clock, cache } = setUp({ a: 'ann' });
    await cache.lookUp('a');
    clock.now = 1_000;
    for (let call = 0; call < 5; call += 1) expect(cache.lookUp('a')).toBe('ann');
    await settled();
    expect(asked).toEqual(['a', 'a']);
    clock.now = 1_999;
    expect(cache.lookUp('a')).toBe('ann');
    expect(asked).toHaveLength(2);
  });

  it('believes nobody longer than the bound', async () => {
    const { answers, clock, cache } = setUp({ a: 'ann' });
    await cache.lookUp('a');
    answers.a = undefined;
    clock.now = LONGEST_MS - 1;
    expect(cache.lookUp('a')).toBe('ann');
    await settled();
    expect(await cache.lookUp('a')).toBeUndefined();
    answers.a = 'ann';
    await cache.lookUp('a');
    clock.now += LONGEST_MS;
    answers.a = undefined;
    expect(await cache.lookUp('a')).toBeUndefined();
  });

  it('counts the age from when it asked, not from when it was answered', async () => {
    const answer = Promise.withResolvers<string>();
    const clock = { now: 0 };
    const cache = new CredentialCache(
      () => answer.promise,
      () => clock.now,
    );
    const first = cache.lookUp('a');
    clock.now = 1_900;
    answer.resolve('ann');
    await first;
    clock.now = LONGEST_MS;
    expect(cache.lookUp('a')).toBeInstanceOf(Promise);
  });

  it('keeps nothing of what is not valid, and forgets what it is told to', async () => {
    const { asked, cache } = setUp({ a: 'ann' });
    for (let call = 0; call < 3; call += 1) expect(await cache.lookUp('x')).toBeUndefined();
    await cache.lookUp('a');
    cache.forgetCredential('a');
    expect(await cache.lookUp('a')).toBe('ann');
    expect(asked).toEqual(['x', 'x', 'x', 'a', 'a']);
  });

  it('goes on with what it knows while nobody answers, no longer than the bound', async () => {
    const clock = { now: 0 };
    let fails = false;
    const cache = new CredentialCache(
      async () => {
        if (fails) throw new Error('The database is away');
        return 'ann';
      },
      () => clock.now,
    );
    await cache.lookUp('a');
    fails = true;
    clock.now = 1_500;
    expect(cache.lookUp('a')).toBe('ann');
    await settled();
    expect(cache.lookUp('a')).toBe('ann');
    clock.now = LONGEST_MS;
    await expect(cache.lookUp('a')).rejects.toThrow('The database is away');
  });
});

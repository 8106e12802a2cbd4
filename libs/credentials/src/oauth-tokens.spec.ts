import { CachedToken, type IssuedToken } from './oauth-tokens.js';

let now: number;
let fetches: { resolve(token: IssuedToken): void; reject(error: Error): void }[];
let token: CachedToken;

beforeEach(() => {
  now = 0;
  fetches = [];
  const fetch = (): Promise<IssuedToken> =>
    new Promise((resolve, reject) => {
      fetches.push({ resolve, reject });
    });
  token = new CachedToken(fetch, () => now);
});

/** Resolves the newest request for a token with the token `value`, which is valid for `lifetimeMs` milliseconds. */
function issue(value: string, lifetimeMs: number): void {
  fetches.at(-1)?.resolve({ value, lifetimeMs });
}

async function first(lifetimeMs: number): Promise<void> {
  const got = token.get();
  issue('one', lifetimeMs);
  expect(await got).toBe('one');
}

it('is fetched once for all who want it at once', async () => {
  const wanted = [token.get(), token.get(), token.get()];
  expect(fetches).toHaveLength(1);
  issue('one', 1000);
  expect(await Promise.all(wanted)).toEqual(['one', 'one', 'one']);
  expect(await token.get()).toBe('one');
  expect(fetches).toHaveLength(1);
});

it.each([
  ['short', 1000, 800],
  ['of five seconds', 5000, 4000],
  ['long', 3_600_000, 3_540_000],
])('is fetched anew before a %s life ends', async (_what, lifetime, freshUntil) => {
  await first(lifetime);
  now = freshUntil - 1;
  expect(await token.get()).toBe('one');
  now = freshUntil;
  const got = token.get();
  expect(fetches).toHaveLength(2);
  issue('two', lifetime);
  expect(await got).toBe('two');
});

it('counts its life from the request for it', async () => {
  const got = token.get();
  now = 900;
  issue('late', 1000);
  expect(await got).toBe('late');
  void token.get().catch(() => undefined);
  expect(fetches).toHaveLength(2);
});

it('is used to its end where no other one can be had', async () => {
  await first(1000);
  now = 900;
  const got = token.get();
  fetches.at(-1)?.reject(new Error('down'));
  expect(await got).toBe('one');
  now = 1000;
  const last = token.get();
  fetches.at(-1)?.reject(new Error('down'));
  await expect(last).rejects.toThrow('down');
});

it('is fetched anew for the first who was refused, and shared with those who were refused the same', async () => {
  await first(1000);
  const refused = [token.replaceRefused('one'), token.replaceRefused('one')];
  expect(fetches).toHaveLength(2);
  issue('two', 1000);
  expect(await Promise.all(refused)).toEqual(['two', 'two']);
  expect(await token.replaceRefused('one')).toBe('two');
  expect(fetches).toHaveLength(2);
});

it('is fetched each time where it lives for no time at all', async () => {
  await first(0);
  const got = token.get();
  issue('two', 0);
  expect(await got).toBe('two');
  expect(fetches).toHaveLength(2);
});

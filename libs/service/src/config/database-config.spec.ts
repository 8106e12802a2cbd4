import { ConfigError, loadConfig } from './load-config.js';

const DIRECT = 'postgres://parley@db.example:5432/parley';
const POOLER = 'postgres://parley@pooler.example:6432/parley';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
}

test('plain queries go where everything goes unless they are given a pooler', () => {
  expect(loadConfig({ DATABASE_URL: DIRECT })).toMatchObject({ databaseUrl: DIRECT });
  expect(loadConfig({ DATABASE_URL: DIRECT }).databasePoolUrl).toBeUndefined();
  expect(loadConfig({ DATABASE_URL: DIRECT, DATABASE_POOL_URL: POOLER })).toMatchObject({
    databaseUrl: DIRECT,
    databasePoolUrl: POOLER,
  });
});

test.each([
  ['http://pooler.example/', 'DATABASE_POOL_URL: must be a postgres:// URL'],
  [`${POOLER}?require_auth=none`, 'DATABASE_POOL_URL: can require_auth=scram-sha-256 only'],
])('DATABASE_POOL_URL %s is refused, by its name alone', (value, line) => {
  expect(problemsOf({ DATABASE_URL: DIRECT, DATABASE_POOL_URL: value })).toEqual([line]);
});

test('ADOPT_DATABASE is a code that a refused start names, and nothing else', () => {
  expect(loadConfig({ ADOPT_DATABASE: '0123456789ab' }).adoptDatabase).toBe('0123456789ab');
  const line = 'ADOPT_DATABASE: must be the value that the refused start names';
  for (const value of ['true', '0123456789AB', '0123456789abc'])
    expect(problemsOf({ ADOPT_DATABASE: value })).toEqual([line]);
});

test('DATABASE_POOL_URL without DATABASE_URL is refused', () => {
  expect(problemsOf({ DATABASE_POOL_URL: POOLER })).toEqual([
    'DATABASE_POOL_URL: needs DATABASE_URL, a direct or session-pooled connection to the same database',
  ]);
});

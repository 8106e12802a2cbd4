import { randomBytes } from 'node:crypto';

/** A caller of a service with AUTH_MODE=api-key. */
export interface TestCaller {
  name: string;
  key: string;
  /** What the caller sends with every call. */
  headers: Record<string, string>;
}

/** A caller with a key that nobody else has. */
export function testCaller(name: string): TestCaller {
  const key = `key-of-${name}-${randomBytes(16).toString('hex')}`;
  return { name, key, headers: { authorization: `Bearer ${key}` } };
}

/** The environment of a service that knows these callers. */
export function apiKeyEnv(...callers: TestCaller[]): Record<string, string> {
  return { AUTH_MODE: 'api-key', AUTH_API_KEYS: callers.map(({ name, key }) => `${name}:${key}`).join(',') };
}

import { createHash, randomBytes } from 'node:crypto';

/** A caller of a service with AUTH_MODE=api-key. */
export interface TestCaller {
  name: string;
  key: string;
  /** Headers that authenticate the caller. */
  headers: Record<string, string>;
}

/** Creates a caller with a new key. */
export function testCaller(name: string): TestCaller {
  return callerWith(name, randomBytes(16).toString('hex'));
}

function callerWith(name: string, secret: string): TestCaller {
  const key = `key-of-${name}-${secret}`;
  return { name, key, headers: { authorization: `Bearer ${key}` } };
}

/** Setting that permits a service with authentication to call the agents of tests, which listen on loopback. */
export const LOOPBACK_ALLOWED = { OUTBOUND_ALLOW: '127.0.0.0/8,::1' };

/** Returns the environment of a service that knows these callers, and may call agents of this machine. */
export function apiKeyEnv(...callers: TestCaller[]): Record<string, string> {
  const keys = callers.map(({ name, key }) => `${name}:${key}`).join(',');
  return { AUTH_MODE: 'api-key', AUTH_API_KEYS: keys, ...LOOPBACK_ALLOWED };
}

/** Creates a caller whose key depends on the name alone, so that all files can share services that know it. */
const knownCaller = (name: string): TestCaller => callerWith(name, createHash('sha256').update(name).digest('hex'));
export const ANN = knownCaller('ann');
export const EVE = knownCaller('eve');

/** Options of a service that knows the callers ANN and EVE, and speaks gRPC. */
export const KNOWS_CALLERS = { env: { ...apiKeyEnv(ANN, EVE), GRPC_PORT: '0' } };

import { createHash, randomBytes } from 'node:crypto';

/** A caller of a service with AUTH_MODE=api-key. */
export interface TestCaller {
  name: string;
  key: string;
  /** What the caller sends with every call. */
  headers: Record<string, string>;
}

/** A caller with a key that nobody else has. */
export function testCaller(name: string): TestCaller {
  return callerWith(name, randomBytes(16).toString('hex'));
}

function callerWith(name: string, secret: string): TestCaller {
  const key = `key-of-${name}-${secret}`;
  return { name, key, headers: { authorization: `Bearer ${key}` } };
}

/** With authentication a service calls agents on this machine only where its operator says so: the agents of tests are here. */
export const LOOPBACK_ALLOWED = { OUTBOUND_ALLOW: '127.0.0.0/8,::1' };

/** The environment of a service that knows these callers, and calls agents of this machine. */
export function apiKeyEnv(...callers: TestCaller[]): Record<string, string> {
  const keys = callers.map(({ name, key }) => `${name}:${key}`).join(',');
  return { AUTH_MODE: 'api-key', AUTH_API_KEYS: keys, ...LOOPBACK_ALLOWED };
}

/** Callers with the same key in every file, so that files share services that know them. */
const knownCaller = (name: string): TestCaller => callerWith(name, createHash('sha256').update(name).digest('hex'));
export const ANN = knownCaller('ann');
export const EVE = knownCaller('eve');

/** A service that knows these two, and speaks gRPC. */
export const KNOWS_CALLERS = { env: { ...apiKeyEnv(ANN, EVE), GRPC_PORT: '0' } };

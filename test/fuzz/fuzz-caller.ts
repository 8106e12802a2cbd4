import { apiKeyEnv, testCaller } from '../support/callers.js';
import { IdentityProvider } from '../support/identity-provider.js';
import type { AuthMode } from './options.js';

/** Whose requests the cases are: a caller that may do everything. */
export interface FuzzCaller {
  /** The environment of a service that knows it. */
  env: Record<string, string>;
  /** What it sends with every request. */
  headers: Record<string, string>;
  stop(): Promise<void>;
}

/** Longer than any run. */
const TOKEN_SECONDS = 24 * 3600;

export async function beginCaller(auth: AuthMode): Promise<FuzzCaller> {
  if (auth === 'jwt') return tokenCaller();
  const stop = (): Promise<void> => Promise.resolve();
  if (auth === 'none') return { env: { AUTH_MODE: 'none' }, headers: {}, stop };
  const caller = testCaller('fuzzer');
  return { env: apiKeyEnv(caller), headers: caller.headers, stop };
}

async function tokenCaller(): Promise<FuzzCaller> {
  const provider = await IdentityProvider.start();
  const exp = Math.floor(Date.now() / 1000) + TOKEN_SECONDS;
  const claims = { sub: 'fuzzer', org: 'fuzz', scope: 'agents workflows admin', exp };
  return { env: provider.env(), headers: await provider.headers(claims), stop: () => provider.stop() };
}

import { apiKeyEnv, testCaller } from '../support/callers.js';
import { IdentityProvider } from '../support/identity-provider.js';
import type { AuthMode } from './options.js';

/** Caller that sends the cases. It has every permission. */
export interface FuzzCaller {
  /** Environment of a service that knows this caller. */
  env: Record<string, string>;
  /** Headers that authenticate the caller. */
  headers: Record<string, string>;
  stop(): Promise<void>;
}

/** Lifetime of the token in seconds: longer than any run. */
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

import { IdentityProvider } from './identity-provider.js';
import { type Stage, useStage } from './stage.js';
import { Api } from './workflow.js';

/** Service whose callers' tokens name their tenants. */
export interface TenantStage {
  readonly stage: Stage;
  /** Environment of further replicas. */
  readonly env: Record<string, string>;
  /** Returns the API as a caller of a tenant uses it; default: at the stage's service. */
  caller(sub: string, org: string, url?: string): Promise<Api>;
}

/** @param extra additional environment of the service */
export function useTenants(extra: Record<string, string> = {}): TenantStage {
  const env: Record<string, string> = {};
  let provider: IdentityProvider | undefined;
  beforeAll(async () => {
    provider = await IdentityProvider.start();
    Object.assign(env, provider.env(), extra);
  });
  const stage = useStage({ env });
  afterAll(() => provider?.stop());
  const caller = async (sub: string, org: string, url = stage.parley.url): Promise<Api> => {
    const headers = await provider!.headers({ sub, org, scope: 'agents workflows admin' });
    return new Api(url, headers);
  };
  return { stage, env, caller };
}

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { LOOPBACK_ALLOWED } from './callers.js';

const AUDIENCE = 'parley';

/** Identity provider whose tokens name a tenant. */
export interface TokenIssuer {
  /** Environment of a service that trusts this provider. */
  env: Record<string, string>;
  /** Returns the headers that authenticate a caller. */
  headers(owner: string, tenant: string): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startTokenIssuer(): Promise<TokenIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'issuer', alg: 'ES256' }];
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: {
      AUTH_MODE: 'jwt',
      AUTH_JWT_JWKS_URL: `${issuer}/jwks`,
      AUTH_JWT_ISSUER: issuer,
      AUTH_JWT_AUDIENCE: AUDIENCE,
      AUTH_JWT_TENANT_CLAIM: 'tenant',
      ...LOOPBACK_ALLOWED,
    },
    headers: async (owner, tenant) => {
      const token = await new SignJWT({ tenant, scope: 'agents workflows' })
        .setProtectedHeader({ alg: 'ES256', kid: 'issuer' })
        .setSubject(owner)
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setIssuedAt()
        .setExpirationTime('3h')
        .sign(privateKey);
      return { authorization: `Bearer ${token}` };
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

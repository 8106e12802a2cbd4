import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { LOOPBACK_ALLOWED } from './callers.js';

const AUDIENCE = 'parley';

/** Client that gets tokens of a tenant by the client credentials grant, with basic authentication. */
interface TokenClient {
  tokenUrl: string;
  id: string;
  secret: string;
  tenant: string;
}

/** Identity provider whose tokens name a tenant. */
export interface TokenIssuer {
  /** Environment of a service that trusts this provider. */
  env: Record<string, string>;
  client: TokenClient;
  /** Returns the headers that authenticate a caller. */
  headers(owner: string, tenant: string, scope?: string): Promise<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startTokenIssuer(): Promise<TokenIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'issuer', alg: 'ES256' }];
  const secret = randomBytes(16).toString('hex');
  const server = createServer((request, response) => {
    if (request.url !== '/token') return void response.end(JSON.stringify({ keys }));
    void answerClient(request, response, `${client.id}:${secret}`, () => sign(client.id, client.tenant));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { tokenUrl: `${issuer}/token`, id: 'interop', secret, tenant: 'interop' };
  const sign = (owner: string, tenant: string, scope = 'agents workflows'): Promise<string> =>
    new SignJWT({ tenant, scope })
      .setProtectedHeader({ alg: 'ES256', kid: 'issuer' })
      .setSubject(owner)
      .setIssuer(issuer)
      .setAudience(AUDIENCE)
      .setIssuedAt()
      .setExpirationTime('3h')
      .sign(privateKey);
  return {
    client,
    env: {
      AUTH_MODE: 'jwt',
      AUTH_JWT_JWKS_URL: `${issuer}/jwks`,
      AUTH_JWT_ISSUER: issuer,
      AUTH_JWT_AUDIENCE: AUDIENCE,
      AUTH_JWT_TENANT_CLAIM: 'tenant',
      ...LOOPBACK_ALLOWED,
    },
    headers: async (owner, tenant, scope) => ({ authorization: `Bearer ${await sign(owner, tenant, scope)}` }),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers a request for a token. @param credentials id and secret of the client that gets one */
async function answerClient(
  request: IncomingMessage,
  response: ServerResponse,
  credentials: string,
  sign: () => Promise<string>,
): Promise<void> {
  request.resume();
  response.setHeader('content-type', 'application/json');
  const expected = `Basic ${Buffer.from(credentials).toString('base64')}`;
  if (request.headers.authorization !== expected)
    return void response.writeHead(401).end(JSON.stringify({ error: 'invalid_client' }));
  response.end(JSON.stringify({ access_token: await sign(), token_type: 'Bearer', expires_in: 10_800 }));
}

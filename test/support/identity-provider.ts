import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CompactSign,
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  type JWTHeaderParameters,
  type JWTPayload,
  SignJWT,
} from 'jose';
import { LOOPBACK_ALLOWED } from './callers.js';

export const ISSUER = 'https://id.example/';
export const AUDIENCE = 'parley-test';

/** Identity provider that publishes its keys on loopback and signs any claims. */
export class IdentityProvider {
  private constructor(
    private readonly server: Server,
    private readonly privateKey: CryptoKey,
    readonly jwksUrl: string,
  ) {}

  static async start(): Promise<IdentityProvider> {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const keys = [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }];
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return new IdentityProvider(server, privateKey, `http://127.0.0.1:${port}/keys`);
  }

  /** Returns the environment of a service that trusts this provider, and may call agents of this machine. */
  env(): Record<string, string> {
    return {
      AUTH_MODE: 'jwt',
      AUTH_JWT_JWKS_URL: this.jwksUrl,
      AUTH_JWT_ISSUER: ISSUER,
      AUTH_JWT_AUDIENCE: AUDIENCE,
      AUTH_JWT_TENANT_CLAIM: 'org',
      ...LOOPBACK_ALLOWED,
    };
  }

  /**
   * Creates a token that outlives the tests, unless its claims specify otherwise. A claim that is `undefined` is
   * omitted.
   */
  token(claims: JWTPayload, key: CryptoKey | Uint8Array = this.privateKey, alg = 'ES256'): Promise<string> {
    const exp = Math.floor(Date.now() / 1000) + 3 * 3_600;
    const all = { iss: ISSUER, aud: AUDIENCE, exp, ...claims };
    return new SignJWT(all).setProtectedHeader({ alg, kid: 'one' }).sign(key);
  }

  /** Signs a payload verbatim with the provider's key, such as one with duplicate members or no JSON. */
  signed(payload: string, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const all = { alg: 'ES256', kid: 'one', ...header };
    return new CompactSign(Buffer.from(payload)).setProtectedHeader(all).sign(this.privateKey);
  }

  async headers(claims: JWTPayload): Promise<Record<string, string>> {
    return { authorization: `Bearer ${await this.token(claims)}` };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

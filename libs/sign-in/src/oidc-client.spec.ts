import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { OutboundFetch, OutboundHttp } from '#libs/http-client';
import type { AppConfig, OidcConfig } from '#libs/service';
import { OidcClient } from './oidc-client.js';

const issuer = 'https://id.example.com';
const config: OidcConfig = {
  issuer,
  clientId: 'parley',
  scope: 'openid',
  ownerClaim: 'sub',
  rolesClaim: 'roles',
  roles: new Map(),
};
const SECRETS = { state: 's', nonce: 'n', verifier: 'v' };
const METADATA = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };

let calls = 0;
let isAway = false;
let warnings: jest.SpiedFunction<Logger['warn']>;

async function answer(): Promise<Response> {
  calls += 1;
  if (isAway) throw new TypeError('no connection');
  return Response.json(METADATA);
}

function newClient(): OidcClient {
  const http = { trustingFetch: () => answer as unknown as OutboundFetch };
  const service = { auth: { oidc: config }, publicUrl: 'https://parley.example.com' };
  return new OidcClient(service as unknown as AppConfig, http as unknown as OutboundHttp);
}

beforeEach(() => {
  [calls, isAway] = [0, false];
  warnings = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
});
afterEach(() => jest.restoreAllMocks());

describe('OidcClient', () => {
  it('reads the metadata once for many sign-ins, and logs one failure once', async () => {
    isAway = true;
    const client = newClient();
    const failures = await Promise.allSettled(Array.from({ length: 20 }, () => client.beginSignIn(SECRETS)));
    expect(failures.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 'rejected'));
    expect([calls, warnings.mock.calls.length]).toEqual([1, 1]);
    isAway = false;
    await Promise.all(Array.from({ length: 20 }, () => client.beginSignIn(SECRETS)));
    expect(calls).toBe(2);
  });

  it('uses earlier metadata of a provider that is away, and asks it again after a minute', async () => {
    let time = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => time);
    const client = newClient();
    await client.beginSignIn(SECRETS);
    [isAway, time] = [true, 3_600_000];
    for (let count = 1; count <= 3; count += 1) {
      const { origin } = await client.beginSignIn(SECRETS);
      expect(origin).toBe(issuer);
    }
    expect([calls, warnings.mock.calls.length]).toEqual([2, 1]);
    time += 60_000;
    await client.beginSignIn(SECRETS);
    expect(calls).toBe(3);
  });

  it('logs no more than the beginning of a code that a request brings', async () => {
    const query = `?${new URLSearchParams({ state: 's', iss: issuer, error: 'x'.repeat(8_000) }).toString()}`;
    await expect(newClient().completeSignIn(query, SECRETS)).rejects.toThrow('refused');
    expect(JSON.stringify(warnings.mock.calls).length).toBeLessThan(1_000);
  });
});

import { cardSecurity } from '#libs/a2a-client';
import type { JsonObject } from '#libs/protocol';
import type { CredentialSettings } from './credential.js';
import { CredentialMismatch, choosePlacement } from './placement.js';

const apiKey: CredentialSettings = { kind: 'api-key', in: 'header', parameter: 'X-Own' };
const bearer: CredentialSettings = { kind: 'bearer' };
const basic: CredentialSettings = { kind: 'basic', username: 'u' };
const oauth2: CredentialSettings = {
  kind: 'oauth2-client-credentials',
  tokenUrl: 'https://login.test/token',
  clientId: 'c',
  scopes: [],
  clientAuthentication: 'basic',
};

const BEARER = { in: 'authorization', scheme: 'Bearer' };
const SCHEMES: Record<string, JsonObject> = {
  key: { apiKeySecurityScheme: { location: 'header', name: 'X-Card' } },
  bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } },
  basic: { httpAuthSecurityScheme: { scheme: 'BASIC' } },
  oauth: { oauth2SecurityScheme: { flows: { clientCredentials: { tokenUrl: 'https://x.test' } } } },
  code: { oauth2SecurityScheme: { flows: { authorizationCode: {} } } },
  oidc: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://x.test' } },
  mtls: { mtlsSecurityScheme: {} },
  strange: { someSecurityScheme: {} },
};

function asking(...names: string[]) {
  const securityRequirements = names.map((name) => ({ schemes: name === '' ? {} : { [name]: { list: [] } } }));
  return cardSecurity({ securitySchemes: SCHEMES, securityRequirements });
}

it.each<[CredentialSettings, string, object | undefined]>([
  [apiKey, 'key', { in: 'header', parameter: 'X-Card' }],
  [apiKey, 'bearer', undefined],
  [bearer, 'bearer', BEARER],
  [bearer, 'oauth', BEARER],
  [bearer, 'code', BEARER],
  [bearer, 'oidc', BEARER],
  [bearer, 'key', undefined],
  [bearer, 'basic', undefined],
  [basic, 'basic', { in: 'authorization', scheme: 'Basic' }],
  [basic, 'bearer', undefined],
  [oauth2, 'oauth', BEARER],
  [oauth2, 'bearer', BEARER],
  [oauth2, 'oidc', BEARER],
  [oauth2, 'code', undefined],
  [oauth2, 'mtls', undefined],
  [oauth2, 'strange', undefined],
])('%j to an agent that asks for %s', (settings, scheme, expected) => {
  const place = () => choosePlacement(settings, asking(scheme));
  if (expected === undefined) expect(place).toThrow(CredentialMismatch);
  else expect(place()).toEqual(expected);
});

it('takes the first of several that fits', () => {
  expect(choosePlacement(basic, asking('mtls', 'key', 'basic'))).toEqual({ in: 'authorization', scheme: 'Basic' });
  expect(() => choosePlacement(basic, asking('mtls', 'key'))).toThrow(
    'the agent asks for mtls (mutualTLS) or key (apiKey in header X-Card)',
  );
});

it('goes by what is described where nothing is asked for, and by itself where nothing is described', () => {
  expect(choosePlacement(apiKey, asking(''))).toEqual({ in: 'header', parameter: 'X-Card' });
  expect(choosePlacement(apiKey, cardSecurity({}))).toEqual({ in: 'header', parameter: 'X-Own' });
  expect(choosePlacement(apiKey, undefined)).toEqual({ in: 'header', parameter: 'X-Own' });
});

it.each(['Host', 'content-length', 'A2A-Version', 'X Key', 'a\r\nb', '', 'Proxy-Authorization'])(
  'puts no key into the header %j, whatever the card says',
  (name) => {
    const key = { apiKeySecurityScheme: { location: 'header', name } };
    const card = { securitySchemes: { key }, securityRequirements: [{ schemes: { key: { list: [] } } }] };
    expect(() => choosePlacement(apiKey, cardSecurity(card))).toThrow(CredentialMismatch);
  },
);

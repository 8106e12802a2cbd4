import { cardSecurity } from './request-signers.js';

it('reads what A2A 1.0 says, in both cases of ProtoJSON', () => {
  const { schemes, requirements } = cardSecurity({
    securitySchemes: {
      key: { apiKeySecurityScheme: { location: 'cookie', name: 'sid', description: 'x' } },
      http: { http_auth_security_scheme: { scheme: 'Bearer' } },
      oauth: { oauth2SecurityScheme: { flows: { client_credentials: {} } } },
      other: { oauth2SecurityScheme: { flows: {} } },
      oidc: { openIdConnectSecurityScheme: {} },
      mtls: { mtlsSecurityScheme: {} },
    },
    securityRequirements: [{ schemes: { key: { list: [] }, http: { list: ['a'] } } }, { schemes: {} }, {}],
  });
  expect(Object.fromEntries(schemes)).toEqual({
    key: { type: 'apiKey', in: 'cookie', name: 'sid' },
    http: { type: 'http', scheme: 'bearer' },
    oauth: { type: 'oauth2', clientCredentials: true },
    other: { type: 'oauth2', clientCredentials: false },
    oidc: { type: 'openIdConnect' },
    mtls: { type: 'mutualTLS' },
  });
  expect(requirements).toEqual([['key', 'http'], [], []]);
});

it('reads what the server of the JavaScript SDK says', () => {
  const flow = { $case: 'clientCredentials', value: { tokenUrl: 'https://x.test', scopes: {} } };
  const key = { $case: 'apiKeySecurityScheme', value: { location: 'header', name: 'K', description: '' } };
  const { schemes } = cardSecurity({
    securitySchemes: {
      key: { scheme: key },
      oauth: { scheme: { $case: 'oauth2SecurityScheme', value: { flows: { flow } } } },
    },
  });
  expect([...schemes.values()]).toEqual([
    { type: 'apiKey', in: 'header', name: 'K' },
    { type: 'oauth2', clientCredentials: true },
  ]);
});

it('reads what A2A 0.3 says', () => {
  const { schemes, requirements } = cardSecurity({
    securitySchemes: {
      key: { type: 'apiKey', in: 'query', name: 'k' },
      http: { type: 'http', scheme: 'basic' },
      oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: 'https://x.test' } } },
    },
    security: [{ key: [], http: [] }, { oauth: ['read'] }],
  });
  expect([...schemes.values()]).toEqual([
    { type: 'apiKey', in: 'query', name: 'k' },
    { type: 'http', scheme: 'basic' },
    { type: 'oauth2', clientCredentials: true },
  ]);
  expect(requirements).toEqual([['key', 'http'], ['oauth']]);
});

it('reads a hundred of each list, and no long name', () => {
  const many = Array.from({ length: 101 }, (_, nth) => `scheme-${nth}`);
  const key = (name: string) => ({ type: 'apiKey', in: 'header', name });
  const { schemes, requirements } = cardSecurity({
    securitySchemes: {
      ['n'.repeat(257)]: { type: 'mutualTLS' },
      long: key('k'.repeat(257)),
      short: key('k'.repeat(256)),
      ...Object.fromEntries(many.map((name) => [name, { type: 'openIdConnect' }])),
    },
    security: [
      { ['n'.repeat(257)]: [] },
      Object.fromEntries(many.map((name) => [name, []])),
      ...many.map((it) => ({ [it]: [] })),
    ],
  });
  expect([...schemes.keys()]).toEqual(['long', 'short', ...many.slice(0, 98)]);
  expect(schemes.get('long')).toEqual({ type: 'unknown' });
  expect(schemes.get('short')).toMatchObject({ type: 'apiKey' });
  expect(requirements).toHaveLength(100);
  expect(requirements.slice(0, 3)).toEqual([[''], [''], ['scheme-0']]);
});

it.each([
  [null],
  ['text'],
  [{}],
  [{ type: 'magic' }],
  [{ type: 'apiKey', in: 'body', name: 'k' }],
  [{ apiKeySecurityScheme: { location: 'header' } }],
  [{ httpAuthSecurityScheme: null }],
])('reads %j as a scheme that nobody can meet', (scheme) => {
  expect(cardSecurity({ securitySchemes: { it: scheme } }).schemes.get('it')).toEqual({ type: 'unknown' });
});

it('reads a requirement that is none as one that nobody can meet', () => {
  expect(cardSecurity({ securityRequirements: ['key', null] }).requirements).toEqual([[''], ['']]);
  expect(cardSecurity({ security: [], securitySchemes: [] }).requirements).toEqual([]);
});

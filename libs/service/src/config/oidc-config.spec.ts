import { ConfigError, type Environment, loadConfig } from './load-config.js';

const OIDC: Environment = {
  AUTH_MODE: 'api-key',
  PUBLIC_URL: 'https://parley.example.com',
  CONSOLE_OIDC_ISSUER: 'https://id.example.com/realms/one',
  CONSOLE_OIDC_CLIENT_ID: 'parley',
  CONSOLE_OIDC_ROLES: 'ops/admins=agents+workflows+admin, cn=users=agents',
};
const JWT: Environment = {
  AUTH_MODE: 'jwt',
  AUTH_JWT_JWKS_URL: 'https://id.example.com/keys',
  AUTH_JWT_ISSUER: 'https://id.example.com/',
  AUTH_JWT_AUDIENCE: 'parley',
};

function linesFor(env: Environment): readonly string[] {
  try {
    loadConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.lines;
    throw error;
  }
}

describe('CONSOLE_OIDC_ISSUER', () => {
  it('needs little else', () => {
    expect(loadConfig(OIDC).auth).toEqual({
      mode: 'api-key',
      keys: [],
      oidc: {
        issuer: 'https://id.example.com/realms/one',
        clientId: 'parley',
        scope: 'openid profile',
        ownerClaim: 'sub',
        rolesClaim: 'roles',
        roles: new Map([
          ['ops/admins', ['agents', 'workflows', 'admin']],
          ['cn=users', ['agents']],
        ]),
      },
    });
    expect(loadConfig({}).auth.oidc).toBeUndefined();
  });

  it('reads the names of people from the claims of tokens, unless others are set', () => {
    const jwt = { ...OIDC, ...JWT, AUTH_JWT_OWNER_CLAIM: 'email', AUTH_JWT_TENANT_CLAIM: 'org' };
    expect(loadConfig(jwt).auth.oidc).toMatchObject({ ownerClaim: 'email', tenantClaim: 'org' });
    const own = { ...jwt, CONSOLE_OIDC_OWNER_CLAIM: 'sub', CONSOLE_OIDC_TENANT_CLAIM: 'team' };
    expect(loadConfig(own).auth.oidc).toMatchObject({ ownerClaim: 'sub', tenantClaim: 'team' });
  });

  it('names what is missing, each in a line', () => {
    expect(linesFor({ CONSOLE_OIDC_ISSUER: 'https://id.example.com' })).toEqual([
      'CONSOLE_OIDC_CLIENT_ID: is needed with CONSOLE_OIDC_ISSUER',
      'CONSOLE_OIDC_ROLES: is needed with CONSOLE_OIDC_ISSUER',
      'AUTH_MODE: must be api-key or jwt with CONSOLE_OIDC_ISSUER',
      'PUBLIC_URL: is needed with CONSOLE_OIDC_ISSUER, as the base of the redirect URI',
    ]);
    const { CONSOLE_OIDC_ISSUER: _issuer, ...rest } = OIDC;
    expect(linesFor(rest)).toEqual(['CONSOLE_OIDC_ISSUER: is needed with the other CONSOLE_OIDC_ variables']);
  });

  it.each([
    ['CONSOLE_OIDC_ISSUER', 'ftp://secret.example'],
    ['CONSOLE_OIDC_ISSUER', 'https://id.example.com/?secret'],
    ['CONSOLE_OIDC_ISSUER', 'https://secret:secret@id.example.com/'],
    ['CONSOLE_OIDC_SCOPE', 'secret'],
    ['CONSOLE_OIDC_ROLES', 'secret'],
    ['CONSOLE_OIDC_ROLES', 'secret=all'],
    ['CONSOLE_OIDC_ROLES', '=agents'],
    ['CONSOLE_OIDC_ROLES', 'secret=agents,secret=admin'],
    ['CONSOLE_OIDC_ROLES', 'secret=agents,'],
    ['PUBLIC_URL', 'http://secret.example.com'],
  ])('refuses a bad %s, without its value: %s', (key, value) => {
    const lines = linesFor({ ...OIDC, [key]: value });
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^${key}: `))]);
    expect(lines[0]).not.toContain('secret');
  });

  it('may be on this machine, for a service on this machine', () => {
    const local = { ...OIDC, PUBLIC_URL: 'http://localhost:3000', CONSOLE_OIDC_ISSUER: 'http://127.0.0.1:9000' };
    expect(loadConfig(local).auth.oidc?.issuer).toBe('http://127.0.0.1:9000');
  });
});

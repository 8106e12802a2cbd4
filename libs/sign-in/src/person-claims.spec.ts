import { PERMISSIONS } from '#libs/access';
import { loadConfig, type OidcConfig } from '#libs/service';
import { areComplete, callerOfPerson } from './person-claims.js';

const CONFIG: OidcConfig = {
  issuer: 'https://id.example',
  clientId: 'parley',
  scope: 'openid',
  ownerClaim: 'sub',
  rolesClaim: 'realm_access.roles',
  roles: new Map([
    ['admins', ['agents', 'workflows', 'admin']],
    ['users', ['agents']],
  ]),
};
const OF_ALL = { ...CONFIG, roles: new Map([...CONFIG.roles, ['*', ['workflows']]]) };

const scopesOf = (roles: unknown, config = CONFIG): unknown => {
  const caller = callerOfPerson({ sub: 'ann', realm_access: { roles } }, config);
  return typeof caller === 'string' ? caller : [...caller.permissions];
};

describe('callerOfPerson', () => {
  it('can give every scope that there is', () => {
    const { oidc } = loadConfig({
      AUTH_MODE: 'api-key',
      PUBLIC_URL: 'https://parley.example.com',
      CONSOLE_OIDC_ISSUER: CONFIG.issuer,
      CONSOLE_OIDC_CLIENT_ID: CONFIG.clientId,
      CONSOLE_OIDC_ROLES: `all=${PERMISSIONS.join('+')}`,
    }).auth;
    const caller = callerOfPerson({ sub: 'ann', roles: ['all'] }, oidc!);
    expect(caller).toMatchObject({ permissions: new Set(PERMISSIONS) });
  });

  it('gives a person the scopes of all its roles', () => {
    expect(scopesOf(['others', 'users'])).toEqual(['agents']);
    expect(scopesOf(['users', 'admins'])).toEqual(['agents', 'workflows', 'admin']);
    expect(scopesOf('others users')).toEqual(['agents']);
  });

  it('gives every person the scopes of the role *, which no claim can name', () => {
    expect(scopesOf([], OF_ALL)).toEqual(['workflows']);
    expect(scopesOf(undefined, OF_ALL)).toEqual(['workflows']);
    expect(scopesOf(['*', 'users'], OF_ALL)).toEqual(['workflows', 'agents']);
    expect(scopesOf(['*'])).toBe('no-role');
  });

  it.each([[[]], [undefined], [['others']], [7], [{ users: true }], [[['users']]], [['constructor', '__proto__']]])(
    'gives no scope for the roles %j',
    (roles) => expect(scopesOf(roles)).toBe('no-role'),
  );

  it('finds a claim by its whole name first, and by a path else', () => {
    const config = { ...CONFIG, rolesClaim: 'https://example.com/roles' };
    const caller = callerOfPerson({ sub: 'ann', 'https://example.com/roles': ['users'] }, config);
    expect(caller).toMatchObject({ owner: 'ann', tenant: '' });
    expect(callerOfPerson({ sub: 'ann', realm_access: 'roles' }, CONFIG)).toBe('no-role');
  });

  it('needs the owner, and the tenant where a claim names it', () => {
    const roles = { realm_access: { roles: ['users'] } };
    const config = { ...CONFIG, tenantClaim: 'org' };
    expect(callerOfPerson({ sub: '', ...roles }, CONFIG)).toBe('no-name');
    expect(callerOfPerson({ sub: 'ann', ...roles }, config)).toBe('no-name');
    expect(callerOfPerson({ sub: 'ann', org: ['acme'], ...roles }, config)).toBe('no-name');
    expect(callerOfPerson({ sub: 'ann', org: 'acme', ...roles }, config)).toMatchObject({ tenant: 'acme' });
    expect(areComplete({ sub: 'ann', org: 'acme' }, config)).toBe(false);
    expect(areComplete({ sub: 'ann', org: 'acme', ...roles }, config)).toBe(true);
  });
});

import { z } from 'zod';
import { isLoopbackHost, type JwtConfig, type OidcConfig } from './auth-config.js';

type Given = Readonly<Record<string, string | undefined>>;

const PREFIX = 'CONSOLE_OIDC_';
/** Scopes of callers, as libs/access defines them (`PERMISSIONS`). */
const SCOPES = ['agents', 'workflows', 'prompts', 'admin'];
const MAX_ROLES = 100;
const NEEDED = 'is needed with CONSOLE_OIDC_ISSUER';
const ROLES_FORM =
  'must be a comma-separated list of role=scope+scope; scopes are agents, workflows, prompts and admin';

const OIDC_VARIABLES = z.object({
  CONSOLE_OIDC_ISSUER: z
    .string('is needed with the other CONSOLE_OIDC_ variables')
    .refine(isIssuer, 'must be an http:// or https:// URL without query, fragment or credentials'),
  CONSOLE_OIDC_CLIENT_ID: z.string(NEEDED),
  CONSOLE_OIDC_CLIENT_SECRET: z.string().optional(),
  CONSOLE_OIDC_SCOPE: z
    .string()
    .refine((text) => text.split(' ').includes('openid'), 'must be scopes separated by spaces, among them openid')
    .default('openid profile'),
  CONSOLE_OIDC_OWNER_CLAIM: z.string().optional(),
  CONSOLE_OIDC_TENANT_CLAIM: z.string().optional(),
  CONSOLE_OIDC_ROLES_CLAIM: z.string().default('roles'),
  CONSOLE_OIDC_ROLES: z
    .string(NEEDED)
    .transform((text) => readRoles(text))
    .refine((roles) => roles !== undefined, ROLES_FORM),
});

/**
 * Reads the CONSOLE_OIDC_ variables.
 * @param jwt settings of AUTH_MODE=jwt, whose claims of owner and tenant are the defaults
 * @returns the configuration, or one line per bad variable that never contains its value; nothing if none is set
 */
export function readOidc(env: Given, jwt: JwtConfig | undefined): { oidc?: OidcConfig; problems: string[] } {
  if (!Object.keys(env).some((name) => name.startsWith(PREFIX))) return { problems: [] };
  const parsed = OIDC_VARIABLES.safeParse(env);
  const problems = parsed.success
    ? []
    : [...new Map(parsed.error.issues.map((it) => [String(it.path[0]), it.message]))].map((it) => it.join(': '));
  problems.push(...surroundingProblems(env));
  if (!parsed.success || problems.length > 0) return { problems };
  const { data } = parsed;
  const tenantClaim = data.CONSOLE_OIDC_TENANT_CLAIM ?? jwt?.tenantClaim;
  const oidc: OidcConfig = {
    issuer: data.CONSOLE_OIDC_ISSUER,
    clientId: data.CONSOLE_OIDC_CLIENT_ID,
    ...(data.CONSOLE_OIDC_CLIENT_SECRET !== undefined && { clientSecret: data.CONSOLE_OIDC_CLIENT_SECRET }),
    scope: data.CONSOLE_OIDC_SCOPE,
    ownerClaim: data.CONSOLE_OIDC_OWNER_CLAIM ?? jwt?.ownerClaim ?? 'sub',
    ...(tenantClaim !== undefined && { tenantClaim }),
    rolesClaim: data.CONSOLE_OIDC_ROLES_CLAIM,
    roles: data.CONSOLE_OIDC_ROLES ?? new Map(),
  };
  return { oidc, problems: [] };
}

/** Returns the problems of AUTH_MODE and PUBLIC_URL, on which a sign-in at a provider depends. */
function surroundingProblems(env: Given): string[] {
  const problems: string[] = [];
  if (!['api-key', 'jwt'].includes(env['AUTH_MODE'] ?? ''))
    problems.push('AUTH_MODE: must be api-key or jwt with CONSOLE_OIDC_ISSUER');
  const url = URL.parse(env['PUBLIC_URL'] ?? '');
  if (env['PUBLIC_URL'] === undefined) problems.push(`PUBLIC_URL: ${NEEDED}, as the base of the redirect URI`);
  else if (url?.protocol === 'http:' && !isLoopbackHost(url.hostname))
    problems.push('PUBLIC_URL: must be https:// with CONSOLE_OIDC_ISSUER, unless its host is a loopback one');
  return problems;
}

/** Parses `role=scope+scope,role=scope`; returns `undefined` for other text. A role may contain `=`. */
function readRoles(text: string): ReadonlyMap<string, readonly string[]> | undefined {
  const entries = text.split(',').map((entry) => entry.trim());
  const roles = new Map<string, string[]>();
  for (const entry of entries) {
    const [, role = '', list = ''] = /^(.+)=([a-z+]+)$/.exec(entry) ?? [];
    const scopes = list.split('+');
    if (role === '' || roles.has(role) || !scopes.every((scope) => SCOPES.includes(scope))) return undefined;
    roles.set(role, scopes);
  }
  return roles.size > MAX_ROLES ? undefined : roles;
}

function isIssuer(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return url.search === '' && url.hash === '' && url.username === '' && url.password === '';
}

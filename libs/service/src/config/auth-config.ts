import { isIP } from 'node:net';
import { z } from 'zod';
import { parseDuration } from './quantities.js';

/** True if a host is this machine: `localhost`, 127.0.0.0/8 or ::1, with or without brackets. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (isIP(bare) === 4) return bare.startsWith('127.');
  return bare === 'localhost' || bare.endsWith('.localhost') || bare === '::1';
}

export type AuthMode = 'none' | 'api-key' | 'jwt';

/** API key that the environment defines. */
export interface SeededKey {
  /** Name of the caller that the key identifies. */
  readonly name: string;
  readonly key: string;
}

/** Rules for verifying and reading bearer tokens of an identity provider. */
export interface JwtConfig {
  /** URL of the provider's JWK Set. */
  readonly jwksUrl: string;
  readonly issuer: string;
  /** Accepted audiences; a token must name one of them. */
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  readonly clockToleranceMs: number;
  readonly ownerClaim: string;
  /** Claim that names the tenant. Absent: every caller belongs to the tenant ''. */
  readonly tenantClaim?: string;
  readonly scopeClaim: string;
}

/** OpenID Connect provider by which people sign in to the console, and the meaning of its claims. */
export interface OidcConfig {
  /** Issuer identifier of the provider. */
  readonly issuer: string;
  readonly clientId: string;
  /** Secret of the client; absent for a public client, which PKCE alone protects. */
  readonly clientSecret?: string;
  /** Scopes to request, separated by spaces. */
  readonly scope: string;
  readonly ownerClaim: string;
  /** Claim that names the tenant. Absent: every person belongs to the tenant ''. */
  readonly tenantClaim?: string;
  readonly rolesClaim: string;
  /** Scopes of this service by role of the provider. The scopes under the role `*` are given to every person. */
  readonly roles: ReadonlyMap<string, readonly string[]>;
}

/** Authentication mode and its settings. */
export interface AuthConfig {
  readonly mode: AuthMode;
  /** API keys that the environment defines; empty unless the mode is `api-key`. */
  readonly keys: readonly SeededKey[];
  /** Rules for bearer tokens; set if the mode is `jwt`. */
  readonly jwt?: JwtConfig;
  /**
   * Provider by which people sign in to the console, in addition to API keys or bearer tokens. Absent: no such sign-in.
   */
  readonly oidc?: OidcConfig;
}

type Given = Readonly<Record<string, string | undefined>>;

/**
 * Minimum characters of an API key. It must resist guessing by its length alone, since the stored digest of the key is
 * unsalted and fast.
 */
const MIN_KEY_LENGTH = 16;
const MAX_KEY_LENGTH = 512;
const MAX_TOLERANCE_MS = 300_000;

/** Signature algorithms that bearer tokens may use: all are asymmetric; never `none`, never a shared secret. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/**
 * Reads the AUTH_ variables. Serving other machines without authentication requires an explicit setting.
 * @returns the configuration, or one line per bad variable that never contains its value
 */
export function readAuth(env: Given): { config?: AuthConfig; problems: string[] } {
  const mode = env['AUTH_MODE'];
  if (mode === 'api-key') return apiKeyAuth(env);
  if (mode === 'jwt') return jwtAuth(env);
  const problem = anonymousProblem(env);
  return problem ? { problems: [problem] } : { config: { mode: 'none', keys: [] }, problems: [] };
}

function anonymousProblem(env: Given): string | undefined {
  const mode = env['AUTH_MODE'];
  const open = !isLoopbackHost(env['HOST'] ?? '127.0.0.1');
  if (mode !== undefined && mode !== 'none') return 'AUTH_MODE: must be none, api-key or jwt';
  if (mode === undefined && open) return 'AUTH_MODE: must be set when HOST is not a loopback address';
  if (open && env['AUTH_ALLOW_ANONYMOUS'] !== 'true') {
    return 'AUTH_MODE: none on a HOST that is not loopback also needs AUTH_ALLOW_ANONYMOUS=true';
  }
  return undefined;
}

function apiKeyAuth(env: Given): { config?: AuthConfig; problems: string[] } {
  const keys: SeededKey[] = [];
  for (const entry of splitList(env['AUTH_API_KEYS'])) {
    const colon = entry.indexOf(':');
    const [name, key] = [entry.slice(0, Math.max(colon, 0)), entry.slice(colon + 1)];
    const problem = seedProblem(name, key);
    if (problem) return { problems: [`AUTH_API_KEYS: ${problem}`] };
    keys.push({ name, key });
  }
  if (new Set(keys.map((it) => it.key)).size < keys.length) {
    return { problems: ['AUTH_API_KEYS: has the same key twice'] };
  }
  return { config: { mode: 'api-key', keys }, problems: [] };
}

/** Form of the name of a caller. A caller owns what it creates under this name. */
export const CALLER_NAME = /^[\w.@+-]{1,128}$/;

function seedProblem(name: string, key: string): string | undefined {
  if (!CALLER_NAME.test(name)) {
    return 'must be a comma-separated list of name:key; a name has letters, digits and ._@+-';
  }
  if (key.length < MIN_KEY_LENGTH) return `each key must have at least ${MIN_KEY_LENGTH} characters`;
  if (key.length > MAX_KEY_LENGTH) return `each key must have at most ${MAX_KEY_LENGTH} characters`;
  // RFC 6750, section 2.1: characters that a Bearer header can carry.
  return /^[\w.~+/-]+=*$/.test(key) ? undefined : 'a key may have letters, digits, -._~+/ and = at its end';
}

const JWT_VARIABLES = z.object({
  AUTH_JWT_JWKS_URL: z
    .string('is needed with AUTH_MODE=jwt')
    .refine(isHttpUrl, 'must be an http:// or https:// URL without credentials'),
  AUTH_JWT_ISSUER: z.string('is needed with AUTH_MODE=jwt'),
  AUTH_JWT_AUDIENCE: z
    .string('is needed with AUTH_MODE=jwt')
    .transform(splitList)
    .refine((audience) => audience.length > 0, 'must name at least one audience'),
  AUTH_JWT_ALGORITHMS: z
    .string()
    .transform(splitList)
    .refine(
      (names) => names.length > 0 && names.every((it) => ALGORITHMS.includes(it)),
      `must be some of ${ALGORITHMS.join(', ')}`,
    )
    .default(ALGORITHMS),
  AUTH_JWT_CLOCK_TOLERANCE: z
    .string()
    .transform((text) => parseDuration(text) ?? -1)
    .refine((ms) => ms >= 0 && ms <= MAX_TOLERANCE_MS, 'must be a number of seconds such as 30 or 30s, at most 300')
    .default(30_000),
  AUTH_JWT_OWNER_CLAIM: z.string().default('sub'),
  AUTH_JWT_TENANT_CLAIM: z.string().optional(),
  AUTH_JWT_SCOPE_CLAIM: z.string().default('scope'),
});

function jwtAuth(env: Given): { config?: AuthConfig; problems: string[] } {
  const parsed = JWT_VARIABLES.safeParse(env);
  if (!parsed.success) {
    const lines = new Map(parsed.error.issues.map((it) => [String(it.path[0]), it.message]));
    return { problems: [...lines].map(([key, message]) => `${key}: ${message}`) };
  }
  const { data } = parsed;
  const jwt: JwtConfig = {
    jwksUrl: data.AUTH_JWT_JWKS_URL,
    issuer: data.AUTH_JWT_ISSUER,
    audience: data.AUTH_JWT_AUDIENCE,
    algorithms: data.AUTH_JWT_ALGORITHMS,
    clockToleranceMs: data.AUTH_JWT_CLOCK_TOLERANCE,
    ownerClaim: data.AUTH_JWT_OWNER_CLAIM,
    tenantClaim: data.AUTH_JWT_TENANT_CLAIM,
    scopeClaim: data.AUTH_JWT_SCOPE_CLAIM,
  };
  return { config: { mode: 'jwt', keys: [], jwt }, problems: [] };
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '';
}

function splitList(text = ''): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Limits of one caller at one replica; an absent limit does not apply. */
export interface LimitsConfig {
  /** Rate limit: at most `requests` in `perMs` milliseconds; all of them may arrive at once. */
  readonly rate?: { readonly requests: number; readonly perMs: number };
  /** Maximum number of concurrent requests; absent: no limit. */
  readonly concurrency?: number;
  /** Maximum number of open streams; absent: no limit. */
  readonly streams?: number;
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
/**
 * Default limit of concurrent requests of one caller: far above what one client needs, and below what overloads a
 * replica.
 */
const DEFAULT_CONCURRENCY = 1_000;
/** Default limit of open streams of one caller, far above what one client needs, and below what overloads a replica. */
const DEFAULT_STREAMS = 1_000;
const MOST = 1_000_000_000;
/** Minimum value of SUBSCRIPTION_LIMIT: one page of the console opens a few subscriptions. */
const LEAST_SUBSCRIPTIONS = 8;
/** Maximum value of SUBSCRIPTION_LIMIT: each subscription may hold a page of the log in memory. */
const MOST_SUBSCRIPTIONS = 1_000;

const rate = z
  .string()
  .refine((text) => text === 'off' || readRate(text) !== undefined, 'must be a rate such as 100/s, 6000/m, or off')
  .transform(readRate);

const count = z
  .string()
  .refine((text) => text === 'off' || readCount(text) !== undefined, 'must be a number from 1 on, or off')
  .transform((text) => readCount(text) ?? ('off' as const));

/** Environment variables of `LimitsConfig`. */
export const LIMIT_VARIABLES = {
  RATE_LIMIT: rate.optional(),
  CONCURRENCY_LIMIT: count.optional(),
  STREAM_LIMIT: count.optional(),
  SUBSCRIPTION_LIMIT: z
    .string()
    .refine(
      (text) => isSubscriptionLimit(Number(text)),
      `must be a number from ${LEAST_SUBSCRIPTIONS} to ${MOST_SUBSCRIPTIONS}`,
    )
    .transform(Number)
    .default(32),
};

interface CallerLimitValues {
  RATE_LIMIT?: LimitsConfig['rate'];
  CONCURRENCY_LIMIT?: number | 'off';
  STREAM_LIMIT?: number | 'off';
}

/**
 * Returns the limits of callers. Defaults of concurrency and streams apply only if callers authenticate: anonymous
 * callers are distinguished by their address alone, which many callers may share behind a proxy. RATE_LIMIT has no
 * default.
 */
export function limitsOf(values: CallerLimitValues, mode: AuthMode): LimitsConfig {
  const limitOrDefault = (value: number | 'off' | undefined, standard: number): number | undefined =>
    value === 'off' ? undefined : (value ?? (mode === 'none' ? undefined : standard));
  return {
    rate: values.RATE_LIMIT,
    concurrency: limitOrDefault(values.CONCURRENCY_LIMIT, DEFAULT_CONCURRENCY),
    streams: limitOrDefault(values.STREAM_LIMIT, DEFAULT_STREAMS),
  };
}

function readRate(text: string): LimitsConfig['rate'] {
  const match = /^(\d{1,9})(?:\/([smh]))?$/.exec(text);
  const requests = Number(match?.[1] ?? 0);
  return requests > 0 ? { requests, perMs: UNITS[match?.[2] ?? 's']! } : undefined;
}

function isSubscriptionLimit(number: number): boolean {
  return Number.isInteger(number) && number >= LEAST_SUBSCRIPTIONS && number <= MOST_SUBSCRIPTIONS;
}

function readCount(text: string): number | undefined {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  return number >= 1 && number <= MOST ? number : undefined;
}

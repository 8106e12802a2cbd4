import { z } from 'zod';

const databaseUrl = z
  .string()
  .refine((text) => ['postgres:', 'postgresql:'].includes(protocolOf(text)), 'must be a postgres:// URL')
  .refine((text) => [undefined, 'scram-sha-256'].includes(requiredAuth(text)), 'can require_auth=scram-sha-256 only');

/**
 * Environment variables of the database: its URL, the URL of a pooler for plain queries, and the code that permits
 * serving a copied database.
 */
export const DATABASE_VARIABLES = {
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_POOL_URL: databaseUrl.optional(),
  ADOPT_DATABASE: z
    .string()
    .regex(/^[0-9a-f]{12}$/, 'must be the value that the refused start names')
    .optional(),
};

/** Returns one line per problem that the database variables have in combination; an empty list if there is none. */
export function databaseProblems(env: Readonly<Record<string, string | undefined>>): string[] {
  if (env['DATABASE_POOL_URL'] === undefined || env['DATABASE_URL'] !== undefined) return [];
  return ['DATABASE_POOL_URL: needs DATABASE_URL, a direct or session-pooled connection to the same database'];
}

/**
 * Returns libpq's connection parameter `require_auth` of a database URL; `undefined` without it. The only supported
 * value is `scram-sha-256`.
 */
export function requiredAuth(url: string): string | undefined {
  return /[?&]require_auth=([^&#]*)/.exec(url)?.[1];
}

/** Returns the protocol of a URL, such as `https:`; `''` for any other text. */
export function protocolOf(text: string): string {
  return URL.canParse(text) ? new URL(text).protocol : '';
}

/**
 * Environment variable with the NATS servers that carry signals between replicas. Unset: the database carries the
 * signals.
 */
export const SIGNALS_VARIABLES = {
  SIGNALS_URL: z
    .string()
    .refine((text) => text.split(',').every((entry) => isNatsUrl(entry.trim())), {
      message:
        'must be a nats:// or tls:// URL such as nats://user:password@host:4222; several are separated by commas',
      abort: true,
    })
    .refine(nameOneCaller, 'must have the same user and password, or token, in each of its URLs')
    .optional(),
};

function isNatsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const plain = url.search === '' && url.hash === '' && ['', '/'].includes(url.pathname);
  return ['nats:', 'tls:'].includes(url.protocol) && url.hostname !== '' && plain && isEncoded(url);
}

function isEncoded({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}

function nameOneCaller(text: string): boolean {
  const callers = text.split(',').map((entry) => {
    const { username, password } = new URL(entry.trim());
    return `${username}:${password}`;
  });
  return new Set(callers).size === 1;
}

/**
 * Form of one entry of ALLOWED_HOSTS.
 * - A name or an address, with one port or for all ports; IPv6 addresses are in brackets.
 * - `*.example.com` matches every subdomain.
 * - `*` matches all hosts.
 */
const ENTRY = /^(\*|(\*\.)?[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?(:\d{1,5})?|\[[0-9a-f:.]{2,45}\](:\d{1,5})?)$/i;

const allowedHosts = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((entry) => entry.trim().toLowerCase())
      .filter((entry) => entry !== ''),
  )
  .refine(
    (entries) => entries.every((entry) => ENTRY.test(entry)),
    'must be a comma-separated list of hosts such as parley.example.com, parley.internal:3000, *.example.com, or *',
  );

/** Environment variable with additional hosts whose requests are served. */
export const HOST_VARIABLES = { ALLOWED_HOSTS: allowedHosts.default([]) };

import { malformed, type ProblemEntry } from '#libs/http';
import { z } from 'zod';
import { originOf } from './bound-origins.js';
import { CREDENTIAL_KINDS, CREDENTIAL_NAME, type CredentialSettings } from './credential.js';
import { isToken, mayCarrySecret } from './header-names.js';

/** What a body says: the settings, and the secret apart. */
export interface GivenCredential {
  name: string;
  settings: CredentialSettings;
  secret: string;
}

const MAX_SECRET = 8_192;
const MAX_TEXT = 512;
const MAX_HOSTS = 20;
const MAX_SCOPES = 50;
/** `scope-token` of RFC 6749, section 3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
/** What may stand in a header, without spaces. */
const VISIBLE = /^[\x21-\x7e]+$/;
/** Anything but control characters; a user name without the colon that ends it (RFC 7617, section 2). */
const TEXT = /^\P{Cc}+$/u;

const headerSecret = z
  .string()
  .max(MAX_SECRET, `must have at most ${MAX_SECRET} characters`)
  .regex(VISIBLE, 'must be visible ASCII characters without spaces');
const textSecret = z
  .string()
  .max(MAX_SECRET, `must have at most ${MAX_SECRET} characters`)
  .regex(TEXT, 'must not be empty or have control characters');
const text = z
  .string()
  .max(MAX_TEXT, `must have at most ${MAX_TEXT} characters`)
  .regex(TEXT, 'must not be empty or have control characters');

const host = z.string().transform((entry, context) => {
  const origin = originOf(entry);
  if (origin !== undefined) return origin;
  context.addIssue({
    code: 'custom',
    message: 'must be a host such as api.example.com, with a port if need be, or an origin',
  });
  return z.NEVER;
});

const tokenUrl = z
  .string()
  .max(2048, 'must have at most 2048 characters')
  .refine(isPlainHttpUrl, 'must be an http or https URL without credentials or fragment');

const shared = {
  name: z
    .string()
    .regex(CREDENTIAL_NAME, 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen'),
  hosts: z
    .array(host)
    .min(1, 'must have an entry; leave it out for the origin of the agent')
    .max(MAX_HOSTS, `must have at most ${MAX_HOSTS} entries`)
    .transform((origins) => [...new Set(origins)])
    .optional(),
};

const apiKey = z
  .strictObject({
    ...shared,
    kind: z.literal('api-key'),
    in: z.enum(['header', 'query', 'cookie'], 'must be header, query or cookie').default('header'),
    parameter: z.string().max(128, 'must have at most 128 characters').default('X-API-Key'),
    value: headerSecret,
  })
  .check(({ value, issues }) => {
    const { in: place, parameter } = value;
    const possible =
      place === 'header'
        ? mayCarrySecret(parameter)
        : place === 'cookie'
          ? isToken(parameter)
          : VISIBLE.test(parameter);
    if (possible) return;
    issues.push({
      code: 'custom',
      path: ['parameter'],
      input: undefined,
      message: `is no name of a ${place} that may carry a key`,
    });
  });

const bearer = z.strictObject({ ...shared, kind: z.literal('bearer'), token: headerSecret });

const basic = z.strictObject({
  ...shared,
  kind: z.literal('basic'),
  username: text.regex(/^[^:]*$/, 'must not have a colon'),
  password: textSecret,
});

const oauth2 = z.strictObject({
  ...shared,
  kind: z.literal('oauth2-client-credentials'),
  tokenUrl,
  clientId: text,
  clientSecret: textSecret,
  scopes: z
    .array(z.string().regex(SCOPE, 'must be a scope'))
    .max(MAX_SCOPES, `must have at most ${MAX_SCOPES} entries`)
    .default([]),
  audience: text.optional(),
  clientAuthentication: z.enum(['basic', 'body'], 'must be basic or body').default('basic'),
});

const CREDENTIAL = z.discriminatedUnion('kind', [apiKey, bearer, basic, oauth2], {
  error: `must be one of ${CREDENTIAL_KINDS.join(', ')}`,
});

/**
 * Reads a body.
 * @param permits whether the outbound door lets calls to a URL through, as far as that can be told without a look-up
 * @throws ProblemError 400 naming each field at fault, without its value
 */
export function readCredentialBody(body: unknown, permits: (url: URL) => boolean): GivenCredential {
  const parsed = CREDENTIAL.safeParse(body);
  if (!parsed.success) throw malformed(...parsed.error.issues.flatMap((issue) => entriesOf(issue, body)));
  const given = parsed.data;
  if (given.kind === 'oauth2-client-credentials' && !permits(new URL(given.tokenUrl)))
    throw malformed({ path: 'tokenUrl', detail: 'must not be an address that this service does not call' });
  return apart(given);
}

function apart(given: z.output<typeof CREDENTIAL>): GivenCredential {
  switch (given.kind) {
    case 'api-key': {
      const { name, value: secret, ...settings } = given;
      return { name, settings, secret };
    }
    case 'bearer': {
      const { name, token: secret, ...settings } = given;
      return { name, settings, secret };
    }
    case 'basic': {
      const { name, password: secret, ...settings } = given;
      return { name, settings, secret };
    }
    default: {
      const { name, clientSecret: secret, ...settings } = given;
      return { name, settings, secret };
    }
  }
}

function entriesOf(issue: z.core.$ZodIssue, body: unknown): ProblemEntry[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: key.slice(0, 64), detail: 'is not a field of this kind' }));
  const path = issue.path
    .map((it) => (typeof it === 'number' ? `[${it}]` : `.${String(it)}`))
    .join('')
    .replace(/^\./, '');
  if (path === '') return [{ path, detail: 'the body must be a JSON object' }];
  if (issue.code !== 'invalid_type') return [{ path, detail: issue.message }];
  return [{ path, detail: valueAt(body, issue.path) === undefined ? 'is required' : `must be ${an(issue.expected)}` }];
}

function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], body);
}

function an(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function isPlainHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${hash}` === '';
}

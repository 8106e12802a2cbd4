import type { Repository } from 'typeorm';
import { OutboundConnectError } from '#libs/http-client';
import { type Database, type SecretBox, UnreadableSecret } from '#libs/postgres';
import { CredentialStore, type CredentialUse } from './credential-store.js';
import type { CredentialRow } from './credential-table.js';
import type { OAuthTokens } from './oauth-tokens.js';
import { StoredRequestSigners } from './stored-request-signers.js';

const ORIGIN = 'https://model.test';

/** Settings of the credentials of the tenant `t`. */
const SETTINGS: Record<string, object> = {
  fits: { kind: 'bearer', hosts: ['https://else.test', ORIGIN] },
  sealed: { kind: 'bearer', hosts: [ORIGIN] },
  elsewhere: { kind: 'bearer', hosts: ['https://else.test'] },
  bare: { kind: 'bearer' },
  oauth: { kind: 'oauth2-client-credentials', hosts: [ORIGIN] },
};

/** Names of the credentials whose secrets were decrypted, in order. */
const opened: string[] = [];

const pool = {
  query: async ({ values: [tenants, names] }: { values: [string[], string[]] }) => ({
    rows: names.flatMap((name, at) =>
      tenants[at] === 't' && SETTINGS[name]
        ? [{ tenant: 't', name, settings: SETTINGS[name], version: '1', secret: name }]
        : [],
    ),
  }),
};

const box = {
  open: (secret: string): string => {
    opened.push(secret);
    if (secret === 'sealed') throw new UnreadableSecret('no key');
    return 'secret';
  },
};

const store = new CredentialStore(
  { pool } as unknown as Database,
  {} as Repository<CredentialRow>,
  box as unknown as SecretBox,
);
/** Source of tokens whose token endpoint is unreachable. */
const away = {
  getToken: async () => {
    throw new OutboundConnectError('no connection');
  },
};
const use = { noteUsed: () => undefined, noteFailed: () => undefined };
const signers = new StoredRequestSigners(store, away as unknown as OAuthTokens, use as unknown as CredentialUse);

describe('StoredRequestSigners.reaches', () => {
  it.each([
    ['one of its hosts is asked for', 'fits', true, ['fits']],
    ['no key opens it', 'sealed', false, ['sealed']],
    ['it is for other hosts', 'elsewhere', false, []],
    ['it names no hosts', 'bare', false, []],
    ['there is none of the name', 'missing', false, []],
    ['the name is that of an environment variable', 'PATH', false, []],
    ['the name can be none', 'a b', false, []],
  ] as const)('opens no secret that does not go there: where %s', async (_where, credential, reaches, secrets) => {
    opened.length = 0;
    expect(await signers.reachesOrigins({ credential, tenant: 't' }, [ORIGIN])).toBe(reaches);
    expect(opened).toEqual(secrets);
  });

  it('finds no credential of another tenant', async () => {
    expect(await signers.reachesOrigins({ credential: 'fits', tenant: 'u' }, [ORIGIN])).toBe(false);
  });
});

describe('StoredRequestSigners.auth', () => {
  it.each([
    ['missing', 'credential', 'there is no credential "missing"'],
    ['elsewhere', 'credential', 'credential "elsewhere": it is not meant for https://model.test'],
    ['oauth', 'connect', 'credential "oauth": no connection to the token endpoint'],
  ])('marks the failure of "%s" as one whose message names a credential', async (credential, kind, message) => {
    const { signal } = new AbortController();
    const wanted = { credential, tenant: 't', agentUrl: ORIGIN, endpoint: new URL(ORIGIN), signal };
    const failed = signers.createProof(wanted);
    await expect(failed).rejects.toMatchObject({ kind, message, ofCredential: true });
  });
});

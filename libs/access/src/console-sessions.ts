import { Injectable } from '@nestjs/common';
import { hkdfSync, randomBytes } from 'node:crypto';
import { ProblemError } from '#libs/http-server';
import { BatchLoader, Database, inTransaction, SecretBox } from '#libs/postgres';
import { AppConfig, type OidcConfig } from '#libs/service';
import { CredentialCache, digestOf } from './api-keys.js';
import { type Caller, isPermission } from './caller.js';

const TOKEN_BYTES = 32;
const TOKEN_FORM = /^[\w-]{43}$/;
/** Hours that a session is valid. */
const SESSION_HOURS = 12;
/** Maximum number of sessions of one caller; a further session ends the caller's oldest session. */
const MAX_OF_CALLER = 20;
/** Maximum number of sessions in the database; a further session is refused. */
const MAX_SESSIONS = 10_000;
/** Maximum number of sessions of one tenant, so that no tenant uses up MAX_SESSIONS. */
const MAX_OF_TENANT = 1_000;
/** Key of the advisory lock under which sessions are counted and created. */
const CREATION_LOCK = 0x70_73_65_73;

/**
 * Returns the `method` of sessions that began with a sign-in at a provider; the other methods are `api-key` and `jwt`.
 * A session is valid only while the service accepts its method.
 */
export function oidcMethod({ issuer, clientId }: OidcConfig): string {
  return `oidc ${clientId} ${issuer}`;
}

/** Session of the console that was just created. */
export interface CreatedSession {
  /** Secret text of the session's cookie, which is stored nowhere else. */
  token: string;
  endsAt: Date;
}

/**
 * Sessions of the console in PostgreSQL, which every replica accepts.
 * - Only the digest of a session's token is stored.
 * - A session ends after SESSION_HOURS, and with the key or token by which the person signed in.
 * - A scope that a file takes from the key is also taken from the key's sessions, within the same two seconds.
 * - An ended session is accepted for at most two seconds (CredentialCache), at any replica.
 */
@Injectable()
export class ConsoleSessions {
  private readonly active = new BatchLoader((digests: readonly string[]) => this.readActive(digests));
  private readonly cache = new CredentialCache((digest) => this.active.get(digest));
  /** Accepted methods of sign-in: the value of AUTH_MODE, and `oidcMethod` of the provider. */
  private readonly methods: readonly string[];
  /**
   * Settles when the last requested creation of a session has ended. Creations of this replica run one after the other,
   * so that at most one of them occupies a database session.
   */
  private creation: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Database,
    { auth }: AppConfig,
  ) {
    const provider = auth.oidc ? [oidcMethod(auth.oidc)] : [];
    this.methods = auth.mode === 'none' ? [] : [auth.mode, ...provider];
  }

  /** Finds the caller of a session; `undefined` for an invalid token. */
  findCaller(token: string): Caller | undefined | Promise<Caller | undefined> {
    if (this.methods.length === 0 || !TOKEN_FORM.test(token)) return undefined;
    const found = this.cache.lookUp(digestOf(token));
    return found instanceof Promise ? found.then(unlessEnded) : unlessEnded(found);
  }

  /** True if the session with a digest has not ended. */
  async isSessionValid(digest: string): Promise<boolean> {
    return unlessEnded(await this.cache.lookUp(digest)) !== undefined;
  }

  /**
   * Creates a session of a caller.
   * @param caller person who signed in; the session ends with the person's key or token, if any
   * @param method `api-key`, `jwt`, or a value of `oidcMethod`
   * @param idToken ID token of the provider, which the sign-out needs to end the provider's own session
   * @throws ProblemError (503) if there are MAX_SESSIONS sessions, or MAX_OF_TENANT of the caller's tenant
   */
  async createSession(caller: Caller, method: string, idToken?: string): Promise<CreatedSession> {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const { tenant, owner, permissions, proof } = caller;
    const tokenEndsAt = proof?.endsAt === undefined ? null : new Date(proof.endsAt);
    const sealed = idToken === undefined ? null : boxOf(token).seal(idToken, PLACE);
    const values = [digestOf(token), tenant, owner, [...permissions], method, proof?.key ?? null, tokenEndsAt, sealed];
    const creation = this.creation.then(() => this.insertSession(tenant, owner, values));
    this.creation = creation.catch(() => undefined);
    const row = await creation;
    if (!row) throw new ProblemError(503, 'There are too many sessions of the console; try again later');
    return { token, endsAt: row.ends_at };
  }

  /** Ends the session with a token. @returns the ID token of the provider, if the person signed in there */
  async endSession(token: string): Promise<string | undefined> {
    const digest = digestOf(token);
    const { rows } = await this.database.pool.query<{ id_token: string | null }>(
      'DELETE FROM console_session WHERE digest = $1 RETURNING id_token',
      [digest],
    );
    this.cache.forgetCredential(digest);
    const sealed = rows[0]?.id_token ?? undefined;
    return sealed === undefined ? undefined : boxOf(token).open(sealed, PLACE);
  }

  /** Deletes all sessions that have ended. @returns their number */
  async deleteEnded(): Promise<number> {
    return (await this.database.pool.query(DELETE_ENDED)).rowCount ?? 0;
  }

  /** Stores a session, and returns its row; `undefined` if there are too many sessions. */
  private insertSession(tenant: string, owner: string, values: unknown[]): Promise<{ ends_at: Date } | undefined> {
    return inTransaction(this.database, async (client) => {
      await client.query('SELECT pg_advisory_xact_lock($1)', [CREATION_LOCK]);
      await client.query(DELETE_ENDED);
      await client.query(DELETE_OLDEST, [tenant, owner]);
      const { rows } = await client.query<{ ends_at: Date }>(INSERT, values);
      return rows[0];
    });
  }

  private async readActive(digests: readonly string[]): Promise<Map<string, Caller>> {
    const { rows } = await this.database.pool.query<SessionRow>({
      name: 'console-sessions-active',
      text: READ_ACTIVE,
      values: [digests, this.methods],
    });
    return new Map(rows.map((row) => [row.digest, callerOfRow(row)]));
  }
}

const PLACE = ['console_session', 'id_token'];

/** Returns the SecretBox for a session's ID token; its key is derived from the secret token in the session's cookie. */
function boxOf(token: string): SecretBox {
  return new SecretBox([Buffer.from(hkdfSync('sha256', token, '', 'parley-console-session', 32))]);
}

interface SessionRow {
  digest: string;
  tenant: string;
  owner: string;
  permissions: string[];
  key_digest: string | null;
  ends_at: Date;
}

function callerOfRow({ digest, tenant, owner, permissions, key_digest, ends_at }: SessionRow): Caller {
  const key = key_digest === null ? {} : { key: key_digest };
  const proof = { session: digest, ...key, endsAt: ends_at.getTime() };
  return { tenant, owner, permissions: new Set(permissions.filter(isPermission)), proof };
}

/** Returns the caller unless the session has ended since it was cached. */
function unlessEnded(caller: Caller | undefined): Caller | undefined {
  return Date.now() < (caller?.proof?.endsAt ?? 0) ? caller : undefined;
}

const KEY_IS_ACTIVE = `
  (session.key_digest IS NULL OR EXISTS (
    SELECT FROM api_key
    WHERE api_key.digest = session.key_digest AND (api_key.ends_at IS NULL OR api_key.ends_at > now())))`;

/** Permissions of a session: those at the sign-in, except scopes that its key has lost since. */
const CURRENT_PERMISSIONS = `
  CASE WHEN session.key_digest IS NULL THEN session.permissions ELSE ARRAY(
    SELECT unnest(session.permissions)
    INTERSECT SELECT unnest(api_key.scopes) FROM api_key WHERE api_key.digest = session.key_digest
  ) END`;

const READ_ACTIVE = `
  SELECT digest, tenant, owner, ${CURRENT_PERMISSIONS} AS permissions, key_digest, ends_at
  FROM console_session AS session
  WHERE digest = ANY($1::text[]) AND method = ANY($2::text[]) AND ends_at > now() AND ${KEY_IS_ACTIVE}`;

const DELETE_ENDED = `
  DELETE FROM console_session AS session WHERE ends_at <= now() OR NOT ${KEY_IS_ACTIVE}`;

const DELETE_OLDEST = `
  DELETE FROM console_session WHERE digest IN (
    SELECT digest FROM console_session WHERE tenant = $1 AND owner = $2
    ORDER BY created_at DESC, digest OFFSET ${MAX_OF_CALLER - 1})`;

const INSERT = `
  INSERT INTO console_session (digest, tenant, owner, permissions, method, key_digest, ends_at, id_token)
  SELECT $1, $2, $3, $4, $5, $6, least($7::timestamptz, now() + interval '${SESSION_HOURS} hours'), $8
  WHERE (SELECT count(*) FROM console_session) < ${MAX_SESSIONS}
    AND ($2::text = '' OR (SELECT count(*) FROM console_session WHERE tenant = $2) < ${MAX_OF_TENANT})
  RETURNING ends_at`;

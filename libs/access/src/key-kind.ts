import { Injectable } from '@nestjs/common';
import { ArrayMinSize, IsArray, Matches } from 'class-validator';
import {
  ConfigurationKind,
  ConfigurationKinds,
  type ConfigurationObject,
  type ConfigurationSaver,
  type ConfigurationSession,
  type StoredObject,
  type WantedObject,
} from '#libs/configuration';
import { EachEntry, malformedRequest, ProblemError, readBody, refuseMoreThan } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import { AppConfig, CALLER_NAME } from '#libs/service';
import { ApiKeys, digestInHex, LAST_ADMIN_KEY } from './api-keys.js';
import { isPermission, type Permission, PERMISSIONS } from './caller.js';

/** Maximum number of rows in a tenant, with those of ended keys, up to which files add keys. */
const MOST_KEYS = 10_000;
/** Pattern of a hash: SHA-256 in hexadecimal digits, as `sha256sum` prints it. */
const HASH = /^[0-9a-f]{64}$/;
/** Condition for a valid key. The clock is read after a wait for a lock: `now()` is the start of the transaction. */
const ACTIVE = '(ends_at IS NULL OR ends_at > clock_timestamp())';

/** Definition of a key in a file. */
class HashedKeyBody {
  static readonly unknown = 'is not known';

  @Matches(CALLER_NAME, { message: 'must have 1 to 128 letters, digits or ._@+-' })
  name!: string;

  @Matches(HASH, { message: 'must be the SHA-256 of the key in 64 lowercase hexadecimal digits' })
  hash!: string;

  @IsArray({ message: 'must be a list' })
  @ArrayMinSize(1, { message: 'must have an entry' })
  @EachEntry(isPermission, `must be one of ${PERMISSIONS.join(', ')}`)
  scopes: Permission[] = ['agents'];
}

interface KeyRow {
  tenant: string;
  name: string;
  digest: string;
  scopes: string[];
  mark: string | null;
  updated_at: Date;
  active: boolean;
}

const COLUMNS = `tenant, name, digest, scopes, mark, updated_at, ${ACTIVE} AS active`;

/**
 * Kind `key` of the objects that files describe (see libs/configuration): the API keys of a tenant, by their hashes.
 * - The id of a key is its digest, and its name that of the caller with the first digits of the hash.
 * - A deleted key is revoked: its row stays, so that the same hash never admits a caller again.
 * - The key of a request can neither be deleted by the request nor lose the scope `admin`.
 * - The last valid key of a tenant with the scope `admin` keeps it. Every transaction therefore locks these keys before
 *   others, in the order of `ApiKeys.revokeKey`.
 */
@Injectable()
export class KeyKind extends ConfigurationKind {
  readonly kind = 'key';
  readonly rank = 50;

  constructor(
    private readonly keys: ApiKeys,
    private readonly config: AppConfig,
    kinds: ConfigurationKinds,
  ) {
    super();
    kinds.addKind(this);
  }

  override readObject(sent: JsonObject): ConfigurationObject {
    if (this.config.auth.mode !== 'api-key')
      throw malformedRequest({ path: '', detail: 'this service does not use keys' });
    const { name, hash, scopes } = readBody(HashedKeyBody, sent);
    const digest = Buffer.from(hash, 'hex').toString('base64url');
    return describeKey({ name, digest, scopes });
  }

  override assertAllowed(
    { id, name, definition }: ConfigurationObject,
    { proof }: ConfigurationSaver,
    isDeleted: boolean,
  ): void {
    if (proof?.key !== id) return;
    if (isDeleted) throw new ProblemError(409, `the key "${name}" cannot be deleted: this request uses it`);
    if (!scopesOf(definition).includes('admin'))
      throw new ProblemError(409, `the key "${name}" must keep the scope admin: this request uses it`);
  }

  /** @throws ProblemError 422 for a key that has ended, or whose hash is in use elsewhere */
  override async findObjects(
    session: ConfigurationSession,
    tenant: string,
    ids: readonly string[],
  ): Promise<StoredObject[]> {
    if (ids.length === 0) return [];
    await session.query(LOCK_ADMINS, [tenant]);
    const { rows } = await session.query<KeyRow>(
      `SELECT ${COLUMNS} FROM api_key WHERE digest = ANY($1::text[]) ORDER BY digest FOR UPDATE`,
      [ids],
    );
    for (const row of rows) {
      if (row.tenant !== tenant) throw new ProblemError(422, `the hash ${hashStart(row.digest)}… is in use already`);
      if (!row.active)
        throw new ProblemError(422, `the key "${describeKey(row).name}" has ended: a file needs the hash of a new key`);
    }
    return rows.map(toStored);
  }

  override async findMarked(session: ConfigurationSession, tenant: string, mark: string): Promise<StoredObject[]> {
    await session.query(LOCK_ADMINS, [tenant]);
    const { rows } = await session.query<KeyRow>(
      `SELECT ${COLUMNS} FROM api_key WHERE tenant = $1 AND mark = $2 AND ${ACTIVE} ORDER BY digest FOR UPDATE`,
      [tenant, mark],
    );
    return rows.map(toStored);
  }

  override prepareObject(_object: ConfigurationObject, { owner }: ConfigurationSaver): Promise<string> {
    return Promise.resolve(owner);
  }

  override async createObject(
    session: ConfigurationSession,
    tenant: string,
    { id, definition, mark, prepared }: WantedObject,
  ): Promise<string | undefined> {
    const counted = await session.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM api_key WHERE tenant = $1',
      [tenant],
    );
    refuseMoreThan({ count: counted.rows[0]?.count ?? 0, most: MOST_KEYS, what: 'keys' });
    const { rows } = await session.query<KeyRow>(
      `INSERT INTO api_key (id, tenant, name, digest, scopes, created_by, mark)
       VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING updated_at`,
      [tenant, definition['name'], id, scopesOf(definition), prepared, mark ?? null],
    );
    return rows[0]?.updated_at.toISOString();
  }

  /**
   * Replaces the scopes of a key.
   * @throws ProblemError 422 if the key belongs to another caller; 409 if the last key with the scope `admin` loses it
   */
  override async replaceObject(
    session: ConfigurationSession,
    tenant: string,
    { id, definition, mark }: WantedObject,
  ): Promise<string | undefined> {
    if (!scopesOf(definition).includes('admin')) await assertAdminRemains(session, tenant, id);
    const { rows } = await session.query<KeyRow>(
      `UPDATE api_key SET scopes = $4, mark = coalesce($5, mark), updated_at = clock_timestamp()
       WHERE tenant = $1 AND digest = $2 AND name = $3 AND ${ACTIVE} RETURNING updated_at`,
      [tenant, id, definition['name'], scopesOf(definition), mark ?? null],
    );
    if (!rows[0]) throw new ProblemError(422, `the hash ${hashStart(id)}… is that of a key of another caller`);
    return rows[0].updated_at.toISOString();
  }

  override async markObject(session: ConfigurationSession, tenant: string, id: string, mark: string): Promise<void> {
    await session.query('UPDATE api_key SET mark = $3 WHERE tenant = $1 AND digest = $2 AND mark IS DISTINCT FROM $3', [
      tenant,
      id,
      mark,
    ]);
  }

  /** Revokes a key. @throws ProblemError 409 if it is the last valid key with the scope `admin` */
  override async deleteObject(session: ConfigurationSession, tenant: string, id: string): Promise<boolean> {
    await assertAdminRemains(session, tenant, id);
    const { rowCount } = await session.query(
      `UPDATE api_key SET ends_at = least(ends_at, clock_timestamp()) WHERE tenant = $1 AND digest = $2 AND ${ACTIVE}`,
      [tenant, id],
    );
    return rowCount === 1;
  }

  override finishChange(tenant: string, { id, definition }: ConfigurationObject, isDeleted: boolean): Promise<void> {
    const { name } = definition;
    this.keys.forgetKey(id, isDeleted && typeof name === 'string' ? { tenant, name } : undefined);
    return Promise.resolve();
  }
}

const LOCK_ADMINS = `
  SELECT digest FROM api_key WHERE tenant = $1 AND 'admin' = ANY(scopes) AND ${ACTIVE} ORDER BY id FOR UPDATE`;

/** @throws ProblemError 409 if no other valid key of the tenant has the scope `admin`, and the key has it */
async function assertAdminRemains(session: ConfigurationSession, tenant: string, id: string): Promise<void> {
  const { rows } = await session.query<Pick<KeyRow, 'digest'>>(LOCK_ADMINS, [tenant]);
  if (rows.length === 1 && rows[0]?.digest === id) throw new ProblemError(409, LAST_ADMIN_KEY);
}

/** Returns those problems of the definition of a key that can be found without a running service. */
export function findKeyProblems(sent: JsonObject): { path: string; detail: string }[] {
  try {
    readBody(HashedKeyBody, sent);
    return [];
  } catch (error) {
    if (error instanceof ProblemError) return [...error.errors];
    throw error;
  }
}

function describeKey({ name, digest, scopes }: Pick<KeyRow, 'name' | 'digest' | 'scopes'>): ConfigurationObject {
  const definition = { name, hash: digestInHex(digest), scopes: [...new Set(scopes)].toSorted() };
  return { id: digest, name: `${name}-${hashStart(digest)}`, definition };
}

function toStored(row: KeyRow): StoredObject {
  const { updated_at, mark } = row;
  return { ...describeKey(row), revision: updated_at.toISOString(), ...(mark !== null && { mark }) };
}

/** Returns the first digits of the hash with a digest, which identify a key for people. */
function hashStart(digest: string): string {
  return digestInHex(digest).slice(0, 8);
}

function scopesOf({ scopes }: JsonObject): string[] {
  return Array.isArray(scopes) ? scopes.map(String) : [];
}

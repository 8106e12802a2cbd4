import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { BatchedRead, Database } from '#libs/postgres';
import type { SeededKey } from '#libs/service';
import { type Caller, isPermission, type Permission, PERMISSIONS } from './caller.js';
import { digestOf, newKey } from './key-digest.js';
import { Verdicts } from './verdicts.js';

/** A key as it may be shown: never the key itself. */
export interface ApiKey {
  id: string;
  name: string;
  scopes: Permission[];
  createdAt: Date;
  /** Absent where the environment brought the key. */
  createdBy?: string;
  /** From then on it is not valid. */
  endsAt?: Date;
}

/** A key that was just made; `key` is in no other place. */
export interface MadeKey extends ApiKey {
  key: string;
}

/** Who makes, replaces or revokes a key. */
export type KeyKeeper = Pick<Caller, 'tenant' | 'owner'>;

/** The keys of callers, on PostgreSQL: only digests of them. */
@Injectable()
export class ApiKeys {
  private readonly active = new BatchedRead((digests: readonly string[]) => this.readActive(digests));
  private readonly verdicts = new Verdicts((digest) => this.active.get(digest));

  constructor(private readonly database: Database) {}

  /** Whose key it is. At once for a key that is in use, without a query; see Verdicts for how long it is believed. */
  caller(key: string): Caller | undefined | Promise<Caller | undefined> {
    return this.verdicts.of(digestOf(key));
  }

  /** Whether a key is valid, by its digest. */
  async holds(digest: string): Promise<boolean> {
    return (await this.verdicts.of(digest)) !== undefined;
  }

  /**
   * Keeps the environment's keys, with every permission. A key that is known stays as it is, so that any number of
   * replicas may do so at any time, and a key that was revoked stays revoked.
   */
  async seed(keys: readonly SeededKey[]): Promise<void> {
    const ids = keys.map(() => randomUUID());
    const names = keys.map((it) => it.name);
    const digests = keys.map((it) => digestOf(it.key));
    await this.database.pool.query(
      `INSERT INTO api_key (id, name, digest, scopes)
       SELECT id, name, digest, $4 FROM unnest($1::uuid[], $2::text[], $3::text[]) AS seeded (id, name, digest)
       ON CONFLICT (digest) DO NOTHING`,
      [ids, names, digests, PERMISSIONS],
    );
  }

  /** Whether there is a key that is valid, of any tenant. */
  async any(): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      'SELECT FROM api_key WHERE ends_at IS NULL OR ends_at > now() LIMIT 1',
    );
    return rowCount === 1;
  }

  async make(by: KeyKeeper, name: string, scopes: readonly Permission[]): Promise<MadeKey> {
    const key = newKey();
    const { rows } = await this.database.pool.query<ApiKeyRow>(
      `INSERT INTO api_key (id, tenant, name, digest, scopes, created_by) VALUES ($1, $2, $3, $4, $5, $6)
       RETURNING ${COLUMNS}`,
      [randomUUID(), by.tenant, name, digestOf(key), scopes, by.owner],
    );
    return { ...shown(rows[0]!), key };
  }

  /** All keys of the tenant, also those that are not valid any more, oldest first. */
  async list(by: KeyKeeper): Promise<ApiKey[]> {
    const { rows } = await this.database.pool.query<ApiKeyRow>(
      `SELECT ${COLUMNS} FROM api_key WHERE tenant = $1 ORDER BY created_at, id`,
      [by.tenant],
    );
    return rows.map(shown);
  }

  /**
   * A new key for the same caller with the same permissions; the old one is valid for so many seconds more, at most.
   * @returns `undefined` where there is no such key, or it is not valid any more
   */
  async rotate(by: KeyKeeper, id: string, overlapSeconds: number): Promise<MadeKey | undefined> {
    if (!UUID.test(id)) return undefined;
    const key = newKey();
    const { rows } = await this.database.pool.query<ApiKeyRow & { old_digest: string }>(
      `WITH old AS (
         UPDATE api_key SET ends_at = least(ends_at, now() + make_interval(secs => $6))
         WHERE id = $1 AND tenant = $2 AND (ends_at IS NULL OR ends_at > now())
         RETURNING tenant, name, scopes, digest
       ), made AS (
         INSERT INTO api_key (id, tenant, name, digest, scopes, created_by)
         SELECT $3, tenant, name, $4, scopes, $5 FROM old
         RETURNING *
       )
       SELECT ${COLUMNS}, (SELECT digest FROM old) AS old_digest FROM made`,
      [id, by.tenant, randomUUID(), digestOf(key), by.owner, overlapSeconds],
    );
    if (!rows[0]) return undefined;
    this.verdicts.forget(rows[0].old_digest);
    return { ...shown(rows[0]), key };
  }

  /** Revokes a key. Again is the same. @returns whether there is such a key */
  async revoke(by: KeyKeeper, id: string): Promise<boolean> {
    if (!UUID.test(id)) return false;
    const { rows } = await this.database.pool.query<{ digest: string }>(
      'UPDATE api_key SET ends_at = least(ends_at, now()) WHERE id = $1 AND tenant = $2 RETURNING digest',
      [id, by.tenant],
    );
    if (rows[0]) this.verdicts.forget(rows[0].digest);
    return rows[0] !== undefined;
  }

  private async readActive(digests: readonly string[]): Promise<Map<string, Caller>> {
    const { rows } = await this.database.pool.query<ActiveRow>({
      name: 'api-keys-active',
      text: `SELECT digest, tenant, name, scopes FROM api_key
             WHERE digest = ANY($1::text[]) AND (ends_at IS NULL OR ends_at > now())`,
      values: [digests],
    });
    return new Map(rows.map((row) => [row.digest, callerOfRow(row)]));
  }
}

interface ActiveRow {
  digest: string;
  tenant: string;
  name: string;
  scopes: string[];
}

interface ApiKeyRow {
  id: string;
  name: string;
  scopes: string[];
  created_at: Date;
  created_by: string | null;
  ends_at: Date | null;
}

const COLUMNS = 'id, name, scopes, created_at, created_by, ends_at';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

function callerOfRow({ digest, tenant, name, scopes }: ActiveRow): Caller {
  return { tenant, owner: name, permissions: new Set(scopes.filter(isPermission)), proof: { key: digest } };
}

function shown({ id, name, scopes, created_at, created_by, ends_at }: ApiKeyRow): ApiKey {
  return {
    id,
    name,
    scopes: scopes.filter(isPermission),
    createdAt: created_at,
    ...(created_by !== null && { createdBy: created_by }),
    ...(ends_at !== null && { endsAt: ends_at }),
  };
}

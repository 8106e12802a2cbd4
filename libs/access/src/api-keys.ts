import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { BatchLoader, Database } from '#libs/postgres';
import { Facts, type SeededKey } from '#libs/service';
import { type FindOperator, Raw, type Repository } from 'typeorm';
import { ApiKeyRow } from './api-key-row.js';
import { type Caller, isPermission, type Permission, PERMISSIONS } from './caller.js';
import { digestOf, newKey } from './key-digest.js';
import { CredentialCache } from './credential-cache.js';

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
export type KeyOwner = Pick<Caller, 'tenant' | 'owner'>;

/** The keys of callers, on PostgreSQL: only digests of them. */
@Injectable()
export class ApiKeys {
  private readonly active = new BatchLoader((digests: readonly string[]) => this.readActive(digests));
  private readonly cache = new CredentialCache((digest) => this.active.get(digest));

  constructor(
    private readonly database: Database,
    @InjectRepository(ApiKeyRow) private readonly rows: Repository<ApiKeyRow>,
    private readonly facts: Facts,
  ) {}

  /**
   * Whose key it is. At once for a key that is in use, without a query; see CredentialCache for how long it is
   * believed.
   */
  caller(key: string): Caller | undefined | Promise<Caller | undefined> {
    return this.cache.of(digestOf(key));
  }

  /** Whether a key is valid, by its digest. */
  async holds(digest: string): Promise<boolean> {
    return (await this.cache.of(digest)) !== undefined;
  }

  /**
   * Keeps the environment's keys, with every permission. A key that is known stays as it is, so that any number of
   * replicas may do so at any time, and a key that was revoked stays revoked.
   */
  async seed(keys: readonly SeededKey[]): Promise<void> {
    if (keys.length === 0) return;
    const rows = keys.map(({ name, key }) => ({
      id: randomUUID(),
      name,
      digest: digestOf(key),
      scopes: [...PERMISSIONS],
    }));
    await this.rows.createQueryBuilder().insert().values(rows).orIgnore().execute();
  }

  /** Whether there is a key that is valid, of any tenant. */
  any(): Promise<boolean> {
    return this.rows.existsBy({ ends_at: stillActive() });
  }

  async make({ tenant, owner }: KeyOwner, name: string, scopes: readonly Permission[]): Promise<MadeKey> {
    const key = newKey();
    const values = { id: randomUUID(), tenant, name, digest: digestOf(key), scopes: [...scopes], created_by: owner };
    const { raw } = await this.rows.createQueryBuilder().insert().values(values).returning('*').execute();
    return { ...shown((raw as [ApiKeyRow])[0]), key };
  }

  /** All keys of the tenant, also those that are not valid any more, oldest first. */
  async list({ tenant }: KeyOwner): Promise<ApiKey[]> {
    return (await this.rows.find({ where: { tenant }, order: { created_at: 'ASC', id: 'ASC' } })).map(shown);
  }

  /**
   * A new key for the same caller with the same permissions; the old one is valid for so many seconds more, at most.
   * @returns `undefined` where there is no such key, or it is not valid any more
   */
  async rotate(by: KeyOwner, id: string, overlapSeconds: number): Promise<MadeKey | undefined> {
    if (!UUID.test(id)) return undefined;
    const key = newKey();
    // Two writes in one statement: of two who rotate a key at once, one is told that it is not valid any more.
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
       SELECT *, (SELECT digest FROM old) AS old_digest FROM made`,
      [id, by.tenant, randomUUID(), digestOf(key), by.owner, overlapSeconds],
    );
    if (!rows[0]) return undefined;
    this.cache.forget(rows[0].old_digest);
    this.facts.emit('key.revoked', { name: rows[0].name, tenant: by.tenant });
    return { ...shown(rows[0]), key };
  }

  /** Revokes a key. A key that has ended stays as it is, and is no fact again. @returns true if there is such a key */
  async revoke(by: KeyOwner, id: string): Promise<boolean> {
    if (!UUID.test(id)) return false;
    const ends_at = (): string => 'least(ends_at, now())';
    const known = { id, tenant: by.tenant };
    const active = { ...known, ends_at: stillActive() };
    const { raw } = await this.rows.update(active, { ends_at }, { returning: ['digest', 'name'] });
    const [row] = raw as ApiKeyRow[];
    if (!row) return this.rows.existsBy(known);
    this.cache.forget(row.digest);
    this.facts.emit('key.revoked', { name: row.name, tenant: by.tenant });
    return true;
  }

  private async readActive(digests: readonly string[]): Promise<Map<string, Caller>> {
    // Every caller's way in: planned once, and nothing between it and the pool.
    const { rows } = await this.database.pool.query<ActiveRow>({
      name: 'api-keys-active',
      text: `SELECT digest, tenant, name, scopes FROM api_key
             WHERE digest = ANY($1::text[]) AND (ends_at IS NULL OR ends_at > now())`,
      values: [digests],
    });
    return new Map(rows.map((row) => [row.digest, callerOfRow(row)]));
  }
}

function stillActive(): FindOperator<Date> {
  return Raw((endsAt) => `(${endsAt} IS NULL OR ${endsAt} > now())`);
}

type ActiveRow = Pick<ApiKeyRow, 'digest' | 'tenant' | 'name' | 'scopes'>;

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

import { ConflictException, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { hash, randomBytes, randomUUID } from 'node:crypto';
import { Column, Entity, type FindOperator, PrimaryColumn, Raw, type Repository } from 'typeorm';
import { BatchLoader, Database } from '#libs/postgres';
import { Facts, type SeededKey } from '#libs/service';
import { type Caller, isPermission, type Permission, PERMISSIONS } from './caller.js';

@Entity('api_key')
export class ApiKeyRow {
  @PrimaryColumn('uuid') id!: string;
  @Column('text') tenant!: string;
  /** Name of the caller (`owner`), who owns what it creates. A caller may have several keys. */
  @Column('text') name!: string;
  @Column('text') digest!: string;
  @Column('text', { array: true }) scopes!: string[];
  @Column('timestamptz') created_at!: Date;
  /** Name of the caller that created the key; null if the environment defined the key. */
  @Column('text', { nullable: true }) created_by!: string | null;
  /**
   * Time at which the key expires or has expired; null: never. A revoked key expires at once. Expired rows are not
   * deleted, so that `seedKeys` finds a revoked key of AUTH_API_KEYS and does not store it again.
   */
  @Column('timestamptz', { nullable: true }) ends_at!: Date | null;
  /** Mark of the folder of files from which the key was last applied. */
  @Column('text', { nullable: true }) mark!: string | null;
  /** Time at which a file last changed the scopes. */
  @Column('timestamptz') updated_at!: Date;
}

/**
 * Returns the digest by which a key is stored and compared. A plain SHA-256 is enough: keys are long and random, so
 * guessing is infeasible, and a slow hash would only delay every request.
 */
export function digestOf(key: string): string {
  return hash('sha256', key, 'base64url');
}

/** Returns a stored digest as `sha256sum` prints the hash of the key. */
export function digestInHex(digest: string): string {
  return Buffer.from(digest, 'base64url').toString('hex');
}

/** Creates a key: 192 random bits, with a prefix that secret scanners recognize. */
function newKey(): string {
  return `parley_${randomBytes(24).toString('base64url')}`;
}

/** Maximum age in milliseconds at which a cached result of a verification is used without a new verification. */
const FRESH_MS = 1_000;
/**
 * Age in milliseconds from which a cached result is not used. From FRESH_MS to this age, the cached result is used
 * while the credential is verified once more.
 */
export const LONGEST_MS = 2_000;

interface CachedAnswer<T> {
  value: T;
  askedAt: number;
  asking: boolean;
}

/**
 * Caches verified credentials for a short time.
 * - Requests with credentials in use do not wait for the database.
 * - A revoked credential is accepted for at most two seconds (`LONGEST_MS`), at any replica.
 * - Invalid credentials are not cached.
 */
export class CredentialCache<T> {
  private readonly kept = new LRUCache<string, CachedAnswer<T>>({ max: 10_000 });

  /**
   * @param ask verifies a credential by its digest; returns `undefined` for an invalid credential
   * @param now returns the milliseconds of a monotonic clock
   */
  constructor(
    private readonly ask: (digest: string) => Promise<T | undefined>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Looks up what a credential identifies, by the credential's digest; `undefined` for an invalid credential. Returns a
   * cached result synchronously. Otherwise verifies the credential, and rejects with the error of `ask` if that fails.
   */
  lookUp(digest: string): T | Promise<T | undefined> {
    const known = this.kept.get(digest);
    if (!known) return this.askAndKeep(digest);
    const age = this.now() - known.askedAt;
    if (age >= LONGEST_MS) return this.askAndKeep(digest);
    if (age >= FRESH_MS && !known.asking) {
      known.asking = true;
      // A failed refresh is retried by the next request.
      this.askAndKeep(digest).catch(() => (known.asking = false));
    }
    return known.value;
  }

  /** Removes one credential from this cache. At other replicas the cached result lasts until LONGEST_MS. */
  forgetCredential(digest: string): void {
    this.kept.delete(digest);
  }

  private async askAndKeep(digest: string): Promise<T | undefined> {
    const askedAt = this.now();
    const value = await this.ask(digest);
    if (value === undefined) this.kept.delete(digest);
    else this.kept.set(digest, { value, askedAt, asking: false });
    return value;
  }
}

/** API key as it may be shown, without its secret. */
export interface ApiKey {
  id: string;
  name: string;
  scopes: Permission[];
  createdAt: Date;
  /** Caller that created the key; absent if the environment defined it. */
  createdBy?: string;
  /** Time at which the key expires; absent: never. */
  endsAt?: Date;
  /** SHA-256 of the secret in hexadecimal digits; only if the list was requested with hashes. */
  hash?: string;
  /** Time of the last change of the scopes; only if the list was requested with hashes. */
  updatedAt?: Date;
}

/** Newly created API key. `key` is its secret, which is stored nowhere else. */
export interface MadeKey extends ApiKey {
  key: string;
}

/** Caller that creates, replaces or revokes a key. */
export type KeyOwner = Pick<Caller, 'tenant' | 'owner'>;

/** API keys of callers in PostgreSQL, stored as digests. */
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
   * Finds the caller of a key; `undefined` for an invalid key. A recently used key is answered from the
   * CredentialCache, without a query.
   */
  findCaller(key: string): Caller | undefined | Promise<Caller | undefined> {
    return this.cache.lookUp(digestOf(key));
  }

  /** True if the key with a digest is valid. */
  async isKeyValid(digest: string): Promise<boolean> {
    return (await this.cache.lookUp(digest)) !== undefined;
  }

  /**
   * Stores the keys of AUTH_API_KEYS, with every permission. Keys that are already stored stay unchanged: any number
   * of replicas may call this method at any time, and a revoked key stays revoked.
   */
  async seedKeys(keys: readonly SeededKey[]): Promise<void> {
    if (keys.length === 0) return;
    const rows = keys.map(({ name, key }) => ({
      id: randomUUID(),
      name,
      digest: digestOf(key),
      scopes: [...PERMISSIONS],
    }));
    await this.rows.createQueryBuilder().insert().values(rows).orIgnore().execute();
  }

  /** True if any tenant has a valid key. */
  hasActiveKey(): Promise<boolean> {
    return this.rows.existsBy({ ends_at: stillActive() });
  }

  async makeKey({ tenant, owner }: KeyOwner, name: string, scopes: readonly Permission[]): Promise<MadeKey> {
    const key = newKey();
    const values = { id: randomUUID(), tenant, name, digest: digestOf(key), scopes: [...scopes], created_by: owner };
    const { raw } = await this.rows.createQueryBuilder().insert().values(values).returning('*').execute();
    return { ...toApiKey((raw as [ApiKeyRow])[0]), key };
  }

  /**
   * Lists all keys of the tenant, including expired ones, oldest first.
   * @param hashes true to include the hashes of the secrets, which files contain
   */
  async listKeys({ tenant }: KeyOwner, hashes = false): Promise<ApiKey[]> {
    const rows = await this.rows.find({ where: { tenant }, order: { created_at: 'ASC', id: 'ASC' } });
    return rows.map((row) => ({
      ...toApiKey(row),
      ...(hashes && { hash: digestInHex(row.digest), updatedAt: row.updated_at }),
    }));
  }

  /**
   * Removes a key that changed from this replica's cache.
   * @param revoked tenant and caller of the key if it was revoked; the fact `key.revoked` is then emitted
   */
  forgetKey(digest: string, revoked?: { tenant: string; name: string }): void {
    this.cache.forgetCredential(digest);
    if (revoked) this.facts.emit('key.revoked', revoked);
  }

  /**
   * Creates a new key for the caller of an existing key, with the same permissions. The old key stays valid for at
   * most `overlapSeconds`.
   * @param by caller that rotates the key, in the tenant of the key
   * @returns `undefined` if there is no such key, or it has expired
   */
  async rotateKey(by: KeyOwner, id: string, overlapSeconds: number): Promise<MadeKey | undefined> {
    if (!UUID.test(id)) return undefined;
    const key = newKey();
    // Both writes are one statement: of two concurrent rotations of a key, one finds it expired.
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
    this.cache.forgetCredential(rows[0].old_digest);
    this.facts.emit('key.revoked', { name: rows[0].name, tenant: by.tenant });
    return { ...toApiKey(rows[0]), key };
  }

  /**
   * Revokes a key and emits the fact `key.revoked` for the audit log. An expired key stays unchanged and emits no
   * fact.
   * @param by caller that revokes the key, in the tenant of the key
   * @returns true if the key exists
   * @throws ConflictException if no other valid key of the tenant has the scope `admin`, and the key has it
   */
  async revokeKey(by: KeyOwner, id: string): Promise<boolean> {
    if (!UUID.test(id)) return false;
    const known = { id, tenant: by.tenant };
    // The locks order concurrent revocations, so that the last two keys do not go together. The clock is read after the
    // wait for a lock.
    const { rows } = await this.database.pool.query<Pick<ApiKeyRow, 'digest' | 'name'>>(
      `WITH admins AS (
         SELECT id FROM api_key
         WHERE tenant = $2 AND 'admin' = ANY(scopes) AND (ends_at IS NULL OR ends_at > clock_timestamp())
         ORDER BY id FOR UPDATE
       )
       UPDATE api_key SET ends_at = least(ends_at, clock_timestamp())
       WHERE id = $1 AND tenant = $2 AND (ends_at IS NULL OR ends_at > clock_timestamp())
         AND (NOT 'admin' = ANY(scopes) OR EXISTS (SELECT FROM admins WHERE id <> $1))
       RETURNING digest, name`,
      [id, by.tenant],
    );
    const [row] = rows;
    if (!row) {
      if (await this.rows.existsBy({ ...known, ends_at: stillActive() })) throw new ConflictException(LAST_ADMIN_KEY);
      return this.rows.existsBy(known);
    }
    this.cache.forgetCredential(row.digest);
    this.facts.emit('key.revoked', { name: row.name, tenant: by.tenant });
    return true;
  }

  private async readActive(digests: readonly string[]): Promise<Map<string, Caller>> {
    // Every caller passes here: the statement is planned once, and runs on the pool directly.
    const { rows } = await this.database.pool.query<ActiveRow>({
      name: 'api-keys-active',
      text: `SELECT digest, tenant, name, scopes FROM api_key
             WHERE digest = ANY($1::text[]) AND (ends_at IS NULL OR ends_at > now())`,
      values: [digests],
    });
    return new Map(rows.map((row) => [row.digest, callerOfRow(row)]));
  }
}

/** Error text for a change that would leave a tenant without a valid key with the scope `admin`. */
export const LAST_ADMIN_KEY = 'This is the last valid key with the scope admin; create or rotate one first';

function stillActive(): FindOperator<Date> {
  return Raw((endsAt) => `(${endsAt} IS NULL OR ${endsAt} > now())`);
}

type ActiveRow = Pick<ApiKeyRow, 'digest' | 'tenant' | 'name' | 'scopes'>;

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

function callerOfRow({ digest, tenant, name, scopes }: ActiveRow): Caller {
  return { tenant, owner: name, permissions: new Set(scopes.filter(isPermission)), proof: { key: digest } };
}

function toApiKey({ id, name, scopes, created_at, created_by, ends_at }: ApiKeyRow): ApiKey {
  return {
    id,
    name,
    scopes: scopes.filter(isPermission),
    createdAt: created_at,
    ...(created_by !== null && { createdBy: created_by }),
    ...(ends_at !== null && { endsAt: ends_at }),
  };
}

import { Injectable, Logger } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { type InsertResult, MoreThan, Raw, type Repository, type UpdateResult } from 'typeorm';
import { type NamedPage, refuseMoreThan } from '#libs/http-server';
import { Jobs, ResealJob } from '#libs/job-queue';
import { BatchLoader, Database, retryWhileDatabaseDown, SecretBox, UnreadableSecret } from '#libs/postgres';
import { textStart } from '#libs/protocol';
import { CredentialRow } from './credential-table.js';
import type { Credential, CredentialId, CredentialSettings, UsableCredential } from './credential.js';

/** Maximum number of credentials of a tenant; concurrent requests may exceed it by a few. */
export const MOST_CREDENTIALS = 500;

/**
 * Stores credentials with encrypted (sealed) secrets. A secret is decrypted only for a call, and to encrypt it with a
 * new key (reseal).
 */
@Injectable()
export class CredentialStore {
  private readonly wanted = new BatchLoader((keys: readonly string[]) => this.readUsable(keys));

  constructor(
    private readonly database: Database,
    @InjectRepository(CredentialRow) private readonly rows: Repository<CredentialRow>,
    private readonly box: SecretBox,
  ) {}

  /** Lists credentials by name. */
  async listCredentials(tenant: string, { limit, after }: NamedPage): Promise<Credential[]> {
    const where = { tenant, name: MoreThan(after) };
    return (await this.rows.find({ where, order: { name: 'ASC' }, take: limit })).map(toCredential);
  }

  async get({ tenant, name }: CredentialId): Promise<Credential | undefined> {
    const row = await this.rows.findOneBy({ tenant, name });
    return row ? toCredential(row) : undefined;
  }

  /**
   * Creates a credential; returns `undefined` if the name is taken.
   * @throws ProblemError 422 if the tenant has the maximum number
   */
  async createCredential(
    id: CredentialId,
    settings: CredentialSettings,
    secret: string,
  ): Promise<Credential | undefined> {
    const count = await this.rows.countBy({ tenant: id.tenant });
    refuseMoreThan({ count, most: MOST_CREDENTIALS, what: 'credentials' });
    const values = { tenant: id.tenant, name: id.name, ...this.changedColumns(id, settings, secret) };
    return savedCredential(
      await this.rows.createQueryBuilder().insert().values(values).orIgnore().returning('*').execute(),
    );
  }

  /** Replaces a credential; returns `undefined` if there is none of that name. */
  async replaceCredential(
    id: CredentialId,
    settings: CredentialSettings,
    secret: string,
  ): Promise<Credential | undefined> {
    const { tenant, name } = id;
    const values = {
      ...this.changedColumns(id, settings, secret),
      updated_at: currentTime,
      last_error: null,
      last_error_at: null,
    };
    return savedCredential(await this.rows.update({ tenant, name }, values, { returning: '*' }));
  }

  /** Deletes a credential. @returns true if there was one */
  async delete({ tenant, name }: CredentialId): Promise<boolean> {
    return (await this.rows.delete({ tenant, name })).affected === 1;
  }

  /**
   * Returns the current state of a credential in the database. Returns `undefined` if there is no such credential, or
   * `isWanted` returns false for its settings. Concurrent reads share one query.
   * @param signal ends the wait for an unreachable database; absent: an unreachable database is an error at once
   * @param isWanted filter on the settings: the secret of an unwanted credential is not decrypted
   * @throws UnreadableSecret if no key decrypts the secret
   */
  async findUsable(
    { tenant, name }: CredentialId,
    signal?: AbortSignal,
    isWanted: (settings: CredentialSettings) => boolean = () => true,
  ): Promise<UsableCredential | undefined> {
    const readRow = (): Promise<UsableRow | undefined> => this.wanted.get(JSON.stringify([tenant, name]));
    const row = await (signal ? retryWhileDatabaseDown(readRow, signal) : readRow());
    if (row === undefined || !isWanted(row.settings)) return undefined;
    const { settings, version } = row;
    return { tenant, name, settings, version, secret: this.box.open(row.secret, credentialPlace({ tenant, name })) };
  }

  /**
   * Records the time or the error of the last use of a credential, unless the credential has been replaced since that
   * use.
   */
  async noteUse(used: UsableCredential, at: { usedAt?: Date; error?: string }): Promise<void> {
    const { tenant, name, version } = used;
    await this.database.pool.query(NOTE, [tenant, name, version, at.usedAt ?? null, at.error ?? null]);
  }

  /**
   * Encrypts with the current key (reseals) the secrets that were encrypted with an older key.
   * @returns the number of secrets that no key decrypts
   */
  async sealAnew(): Promise<number> {
    const select = { tenant: true, name: true, secret: true };
    const older = Raw((secret) => `NOT starts_with(${secret}, :mark)`, { mark: this.box.mark });
    const rows = await this.rows.find({ select, where: { secret: older } });
    const unreadable = await Promise.all(rows.map((row) => this.sealOne(row)));
    return unreadable.filter((it) => it).length;
  }

  /** Returns the number of secrets that were encrypted with a key that this service does not have. */
  async countUnreadable(): Promise<number> {
    const marks = this.box.knownMarks;
    const parameters = Object.fromEntries(marks.map((mark, index) => [`mark${index}`, mark]));
    const isKnown = (secret: string): string =>
      marks.map((_, index) => `starts_with(${secret}, :mark${index})`).join(' OR ');
    return this.rows.count({ where: { secret: Raw((secret) => `NOT (${isKnown(secret)})`, parameters) } });
  }

  private async sealOne({ tenant, name, secret }: CredentialRow): Promise<boolean> {
    try {
      const place = credentialPlace({ tenant, name });
      await this.rows.update({ tenant, name, secret }, { secret: this.box.seal(this.box.open(secret, place), place) });
      return false;
    } catch (error) {
      if (error instanceof UnreadableSecret) return true;
      throw error;
    }
  }

  private changedColumns(
    id: CredentialId,
    settings: CredentialSettings,
    secret: string,
  ): Pick<CredentialRow, 'settings' | 'secret' | 'version'> {
    return { settings, secret: this.box.seal(secret, credentialPlace(id)), version: randomUUID() };
  }

  private async readUsable(keys: readonly string[]): Promise<Map<string, UsableRow>> {
    const ids = keys.map((key) => JSON.parse(key) as [string, string]);
    const { rows } = await this.database.pool.query<UsableRow>({
      name: 'credentials-usable',
      text: USABLE,
      values: [ids.map(([tenant]) => tenant), ids.map(([, name]) => name)],
    });
    return new Map(rows.map((row) => [JSON.stringify([row.tenant, row.name]), row]));
  }
}

interface UsableRow extends UsableCredential {}

function toCredential(row: CredentialRow): Credential {
  const { tenant, name, settings, last_used_at: usedAt, last_error: message, last_error_at: at } = row;
  return {
    tenant,
    name,
    settings,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(usedAt !== null && { lastUsedAt: usedAt }),
    ...(message !== null && at !== null && { lastError: { at, message } }),
  };
}

/**
 * Converts the row that a statement returned; `undefined` without a row. TypeORM does not map such a row: its members
 * have the names of the columns.
 */
function savedCredential({ raw }: InsertResult | UpdateResult): Credential | undefined {
  const [row] = raw as CredentialRow[];
  return row && toCredential(row);
}

export function credentialPlace({ tenant, name }: CredentialId): string[] {
  return ['credential', tenant, name];
}

const currentTime = (): string => 'now()';

// Read and written with every call. One query serves concurrent readers, and it is planned once.
const USABLE = `
  SELECT tenant, name, settings, secret, version
  FROM unnest($1::text[], $2::text[]) AS wanted (tenant, name) JOIN credential USING (tenant, name)`;

const NOTE = `
  UPDATE credential SET last_used_at = greatest(last_used_at, $4::timestamptz), last_error = coalesce($5, last_error),
    last_error_at = CASE WHEN $5::text IS NULL THEN last_error_at ELSE now() END
  WHERE tenant = $1 AND name = $2 AND version = $3`;

/**
 * Minimum milliseconds between two records of a successful use of a credential, or of the same error of a credential.
 */
const PAUSE_MS = 10_000;
const LONGEST_ERROR = 500;

/**
 * Records the last use of credentials, and their last error. Calls do not wait for the record, and do not fail if the
 * record fails.
 */
@Injectable()
export class CredentialUse {
  private readonly logger = new Logger(CredentialUse.name);
  private readonly noted = new LRUCache<string, true>({ max: 10_000, ttl: PAUSE_MS });

  constructor(private readonly store: CredentialStore) {}

  noteUsed(credential: UsableCredential): void {
    this.noteOnce(credential, 'used', { usedAt: new Date() });
  }

  /** Records an error. @param message text without secrets */
  noteFailed(credential: UsableCredential, message: string): void {
    this.noteOnce(credential, message, { error: textStart(message, LONGEST_ERROR) });
  }

  private noteOnce(credential: UsableCredential, what: string, values: { usedAt?: Date; error?: string }): void {
    const key = `${credential.version}/${what}`;
    if (this.noted.has(key)) return;
    this.noted.set(key, true);
    this.store.noteUse(credential, values).catch((error: unknown) => {
      this.logger.warn({ err: error, credential: credential.name }, 'The use of a credential could not be recorded');
    });
  }
}

/** Encrypts the secrets of credentials with the current key (reseals them). */
@Injectable()
export class SealCredentialsJob extends ResealJob {
  override readonly unreadableText = 'No key in CREDENTIALS_KEY decrypts some of the credentials';

  constructor(
    jobs: Jobs,
    private readonly store: CredentialStore,
    box: SecretBox,
  ) {
    super('credentials.seal', jobs, box);
  }

  protected override resealAll(): Promise<number> {
    return this.store.sealAnew();
  }
}

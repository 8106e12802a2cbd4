import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type NamedPage, refuseMoreThan } from '#libs/http';
import { BatchLoader, Database, SecretBox, throughOutage, UnreadableSecret } from '#libs/postgres';
import { type InsertResult, MoreThan, Raw, type Repository, type UpdateResult } from 'typeorm';
import { CredentialRow } from './credential-row.js';
import type { Credential, CredentialId, CredentialSettings, UsableCredential } from './credential.js';

/** Credentials that a tenant may keep; those that come in at the same moment may be a few more. */
export const MOST_CREDENTIALS = 500;

/** Keeps credentials; their secrets go in and come out for calls alone. */
@Injectable()
export class CredentialStore {
  private readonly wanted = new BatchLoader((keys: readonly string[]) => this.readUsable(keys));

  constructor(
    private readonly database: Database,
    @InjectRepository(CredentialRow) private readonly rows: Repository<CredentialRow>,
    private readonly box: SecretBox,
  ) {}

  /** By name. */
  async list(tenant: string, { limit, after }: NamedPage): Promise<Credential[]> {
    const where = { tenant, name: MoreThan(after) };
    return (await this.rows.find({ where, order: { name: 'ASC' }, take: limit })).map(shown);
  }

  async get({ tenant, name }: CredentialId): Promise<Credential | undefined> {
    const row = await this.rows.findOneBy({ tenant, name });
    return row ? shown(row) : undefined;
  }

  /**
   * `undefined` where the name is taken.
   * @throws ProblemError 422 where the tenant keeps as many as it may
   */
  async create(id: CredentialId, settings: CredentialSettings, secret: string): Promise<Credential | undefined> {
    const count = await this.rows.countBy({ tenant: id.tenant });
    refuseMoreThan({ count, most: MOST_CREDENTIALS, what: 'credentials' });
    const values = { tenant: id.tenant, name: id.name, ...this.changed(id, settings, secret) };
    return saved(await this.rows.createQueryBuilder().insert().values(values).orIgnore().returning('*').execute());
  }

  /** `undefined` where there is none of the name. */
  async replace(id: CredentialId, settings: CredentialSettings, secret: string): Promise<Credential | undefined> {
    const { tenant, name } = id;
    const values = { ...this.changed(id, settings, secret), updated_at: NOW, last_error: null, last_error_at: null };
    return saved(await this.rows.update({ tenant, name }, values, { returning: '*' }));
  }

  /** Whether there was one. */
  async delete({ tenant, name }: CredentialId): Promise<boolean> {
    return (await this.rows.delete({ tenant, name })).affected === 1;
  }

  /**
   * Returns a credential as it is now, whichever replica changed it; reads that come in together are one query.
   * @param signal until when a database that is out of reach is waited for; absent: not at all
   * @param isWanted no secret is opened of a credential with other settings, and none is returned
   * @throws UnreadableSecret where no key opens it
   */
  async usable(
    { tenant, name }: CredentialId,
    signal?: AbortSignal,
    isWanted: (settings: CredentialSettings) => boolean = () => true,
  ): Promise<UsableCredential | undefined> {
    const read = (): Promise<UsableRow | undefined> => this.wanted.get(JSON.stringify([tenant, name]));
    const row = await (signal ? throughOutage(read, signal) : read());
    if (row === undefined || !isWanted(row.settings)) return undefined;
    const { settings, version } = row;
    return { tenant, name, settings, version, secret: this.box.open(row.secret, placeOf({ tenant, name })) };
  }

  /** Notes what came of using a credential, unless it was changed since. */
  async note(used: UsableCredential, at: { usedAt?: Date; error?: string }): Promise<void> {
    const { tenant, name, version } = used;
    await this.database.pool.query(NOTE, [tenant, name, version, at.usedAt ?? null, at.error ?? null]);
  }

  /** Seals with the newest key what another one sealed. @returns how many no key opens */
  async sealAnew(): Promise<number> {
    const select = { tenant: true, name: true, secret: true };
    const older = Raw((secret) => `NOT starts_with(${secret}, :mark)`, { mark: this.box.mark });
    const rows = await this.rows.find({ select, where: { secret: older } });
    const unreadable = await Promise.all(rows.map((row) => this.sealOne(row)));
    return unreadable.filter((it) => it).length;
  }

  private async sealOne({ tenant, name, secret }: CredentialRow): Promise<boolean> {
    try {
      const place = placeOf({ tenant, name });
      await this.rows.update({ tenant, name, secret }, { secret: this.box.seal(this.box.open(secret, place), place) });
      return false;
    } catch (error) {
      if (error instanceof UnreadableSecret) return true;
      throw error;
    }
  }

  private changed(
    id: CredentialId,
    settings: CredentialSettings,
    secret: string,
  ): Pick<CredentialRow, 'settings' | 'secret' | 'version'> {
    return { settings, secret: this.box.seal(secret, placeOf(id)), version: randomUUID() };
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

function shown(row: CredentialRow): Credential {
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

/** What a statement returned is not changed by TypeORM: rows are named as the columns are. */
function saved({ raw }: InsertResult | UpdateResult): Credential | undefined {
  const [row] = raw as CredentialRow[];
  return row && shown(row);
}

function placeOf({ tenant, name }: CredentialId): string[] {
  return ['credential', tenant, name];
}

const NOW = (): string => 'now()';

// Read and written with every call, so by statements of their own: one for all who ask together, and planned once.
const USABLE = `
  SELECT tenant, name, settings, secret, version
  FROM unnest($1::text[], $2::text[]) AS wanted (tenant, name) JOIN credential USING (tenant, name)`;

const NOTE = `
  UPDATE credential SET last_used_at = greatest(last_used_at, $4::timestamptz), last_error = coalesce($5, last_error),
    last_error_at = CASE WHEN $5::text IS NULL THEN last_error_at ELSE now() END
  WHERE tenant = $1 AND name = $2 AND version = $3`;

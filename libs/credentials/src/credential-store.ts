import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { BatchedRead, Database, SecretBox, throughOutage, UnreadableSecret } from '#libs/postgres';
import type { Credential, CredentialId, CredentialSettings, UsableCredential } from './credential.js';

/** Keeps credentials; their secrets go in and come out for calls alone. */
@Injectable()
export class CredentialStore {
  private readonly wanted = new BatchedRead((keys: readonly string[]) => this.readUsable(keys));

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {}

  /** By name. */
  async list(tenant: string): Promise<Credential[]> {
    const { rows } = await this.database.pool.query<CredentialRow>(LIST, [tenant]);
    return rows.map(shown);
  }

  async get({ tenant, name }: CredentialId): Promise<Credential | undefined> {
    const { rows } = await this.database.pool.query<CredentialRow>(GET, [tenant, name]);
    return rows[0] && shown(rows[0]);
  }

  /** `undefined` where the name is taken. */
  async create(id: CredentialId, settings: CredentialSettings, secret: string): Promise<Credential | undefined> {
    return this.save(CREATE, id, settings, secret);
  }

  /** `undefined` where there is none of the name. */
  async replace(id: CredentialId, settings: CredentialSettings, secret: string): Promise<Credential | undefined> {
    return this.save(REPLACE, id, settings, secret);
  }

  /** Whether there was one. */
  async delete({ tenant, name }: CredentialId): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(DELETE, [tenant, name]);
    return rowCount === 1;
  }

  /**
   * A credential as it is now, whichever replica changed it; reads that come in together are one query, and wait for a
   * database that is out of reach.
   * @throws UnreadableSecret where no key opens it
   */
  async usable({ tenant, name }: CredentialId, signal: AbortSignal): Promise<UsableCredential | undefined> {
    const row = await throughOutage(() => this.wanted.get(JSON.stringify([tenant, name])), signal);
    if (row === undefined) return undefined;
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
    const { rows } = await this.database.pool.query<CredentialId & { secret: string }>(OLDER, [this.box.mark]);
    const unreadable = await Promise.all(rows.map((row) => this.sealOne(row)));
    return unreadable.filter((it) => it).length;
  }

  private async sealOne(row: CredentialId & { secret: string }): Promise<boolean> {
    try {
      const sealed = this.box.seal(this.box.open(row.secret, placeOf(row)), placeOf(row));
      await this.database.pool.query(SEAL, [row.tenant, row.name, row.secret, sealed]);
      return false;
    } catch (error) {
      if (error instanceof UnreadableSecret) return true;
      throw error;
    }
  }

  private async save(
    statement: string,
    id: CredentialId,
    settings: CredentialSettings,
    secret: string,
  ): Promise<Credential | undefined> {
    const sealed = this.box.seal(secret, placeOf(id));
    const values = [id.tenant, id.name, JSON.stringify(settings), sealed, randomUUID()];
    const { rows } = await this.database.pool.query<CredentialRow>(statement, values);
    return rows[0] && shown(rows[0]);
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

interface CredentialRow extends CredentialId {
  settings: CredentialSettings;
  created_at: Date;
  updated_at: Date;
  last_used_at: Date | null;
  last_error: string | null;
  last_error_at: Date | null;
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

function placeOf({ tenant, name }: CredentialId): string[] {
  return ['credential', tenant, name];
}

const COLUMNS = 'tenant, name, settings, created_at, updated_at, last_used_at, last_error, last_error_at';

const LIST = `SELECT ${COLUMNS} FROM credential WHERE tenant = $1 ORDER BY name`;

const GET = `SELECT ${COLUMNS} FROM credential WHERE tenant = $1 AND name = $2`;

const CREATE = `
  INSERT INTO credential (tenant, name, settings, secret, version) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (tenant, name) DO NOTHING RETURNING ${COLUMNS}`;

const REPLACE = `
  UPDATE credential SET settings = $3, secret = $4, version = $5, updated_at = now(), last_error = NULL,
    last_error_at = NULL
  WHERE tenant = $1 AND name = $2 RETURNING ${COLUMNS}`;

const DELETE = 'DELETE FROM credential WHERE tenant = $1 AND name = $2';

const USABLE = `
  SELECT tenant, name, settings, secret, version
  FROM unnest($1::text[], $2::text[]) AS wanted (tenant, name) JOIN credential USING (tenant, name)`;

const NOTE = `
  UPDATE credential SET last_used_at = greatest(last_used_at, $4::timestamptz), last_error = coalesce($5, last_error),
    last_error_at = CASE WHEN $5::text IS NULL THEN last_error_at ELSE now() END
  WHERE tenant = $1 AND name = $2 AND version = $3`;

const OLDER = 'SELECT tenant, name, secret FROM credential WHERE NOT starts_with(secret, $1)';

const SEAL = 'UPDATE credential SET secret = $4 WHERE tenant = $1 AND name = $2 AND secret = $3';

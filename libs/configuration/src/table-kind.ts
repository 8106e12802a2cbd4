import { refuseMoreThan } from '#libs/http-server';
import type { JsonObject } from '#libs/protocol';
import {
  ConfigurationKind,
  type ConfigurationSession,
  type StoredObject,
  type WantedObject,
} from './configuration-kind.js';

/** Row of a table of objects, with the names of its columns. */
type ObjectRow = Record<string, unknown>;

/**
 * Kind whose objects are rows of one table with the primary key `(tenant, name)` and the columns `updated_at` and
 * `mark`.
 */
export abstract class TableKind extends ConfigurationKind {
  protected abstract readonly table: string;
  /** Columns of the definition. Names of columns come from code only, never from a request. */
  protected abstract readonly columns: readonly string[];
  /** Maximum number of objects of a tenant. */
  protected abstract readonly most: number;
  /** Plural of the kind for error texts. */
  protected abstract readonly plural: string;

  /** Returns the values of columns to write. JSON columns get text. */
  protected abstract toColumns(wanted: WantedObject, tenant: string): Record<string, unknown>;
  protected abstract toDefinition(row: ObjectRow, tenant: string): JsonObject;

  override async findObjects(
    session: ConfigurationSession,
    tenant: string,
    ids: readonly string[],
  ): Promise<StoredObject[]> {
    if (ids.length === 0) return [];
    return this.selectRows(session, tenant, 'name = ANY($2::text[]) ORDER BY name FOR UPDATE', ids);
  }

  override findMarked(session: ConfigurationSession, tenant: string, mark: string): Promise<StoredObject[]> {
    return this.selectRows(session, tenant, 'mark = $2 ORDER BY name FOR UPDATE', mark);
  }

  override async createObject(
    session: ConfigurationSession,
    tenant: string,
    wanted: WantedObject,
  ): Promise<string | undefined> {
    const counted = await session.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM ${this.table} WHERE tenant = $1`,
      [tenant],
    );
    refuseMoreThan({ count: counted.rows[0]?.count ?? 0, most: this.most, what: this.plural });
    const written = Object.entries({ tenant, name: wanted.name, mark: wanted.mark, ...this.toColumns(wanted, tenant) });
    const places = written.map((_, index) => `$${index + 1}`).join(', ');
    const names = written.map(([column]) => column).join(', ');
    const { rows } = await session.query<{ updated_at: Date }>(
      `INSERT INTO ${this.table} (${names}) VALUES (${places}) ON CONFLICT DO NOTHING RETURNING updated_at`,
      written.map(([, value]) => value),
    );
    return rows[0] && revisionOf(rows[0]);
  }

  override async replaceObject(
    session: ConfigurationSession,
    tenant: string,
    wanted: WantedObject,
  ): Promise<string | undefined> {
    const written = Object.entries(this.toColumns(wanted, tenant));
    const changes = written.map(([column], index) => `${column} = $${index + 4}`).join(', ');
    const { rows } = await session.query<{ updated_at: Date }>(
      `UPDATE ${this.table} SET ${changes}, mark = coalesce($3, mark), updated_at = clock_timestamp()
       WHERE tenant = $1 AND name = $2 RETURNING updated_at`,
      [tenant, wanted.id, wanted.mark ?? null, ...written.map(([, value]) => value)],
    );
    return rows[0] && revisionOf(rows[0]);
  }

  override async markObject(session: ConfigurationSession, tenant: string, id: string, mark: string): Promise<void> {
    await session.query(
      `UPDATE ${this.table} SET mark = $3 WHERE tenant = $1 AND name = $2 AND mark IS DISTINCT FROM $3`,
      [tenant, id, mark],
    );
  }

  override async deleteObject(session: ConfigurationSession, tenant: string, id: string): Promise<boolean> {
    const { rowCount } = await session.query(`DELETE FROM ${this.table} WHERE tenant = $1 AND name = $2`, [tenant, id]);
    return rowCount === 1;
  }

  override async findUsing(session: ConfigurationSession, tenant: string, credential: string): Promise<string[]> {
    if (!this.columns.includes('auth')) return [];
    const { rows } = await session.query<{ name: string }>(
      `SELECT name FROM ${this.table} WHERE tenant = $1 AND auth = $2 ORDER BY name`,
      [tenant, credential],
    );
    return rows.map(({ name }) => name);
  }

  private async selectRows(
    session: ConfigurationSession,
    tenant: string,
    rest: string,
    value: unknown,
  ): Promise<StoredObject[]> {
    const { rows } = await session.query<ObjectRow & { name: string; mark: string | null; updated_at: Date }>(
      `SELECT name, mark, updated_at, ${this.columns.join(', ')} FROM ${this.table} WHERE tenant = $1 AND ${rest}`,
      [tenant, value],
    );
    return rows.map((row) => ({
      id: row.name,
      name: row.name,
      revision: revisionOf(row),
      ...(row.mark !== null && { mark: row.mark }),
      definition: this.toDefinition(row, tenant),
    }));
  }
}

/** Returns the revision of a row: the time of its last save, as the API of the kind shows it. */
function revisionOf({ updated_at }: { updated_at: Date }): string {
  return updated_at.toISOString();
}

import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type InsertResult, MoreThan, type Repository, type UpdateResult } from 'typeorm';
import { type NamedPage, refuseMoreThan } from '#libs/http-server';
import { BatchLoader, Database, retryWhileDatabaseDown } from '#libs/postgres';
import type { ModelDefinition, ModelId, StoredModel } from './model-definition.js';
import { ModelRow } from './model-table.js';

/** Maximum number of models of a tenant; concurrent requests may exceed it slightly. */
export const MOST_MODELS = 1_000;

/**
 * Stores the models of tenants.
 * - `get` and `listModels` serve the API.
 * - `readModel` and `awaitModel` serve calls to models: concurrent reads share one query, and `awaitModel` retries
 *   while the database is unreachable.
 */
@Injectable()
export class ModelStore {
  private readonly wanted = new BatchLoader((keys: readonly string[]) => this.readAll(keys));

  constructor(
    private readonly database: Database,
    @InjectRepository(ModelRow) private readonly rows: Repository<ModelRow>,
  ) {}

  /** Returns one page of the models of a tenant, sorted by name. */
  async listModels(tenant: string, { limit, after }: NamedPage): Promise<StoredModel[]> {
    const where = { tenant, name: MoreThan(after) };
    return (await this.rows.find({ where, order: { name: 'ASC' }, take: limit })).map(modelOf);
  }

  async get({ tenant, name }: ModelId): Promise<StoredModel | undefined> {
    const row = await this.rows.findOneBy({ tenant, name });
    return row ? modelOf(row) : undefined;
  }

  /**
   * Stores a new model.
   * @returns `undefined` if the name is taken
   * @throws ProblemError 422 if the tenant has MOST_MODELS models
   */
  async createModel({ tenant, name }: ModelId, definition: ModelDefinition): Promise<StoredModel | undefined> {
    refuseMoreThan({ count: await this.rows.countBy({ tenant }), most: MOST_MODELS, what: 'models' });
    const values = { tenant, name, ...columnsOf(definition) };
    return toSavedModel(
      await this.rows.createQueryBuilder().insert().values(values).orIgnore().returning('*').execute(),
    );
  }

  /** Replaces a model. @returns `undefined` if there is no model of this name */
  async replaceModel({ tenant, name }: ModelId, definition: ModelDefinition): Promise<StoredModel | undefined> {
    const values = { ...columnsOf(definition), updated_at: () => 'now()' };
    return toSavedModel(await this.rows.update({ tenant, name }, values, { returning: '*' }));
  }

  /** Deletes a model. @returns true if it existed */
  async delete({ tenant, name }: ModelId): Promise<boolean> {
    return (await this.rows.delete({ tenant, name })).affected === 1;
  }

  /** Returns the names of the tenant's models that use a credential, sorted by name. */
  async namesUsingCredential(tenant: string, credential: string): Promise<string[]> {
    const rows = await this.rows.find({ where: { tenant, auth: credential }, order: { name: 'ASC' } });
    return rows.map(({ name }) => name);
  }

  /**
   * Reads the current definition of a model from the database, so that a change by any replica is seen; `undefined` if
   * the tenant has no model of this name. Concurrent reads share one query.
   */
  async readModel({ tenant, name }: ModelId): Promise<StoredModel | undefined> {
    const row = await this.wanted.get(JSON.stringify([tenant, name]));
    return row && modelOf(row);
  }

  /** Reads a model as `readModel` does, but retries while the database is unreachable. */
  async awaitModel(id: ModelId, signal?: AbortSignal): Promise<StoredModel | undefined> {
    return retryWhileDatabaseDown(() => this.readModel(id), signal ?? new AbortController().signal);
  }

  /** True if the tenant has at least one model. Retries while the database is unreachable. */
  async isInUse(tenant: string, signal?: AbortSignal): Promise<boolean> {
    const existsAny = (): Promise<boolean> => this.rows.existsBy({ tenant });
    return retryWhileDatabaseDown(existsAny, signal ?? new AbortController().signal);
  }

  private async readAll(keys: readonly string[]): Promise<Map<string, ModelRow>> {
    const ids = keys.map((key) => JSON.parse(key) as [string, string]);
    const { rows } = await this.database.pool.query<ModelRow>({
      name: 'models-current',
      text: CURRENT,
      values: [ids.map(([tenant]) => tenant), ids.map(([, name]) => name)],
    });
    return new Map(rows.map((row) => [JSON.stringify([row.tenant, row.name]), row]));
  }
}

function columnsOf({ provider, model, baseUrl, auth, input, price, defaults }: ModelDefinition) {
  const optional = { base_url: baseUrl ?? null, auth: auth ?? null, price: price ?? null, defaults: defaults ?? null };
  return { provider, model, input, ...optional };
}

function modelOf(row: ModelRow): StoredModel {
  const { tenant, name, provider, model, base_url: baseUrl, auth, input, price, defaults } = row;
  return {
    tenant,
    name,
    provider,
    model,
    ...(baseUrl !== null && { baseUrl }),
    ...(auth !== null && { auth }),
    input,
    ...(price !== null && { price }),
    ...(defaults !== null && { defaults }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/**
 * Converts the row that a statement with `RETURNING` returned; `undefined` if the statement returned no row. TypeORM
 * does not map this row, so the members have the names of the columns.
 */
function toSavedModel({ raw }: InsertResult | UpdateResult): StoredModel | undefined {
  const [row] = raw as ModelRow[];
  return row && modelOf(row);
}

// Each turn of an agent that names a model runs this statement, so concurrent reads share one execution of it.
const CURRENT = `
  SELECT model.* FROM unnest($1::text[], $2::text[]) AS wanted (tenant, name) JOIN model USING (tenant, name)`;

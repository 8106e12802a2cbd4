import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type InsertResult, MoreThan, type Repository, type UpdateResult } from 'typeorm';
import { type NamedPage, refuseMoreThan } from '#libs/http-server';
import type { LimitDefinition, LimitId, StoredLimit } from '../limit.js';
import { KnownLimits } from './known-limits.js';
import { limitColumns, toLimit } from './limit-columns.js';
import { FlowLimitRow } from './limit-table.js';

/** Maximum number of limits of a tenant; concurrent requests may exceed it slightly. */
export const MOST_LIMITS = 100;

/** Stores the limits of tenants. */
@Injectable()
export class Limits {
  constructor(
    @InjectRepository(FlowLimitRow) private readonly rows: Repository<FlowLimitRow>,
    private readonly known: KnownLimits,
  ) {}

  /** Returns one page of the limits of a tenant, sorted by name. */
  async listLimits(tenant: string, { limit, after }: NamedPage): Promise<StoredLimit[]> {
    const where = { tenant, name: MoreThan(after) };
    return (await this.rows.find({ where, order: { name: 'ASC' }, take: limit })).map(toLimit);
  }

  async get({ tenant, name }: LimitId): Promise<StoredLimit | undefined> {
    const row = await this.rows.findOneBy({ tenant, name });
    return row ? toLimit(row) : undefined;
  }

  /**
   * Stores a new limit.
   * @returns `undefined` if the name is taken
   * @throws ProblemError 422 if the tenant has MOST_LIMITS limits
   */
  async createLimit({ tenant, name }: LimitId, definition: LimitDefinition): Promise<StoredLimit | undefined> {
    refuseMoreThan({ count: await this.rows.countBy({ tenant }), most: MOST_LIMITS, what: 'limits' });
    const values = { tenant, name, ...limitColumns(definition) };
    const insert = this.rows.createQueryBuilder().insert().values(values).orIgnore().returning('*');
    return this.toSaved(await insert.execute());
  }

  /** Replaces a limit. @returns `undefined` if there is no limit of this name */
  async replaceLimit({ tenant, name }: LimitId, definition: LimitDefinition): Promise<StoredLimit | undefined> {
    const values = { ...limitColumns(definition), updated_at: () => 'now()' };
    return this.toSaved(await this.rows.update({ tenant, name }, values, { returning: '*' }));
  }

  /** Deletes a limit. Work that waits for it begins. @returns true if it existed */
  async delete({ tenant, name }: LimitId): Promise<boolean> {
    const { affected } = await this.rows.delete({ tenant, name });
    this.known.forgetLimits();
    return affected === 1;
  }

  /** Converts the row that a statement with `RETURNING` returned, which TypeORM does not map. */
  private toSaved({ raw }: InsertResult | UpdateResult): StoredLimit | undefined {
    this.known.forgetLimits();
    const [row] = raw as FlowLimitRow[];
    return row && toLimit(row);
  }
}

import { parseDuration } from '#libs/expressions';
import type { LimitDefinition, StoredLimit } from '../limit.js';
import type { FlowLimitRow } from './limit-table.js';

/** Returns the values of the columns of a definition. */
export function limitColumns({ target, per, allTenants = false, concurrency, rate }: LimitDefinition) {
  return {
    target,
    per: per ?? null,
    all_tenants: allTenants,
    concurrency: concurrency ?? null,
    rate_count: rate?.count ?? null,
    rate_period: rate?.period ?? null,
    rate_burst: rate?.burst ?? null,
    rate_ms: rate ? (parseDuration(rate.period) ?? 0) / rate.count : null,
  };
}

/** Columns from which `toLimitDefinition` reads a definition. */
export type LimitColumns = Pick<
  FlowLimitRow,
  'target' | 'per' | 'all_tenants' | 'concurrency' | 'rate_count' | 'rate_period' | 'rate_burst'
>;

/** Returns the definition of a row. */
export function toLimitDefinition(row: LimitColumns): LimitDefinition {
  const { target, per, all_tenants: allTenants, concurrency, rate_count: count } = row;
  const { rate_period: period, rate_burst: burst } = row;
  return {
    target,
    ...(per !== null && { per }),
    ...(allTenants && { allTenants }),
    ...(concurrency !== null && { concurrency }),
    ...(count !== null && { rate: { count, period: period ?? '', burst: burst ?? 1 } }),
  };
}

/** Returns the limit of a row. */
export function toLimit(row: FlowLimitRow): StoredLimit {
  const { tenant, name, created_at: createdAt, updated_at: updatedAt } = row;
  return { tenant, name, ...toLimitDefinition(row), createdAt, updatedAt };
}

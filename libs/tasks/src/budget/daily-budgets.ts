import { Injectable } from '@nestjs/common';
import { Database } from '#libs/postgres';
import { AppConfig } from '#libs/service';
import type { TaskScope } from '../store/task-store.js';

/** Daily limit that is used up. Amounts are decimal numbers in US dollars. */
export interface ExceededDay {
  who: 'caller' | 'tenant';
  limit: string;
  spent: string;
}

/**
 * Limits of what a caller and a tenant may spend on models in a day (UTC), for all their Tasks together
 * (`CALLER_DAILY_BUDGET`, `TENANT_DAILY_BUDGET`). The sums of `usage_day` are compared with the limits before each
 * call, so that a limit is exceeded by the calls under way at most.
 */
@Injectable()
export class DailyBudgets {
  private readonly limits: { caller: string | undefined; tenant: string | undefined };

  constructor(
    private readonly database: Database,
    { callerDailyBudget: caller, tenantDailyBudget: tenant }: AppConfig,
  ) {
    this.limits = { caller, tenant };
  }

  /** True if there is a limit. */
  get isSet(): boolean {
    return this.limits.caller !== undefined || this.limits.tenant !== undefined;
  }

  /** Returns the limit of a caller or its tenant that is used up; `undefined` if neither is. */
  async findExceeded({ tenant, owner }: TaskScope): Promise<ExceededDay | undefined> {
    const { rows } = await this.database.pool.query<{ caller: string; tenant: string }>(SPENT, [tenant, owner]);
    const [spent = { caller: '0', tenant: '0' }] = rows;
    const exceeded = (['caller', 'tenant'] as const).find((who) => isSpent(spent[who], this.limits[who]));
    return exceeded && { who: exceeded, limit: this.limits[exceeded] ?? '', spent: spent[exceeded] };
  }
}

function isSpent(spent: string, limit: string | undefined): boolean {
  return limit !== undefined && Number(spent) >= Number(limit);
}

const SPENT = `
  SELECT trim_scale(coalesce(sum(cost), 0))::text AS tenant,
    trim_scale(coalesce(sum(cost) FILTER (WHERE owner = $2), 0))::text AS caller
  FROM usage_day WHERE tenant = $1 AND day = (now() AT TIME ZONE 'UTC')::date`;

import { Injectable, Optional } from '@nestjs/common';
import { Database, NO_KEY, ReplicaSignals, retryWhileUnreachable, type SignalTopic } from '#libs/postgres';
import { type AppliedLimit, applyLimit, type LimitedWork, type StoredLimit } from '../limit.js';
import { toLimit } from './limit-columns.js';
import type { FlowLimitRow } from './limit-table.js';

/** Topic of changed limits. A trigger of the table sends it. */
const CHANGED: SignalTopic = { name: 'flow_limit', shards: 1 };
/** Milliseconds for which the limits in memory are used without a new query, since a signal may be lost. */
const FRESH_MS = 1_000;
/** Maximum number of limits that a replica keeps in memory. */
const MOST_KNOWN = 10_000;

/** Limits of all tenants, as this replica knows them: at most FRESH_MS old. */
@Injectable()
export class KnownLimits {
  private limits: Promise<readonly StoredLimit[]> | undefined;
  private freshUntil = 0;

  constructor(
    private readonly database: Database,
    @Optional() signals?: ReplicaSignals,
  ) {
    const forget = (): void => this.forgetLimits();
    signals?.subscribeTopic(CHANGED, { wakeFor: forget, catchUp: forget }).watchKey(NO_KEY);
  }

  /** Returns the limits of a piece of work, in the order in which it must pass them. Waits while the database is away. */
  async findLimits(work: LimitedWork, signal: AbortSignal): Promise<AppliedLimit[]> {
    const limits = await retryWhileUnreachable(() => this.readLimits(), signal);
    return limits.flatMap((limit) => applyLimit(limit, work) ?? []);
  }

  /** Makes the next `findLimits` read the limits again. */
  forgetLimits(): void {
    this.freshUntil = 0;
  }

  private readLimits(): Promise<readonly StoredLimit[]> {
    const now = performance.now();
    if (this.limits && now < this.freshUntil) return this.limits;
    this.freshUntil = now + FRESH_MS;
    const limits = this.database.pool
      .query<FlowLimitRow>({ name: 'known-limits', text: READ, values: [MOST_KNOWN] })
      .then(({ rows }) => rows.map(toLimit));
    this.limits = limits;
    limits.catch(() => this.forgetLimits());
    return limits;
  }
}

const READ = 'SELECT * FROM flow_limit ORDER BY tenant, name LIMIT $1';

import { A2AError } from '#libs/protocol';
import type { Metrics } from '#libs/service';

/** Limit that refuses a request: that of the caller, of its tenant, or of this process. */
export type SlotRefusal = 'caller' | 'tenant' | 'service';

/** Account of a caller, and its tenant; `''` without tenants. */
export interface SlotOwner {
  readonly caller: string;
  readonly tenant: string;
}

/** Limits and texts of one kind of work. */
export interface SlotRules {
  /** Maximum number of concurrent requests in each replica. */
  readonly most: Readonly<Record<SlotRefusal, number>>;
  /** Sentences for callers without a full stop, such as `Four uploads of yours are under way`. */
  readonly refusals: Readonly<Record<SlotRefusal, string>>;
  /** Value of `limit` in the metadata of refusals. */
  readonly limit: string;
  readonly retryAfterSeconds: number;
  /** Gauge of taken slots, and counter of refusals by `whose`. */
  readonly metrics: { readonly taken: SlotMetric; readonly refused: SlotMetric };
}

interface SlotMetric {
  readonly name: string;
  readonly help: string;
}

/**
 * Limits how many requests of one kind this process handles concurrently.
 *
 * - A caller has at most `most.caller`.
 * - All callers of a tenant have at most `most.tenant`, so that no tenant takes all slots of a process.
 * - All callers together have at most `most.service`.
 */
export class CallerSlots {
  private total = 0;
  /** Taken slots. Callers and tenants without slots have no entry. */
  private readonly takenBy = { caller: new Map<string, number>(), tenant: new Map<string, number>() };
  private readonly refusals;

  constructor(
    metrics: Metrics,
    private readonly rules: SlotRules,
  ) {
    const { taken, refused } = rules.metrics;
    metrics.gauge(taken.name, taken.help, [], () => this.total);
    this.refusals = metrics.counter(refused.name, refused.help, ['whose']);
  }

  /**
   * Takes a slot.
   * @returns the function that releases it; further calls do nothing
   * @throws A2AError RATE_LIMITED at the limit of the caller or its tenant, OVERLOADED with status 503 at that of the
   *   process
   */
  takeSlot(owner: SlotOwner): () => void {
    const refusal = this.findRefusal(owner);
    if (refusal) {
      this.refusals.inc({ whose: refusal });
      throw this.errorOf(refusal);
    }
    this.add(owner, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.add(owner, -1);
      isHeld = false;
    };
  }

  private findRefusal({ caller, tenant }: SlotOwner): SlotRefusal | undefined {
    const { most } = this.rules;
    if ((this.takenBy.caller.get(caller) ?? 0) >= most.caller) return 'caller';
    if (tenant !== '' && (this.takenBy.tenant.get(tenant) ?? 0) >= most.tenant) return 'tenant';
    return this.total >= most.service ? 'service' : undefined;
  }

  private add({ caller, tenant }: SlotOwner, change: number): void {
    this.total += change;
    addTo(this.takenBy.caller, caller, change);
    addTo(this.takenBy.tenant, tenant, change);
  }

  private errorOf(refusal: SlotRefusal): A2AError {
    const { limit, refusals, retryAfterSeconds } = this.rules;
    const message = `${refusals[refusal]}; try again later`;
    const metadata = { limit, retryAfterSeconds: String(retryAfterSeconds) };
    return refusal === 'service'
      ? new A2AError('INTERNAL', { message, metadata, detailReason: 'OVERLOADED', status: 503 })
      : new A2AError('RATE_LIMITED', { message, metadata, detailReason: 'RATE_LIMITED' });
  }
}

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

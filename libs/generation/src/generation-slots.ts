import { Injectable } from '@nestjs/common';
import { A2AError } from '#libs/protocol';
import { Metrics } from '#libs/service';
import { MOST_AT_A_TIME, MOST_IN_PROCESS, MOST_OF_TENANT } from './generation-limits.js';

const RETRY_AFTER_SECONDS = '5';

/** Whose limit refuses a request: the caller's, that of its tenant, or that of this process. */
type SlotRefusal = 'caller' | 'tenant' | 'service';

/** The account of a caller, and its tenant; `''` where there are no tenants. */
export interface SlotOwner {
  caller: string;
  tenant: string;
}

/**
 * Counts the requests that this process answers at the moment.
 *
 * - A caller has at most `MOST_AT_A_TIME`.
 * - All callers of a tenant have at most `MOST_OF_TENANT`, so that no tenant takes all slots of a process.
 * - All callers together have at most `MOST_IN_PROCESS`.
 */
@Injectable()
export class GenerationSlots {
  private total = 0;
  /** Callers and tenants without any are not kept. */
  private readonly takenBy = { caller: new Map<string, number>(), tenant: new Map<string, number>() };
  private readonly refusals;

  constructor(metrics: Metrics) {
    metrics.gauge('parley_generations', 'Workflows that models write at the moment', [], () => this.total);
    const help = 'Descriptions refused because too many workflows are being written';
    this.refusals = metrics.counter('parley_generations_refused_total', help, ['whose']);
  }

  /**
   * Takes a slot.
   * @returns the function that gives it back; further calls of it do nothing
   * @throws A2AError RATE_LIMITED at the limit of the caller or its tenant, OVERLOADED with status 503 at that of the process
   */
  enter(owner: SlotOwner): () => void {
    const refusal = this.refusal(owner);
    if (refusal) {
      this.refusals.inc({ whose: refusal });
      throw slotError(refusal);
    }
    this.add(owner, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.add(owner, -1);
      isHeld = false;
    };
  }

  private refusal({ caller, tenant }: SlotOwner): SlotRefusal | undefined {
    if ((this.takenBy.caller.get(caller) ?? 0) >= MOST_AT_A_TIME) return 'caller';
    if (tenant !== '' && (this.takenBy.tenant.get(tenant) ?? 0) >= MOST_OF_TENANT) return 'tenant';
    return this.total >= MOST_IN_PROCESS ? 'service' : undefined;
  }

  private add({ caller, tenant }: SlotOwner, change: number): void {
    this.total += change;
    addTo(this.takenBy.caller, caller, change);
    addTo(this.takenBy.tenant, tenant, change);
  }
}

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

function slotError(refusal: SlotRefusal): A2AError {
  const metadata = { limit: 'generations', retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (refusal === 'service') {
    const message = 'Too many workflows are being written; try again later';
    return new A2AError('INTERNAL', { message, metadata, detailReason: 'OVERLOADED', status: 503 });
  }
  const message =
    refusal === 'caller'
      ? `A caller may have ${MOST_AT_A_TIME} workflows written at a time; try again later`
      : `The callers of a tenant may have ${MOST_OF_TENANT} workflows written at a time; try again later`;
  return new A2AError('RATE_LIMITED', { message, metadata, detailReason: 'RATE_LIMITED' });
}

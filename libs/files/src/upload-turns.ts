import { Injectable } from '@nestjs/common';
import { A2AError } from '#libs/protocol';
import { Metrics } from '#libs/service';

/** Uploads of one caller that this process receives at a time. */
const MOST_OF_CALLER = 4;
/** Uploads of all callers of one tenant that this process receives at a time. */
const MOST_OF_TENANT = 48;
/** Uploads of all callers that this process receives at a time. */
const MOST_IN_PROCESS = 64;
const RETRY_AFTER_SECONDS = '1';

/** The account of a caller, and its tenant; `''` where there are no tenants. */
export interface UploadingCaller {
  readonly caller: string;
  readonly tenant: string;
}

type TurnRefusal = 'caller' | 'tenant' | 'service';

/** Limits how many uploads are under way: of one caller, of all callers of a tenant, and of all callers of this process. */
@Injectable()
export class UploadTurns {
  private total = 0;
  /** Callers and tenants without any are not kept. */
  private readonly counts = { caller: new Map<string, number>(), tenant: new Map<string, number>() };
  private readonly refusals;

  constructor(metrics: Metrics) {
    metrics.gauge('parley_uploads', 'Uploads that this replica receives at the moment', [], () => this.total);
    const help = 'Uploads refused because too many are under way';
    this.refusals = metrics.counter('parley_uploads_refused_total', help, ['whose']);
  }

  /**
   * Lets an upload begin. @returns what to call, once, when it is over
   * @throws A2AError RATE_LIMITED at the limit of the caller or its tenant, OVERLOADED with status 503 at that of the process
   */
  enter(upload: UploadingCaller): () => void {
    const refusal = this.refusal(upload);
    if (refusal) {
      this.refusals.inc({ whose: refusal });
      throw turnError(refusal);
    }
    this.add(upload, 1);
    return () => this.add(upload, -1);
  }

  private refusal({ caller, tenant }: UploadingCaller): TurnRefusal | undefined {
    if ((this.counts.caller.get(caller) ?? 0) >= MOST_OF_CALLER) return 'caller';
    if (tenant !== '' && (this.counts.tenant.get(tenant) ?? 0) >= MOST_OF_TENANT) return 'tenant';
    return this.total >= MOST_IN_PROCESS ? 'service' : undefined;
  }

  private add({ caller, tenant }: UploadingCaller, change: number): void {
    this.total += change;
    addTo(this.counts.caller, caller, change);
    addTo(this.counts.tenant, tenant, change);
  }
}

function addTo(counts: Map<string, number>, key: string, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}

function turnError(refusal: TurnRefusal): A2AError {
  const metadata = { limit: 'uploads', retryAfterSeconds: RETRY_AFTER_SECONDS };
  if (refusal === 'service') {
    const message = 'Too many uploads are under way; try again later';
    return new A2AError('INTERNAL', { message, metadata, detailReason: 'OVERLOADED', status: 503 });
  }
  const whose =
    refusal === 'caller' ? `${MOST_OF_CALLER} uploads of yours` : `${MOST_OF_TENANT} uploads of your tenant`;
  const message = `${whose} are under way; try again later`;
  return new A2AError('RATE_LIMITED', { message, metadata, detailReason: 'RATE_LIMITED' });
}

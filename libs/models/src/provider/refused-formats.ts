import { createHash } from 'node:crypto';
import type { JsonObject } from '#libs/protocol';

/** Maximum number of refusals that a process keeps. One takes about 200 bytes, so all take about 200 KB. */
const MOST_REFUSALS = 1_000;
/** Milliseconds until a refused format is tried again, as an endpoint may have been updated. */
const KEPT_MS = 10 * 60_000;

/** Request of an answer in a response format. */
export interface FormatRequest {
  /** Tenant that calls the model, so that tenants do not affect each other. */
  tenant: string;
  baseUrl: string;
  /** Name of the model at its provider. */
  model: string;
  schema: JsonObject;
  hasTools: boolean;
}

/**
 * Remembers which response formats the endpoints of models have refused, so that each further call is sent once.
 * - A refusal counts for one tenant, endpoint, model and schema, with or without tools, for ten minutes.
 * - At most MOST_REFUSALS are kept; the oldest one is evicted first.
 */
export class RefusedFormats {
  /** Times at which refusals expire, by key, oldest first. */
  private readonly expiries = new Map<string, number>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** True if the endpoint has refused this format in the last ten minutes. */
  has(request: FormatRequest): boolean {
    const key = keyOf(request);
    const expiry = this.expiries.get(key);
    if (expiry !== undefined && expiry <= this.now()) this.expiries.delete(key);
    return this.expiries.has(key);
  }

  add(request: FormatRequest): void {
    const key = keyOf(request);
    this.expiries.delete(key);
    this.expiries.set(key, this.now() + KEPT_MS);
    const [oldest] = this.expiries.keys();
    if (this.expiries.size > MOST_REFUSALS && oldest !== undefined) this.expiries.delete(oldest);
  }
}

function keyOf({ tenant, baseUrl, model, schema, hasTools }: FormatRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, baseUrl, model, schema, hasTools]))
    .digest('base64');
}

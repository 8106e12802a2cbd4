import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { A2AError } from '#libs/protocol';
import { AppConfig, Metrics } from '#libs/service';
import type { Caller } from './caller.js';
import { RateMeter } from './rate-meter.js';

/** Limit that a refused call exceeded. */
export type LimitReason = 'rate' | 'concurrency' | 'streams';

interface Usage {
  meter: RateMeter | undefined;
  calls: number;
  streams: number;
}

/** Maximum number of idle callers in memory; further ones are forgotten. */
const MOST_KEPT = 10_000;

/** Value of `Retry-After` after a transient failure, in seconds. */
const UNAVAILABLE_SECONDS = '1';

const TEXTS: Readonly<Record<LimitReason, string>> = {
  rate: 'Too many requests; try again later',
  concurrency: 'Too many requests of yours are under way',
  streams: 'Too many streams of yours are open',
};

/**
 * Limits what one caller may use of this replica: request rate (RATE_LIMIT), concurrent requests (CONCURRENCY_LIMIT),
 * and open streams (STREAM_LIMIT). Replicas share nothing; see ADR 18. Anonymous callers are distinguished by their
 * address.
 */
@Injectable()
export class CallerLimits {
  private readonly usages = new Map<string, Usage>();
  private readonly refusals;

  constructor(
    private readonly config: Pick<AppConfig, 'limits'>,
    metrics: Pick<Metrics, 'counter'>,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.refusals = metrics.counter('parley_calls_refused_total', 'Calls that were over a limit of their caller', [
      'reason',
    ]);
  }

  /** True if any limit is configured. */
  get limits(): boolean {
    return Object.values(this.config.limits).some((it) => it !== undefined);
  }

  /**
   * Admits a request. @returns the function to call, once, when it was answered
   * @throws A2AError RATE_LIMITED
   */
  enterRequest(who: string): () => void {
    const usage = this.usageOf(who);
    const { concurrency } = this.config.limits;
    if (concurrency !== undefined && usage.calls >= concurrency) throw this.refuseCall('concurrency', 1);
    const waitMs = usage.meter?.takeToken(this.now()) ?? 0;
    if (waitMs > 0) throw this.refuseCall('rate', Math.ceil(waitMs / 1000));
    usage.calls += 1;
    return () => void (usage.calls -= 1);
  }

  /**
   * Admits a stream. @returns the function to call, once, when it has ended
   * @throws A2AError RATE_LIMITED
   */
  enterStream(who: string): () => void {
    const { streams } = this.config.limits;
    if (streams === undefined) return doNothing;
    const usage = this.usageOf(who);
    if (usage.streams >= streams) throw this.refuseCall('streams', 5);
    usage.streams += 1;
    return () => void (usage.streams -= 1);
  }

  private usageOf(who: string): Usage {
    const known = this.usages.get(who);
    if (known) return known;
    if (this.usages.size >= MOST_KEPT) this.forgetIdle();
    const { rate } = this.config.limits;
    const usage = { meter: rate && new RateMeter(rate), calls: 0, streams: 0 };
    this.usages.set(who, usage);
    return usage;
  }

  /** Forgets callers that have been idle for so long that a new entry is equivalent. */
  private forgetIdle(): void {
    const now = this.now();
    for (const [who, { meter, calls, streams }] of this.usages) {
      if (calls === 0 && streams === 0 && (meter?.isIdle(now) ?? true)) this.usages.delete(who);
    }
  }

  private refuseCall(reason: LimitReason, retryAfterSeconds: number): A2AError {
    this.refusals.inc({ reason });
    return new A2AError('RATE_LIMITED', {
      message: TEXTS[reason],
      metadata: { limit: reason, retryAfterSeconds: String(retryAfterSeconds) },
      detailReason: 'RATE_LIMITED',
    });
  }
}

/**
 * Returns the name under which a caller's use is counted. It is unique for every caller, whatever characters names
 * contain.
 */
export function limitName({ tenant, owner }: Pick<Caller, 'tenant' | 'owner'>, address: string | undefined): string {
  return owner === '' ? `@${address ?? ''}` : `${tenant.length}:${tenant}${owner}`;
}

/**
 * Returns the value of `Retry-After` for refusals and transient errors (503), in seconds; `undefined` for other errors.
 */
export function retryAfter(error: unknown): string | undefined {
  if (!(error instanceof A2AError)) return undefined;
  return error.metadata['retryAfterSeconds'] ?? (error.status === 503 ? UNAVAILABLE_SECONDS : undefined);
}

/** Sets the `Retry-After` header on a response. */
export function setRetryAfter(error: unknown, reply: Pick<FastifyReply, 'header'>): void {
  const seconds = retryAfter(error);
  if (seconds !== undefined) void reply.header('retry-after', seconds);
}

function doNothing(): void {}

import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { A2AError } from '#libs/protocol';
import { addCount, AppConfig, COSTLY_BODY, type LoopShares, Metrics } from '#libs/service';
import { type Caller, callerOf } from './caller.js';

/** Rate limit: at most `requests` in a period of `perMs` milliseconds. */
export interface Rate {
  readonly requests: number;
  readonly perMs: number;
}

/**
 * Token bucket that holds the requests of one period and fills evenly. Its state is one number: the time at which the
 * bucket will be full (the "generic cell rate algorithm").
 */
export class RateMeter {
  private fullAt = 0;
  private readonly each: number;

  constructor(private readonly rate: Rate) {
    this.each = rate.perMs / rate.requests;
  }

  /**
   * Takes one token.
   * @param now milliseconds of a monotonic clock
   * @returns 0 if a token was taken; otherwise the milliseconds until one is available
   */
  takeToken(now: number): number {
    const fullAt = Math.max(this.fullAt, now) + this.each;
    // The tolerance keeps a sum of fractions from missing the last token.
    const wait = fullAt - now - this.rate.perMs - this.each / 1000;
    if (wait > 0) return wait;
    this.fullAt = fullAt;
    return 0;
  }

  /**
   * True if the bucket is full: a new bucket would be equal, so this one may be discarded.
   * @param now milliseconds of a monotonic clock
   */
  isIdle(now: number): boolean {
    return now >= this.fullAt;
  }
}

/** Limit that a refused call exceeded. */
export type LimitReason = 'rate' | 'concurrency' | 'streams';

interface Usage {
  meter: RateMeter | undefined;
  calls: number;
  streams: number;
}

/** Number of callers in memory at which idle callers are removed before a new caller is added. */
const MOST_KEPT = 10_000;

/** Value of the `Retry-After` header, in seconds, for a transient failure with status 503. */
const UNAVAILABLE_SECONDS = '1';

const TEXTS: Readonly<Record<LimitReason, string>> = {
  rate: 'Too many requests; try again later',
  concurrency: 'Too many requests of yours are under way',
  streams: 'Too many streams of yours are open',
};

/**
 * Limits what one caller may use of this replica: request rate (RATE_LIMIT), concurrent requests (CONCURRENCY_LIMIT),
 * and open streams (STREAM_LIMIT). Each replica counts by itself (ADR 18). Callers without authentication are
 * distinguished by their address. Other classes limit the rest: CallerSlots the number of costly requests, LoopTurns
 * the time on the event loop, and InFlight the bytes of requests.
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
   * Admits a request within the rate and concurrency limits.
   * @param who name of the caller, see `limitName`
   * @returns the function to call once, when the request is answered
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
   * Admits a stream within the limit of open streams.
   * @param who name of the caller, see `limitName`
   * @returns the function to call once, when the stream has ended
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

  /** Removes the entries of callers whose token buckets are full again, since such an entry equals a new one. */
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
 * Returns the name under which limits count a caller. It is unique for every caller, whatever characters tenant and
 * owner contain.
 * @param address address of the client, which distinguishes callers without authentication
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

/** Sets the `Retry-After` header on a response, if `retryAfter` has a value for the error. */
export function setRetryAfter(error: unknown, reply: Pick<FastifyReply, 'header'>): void {
  const seconds = retryAfter(error);
  if (seconds !== undefined) void reply.header('retry-after', seconds);
}

function doNothing(): void {}

const RETRY_AFTER_SECONDS = '2';

/**
 * Schedules the costly requests of authenticated callers on the event loop, so that callers share its time (see
 * LoopShares).
 */
export class LoopTurns {
  constructor(private readonly shares: LoopShares) {}

  /**
   * Starts a request by calling `act`.
   *
   * - A request without a body starts at once, unless its caller has used more than its share of the event loop, or
   *   the request begins a stream: then it waits for its caller's turn.
   * - A request with a body starts at once; its body waits instead (`readBody`).
   *
   * @param refuse called with RATE_LIMITED if too many requests of the caller wait
   */
  beginRequest(request: FastifyRequest, isStream: boolean, act: () => void, refuse: (error: Error) => void): void {
    const who = accountOf(request);
    if (who === undefined) return act();
    this.shares.noteRequest(who);
    if (hasBody(request) || !(isStream || this.shares.isOwing(who))) return act();
    if (!this.shares.scheduleCostly(who, act)) refuse(tooManyWaiting());
  }

  /**
   * Calls `act`, which parses a body that has arrived: at once for a body of fewer than COSTLY_BODY bytes or a caller
   * without authentication, otherwise in the caller's turn.
   * @param refuse called with RATE_LIMITED if too many requests of the caller wait
   */
  readBody(request: FastifyRequest, bytes: number, act: () => void, refuse: (error: Error) => void): void {
    const who = bytes < COSTLY_BODY ? undefined : accountOf(request);
    if (who === undefined) return act();
    if (!this.shares.scheduleCostly(who, act)) refuse(tooManyWaiting());
  }
}

/**
 * Returns the name of the account that LoopShares charges with the caller's time on the event loop; `undefined` without
 * authentication.
 */
function accountOf({ raw }: FastifyRequest): string | undefined {
  const caller = callerOf(raw);
  return caller.owner === '' ? undefined : limitName(caller, undefined);
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function tooManyWaiting(): A2AError {
  return new A2AError('RATE_LIMITED', {
    message: 'Too many costly requests of yours are waiting; try again later',
    metadata: { limit: 'event-loop', retryAfterSeconds: RETRY_AFTER_SECONDS },
    detailReason: 'RATE_LIMITED',
  });
}

/** Permit to answer a request with a stream. `admitStream` uses it when a handler is about to send a stream. */
export interface StreamPermit {
  /** Counts the response as a stream of the caller until it closes. @throws A2AError RATE_LIMITED */
  openStream(): void;
}

/** Key of the permit on the request object. */
const PERMIT = Symbol('stream permit');

interface Permitted extends IncomingMessage {
  [PERMIT]?: StreamPermit | undefined;
}

/** Stores the permit of a request for `admitStream`; `undefined` removes it, once it has been used. */
export function permitStreams(request: IncomingMessage, permit: StreamPermit | undefined): void {
  (request as Permitted)[PERMIT] = permit;
}

/**
 * Admits the response as a stream, which counts against the caller's limits until it closes. Call this function before
 * any work is done for the stream; repeated calls have no effect. For routes that respond with nothing but a stream,
 * the auth guard has already done this.
 * @throws A2AError RATE_LIMITED
 */
export function admitStream(reply: FastifyReply): void {
  const { raw } = reply.request;
  const permit = (raw as Permitted)[PERMIT];
  if (!permit) return;
  try {
    permit.openStream();
    permitStreams(raw, undefined);
  } catch (error) {
    void reply.header('retry-after', retryAfter(error));
    throw error;
  }
}

/** Owner of the limit that refused a request: the caller, its tenant, or this process (`service`). */
export type SlotRefusal = 'caller' | 'tenant' | 'service';

/** Name of the account that counts a caller's slots, and the caller's tenant; `''` without tenants. */
export interface SlotOwner {
  readonly caller: string;
  readonly tenant: string;
}

/** Limits and error texts of one kind of request. */
export interface SlotRules {
  /** Maximum number of concurrent requests in each replica. */
  readonly most: Readonly<Record<SlotRefusal, number>>;
  /** Error texts for callers: sentences without a full stop, such as `Four uploads of yours are under way`. */
  readonly refusals: Readonly<Record<SlotRefusal, string>>;
  /** Name of the limit, which refusals contain as the member `limit` of their metadata. */
  readonly limit: string;
  readonly retryAfterSeconds: number;
  /** Metrics: a gauge of the slots in use, and a counter of refusals by the owner of the limit (`whose`). */
  readonly metrics: { readonly taken: SlotMetric; readonly refused: SlotMetric };
}

interface SlotMetric {
  readonly name: string;
  readonly help: string;
}

/**
 * Limits how many requests of one kind this process handles concurrently: each takes a slot.
 *
 * - A caller has at most `most.caller` slots.
 * - All callers of a tenant have at most `most.tenant`, so that no tenant takes all slots of a process.
 * - All callers together have at most `most.service`.
 */
export class CallerSlots {
  private total = 0;
  /** Numbers of slots in use. Callers and tenants without slots have no entry. */
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
   * @returns the function that frees the slot; further calls of it do nothing
   * @throws A2AError RATE_LIMITED at the limit of the caller or its tenant, OVERLOADED with status 503 at the limit
   *   of the process
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
    addCount(this.takenBy.caller, caller, change);
    addCount(this.takenBy.tenant, tenant, change);
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

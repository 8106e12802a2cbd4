import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Metrics } from '../metrics.js';

/** Caller whose bytes are counted. */
export interface InFlightOwner {
  readonly tenant: string;
  readonly owner: string;
}

/** Limit that refuses a request: the limit of its caller, of its tenant, or of all callers together. */
export type InFlightRefusal = 'caller' | 'tenant' | 'service';

/**
 * Maximum bytes of a small request. Large requests must leave some room, in which small requests are still accepted.
 */
export const SMALL_REQUEST = 64 * 1024;
/**
 * Fraction of a limit that bytes on their way (`moving`) may take. The rest is for executing Tasks, which use many
 * times the bytes of the requests that started them.
 */
const ON_ITS_WAY = 1 / 8;

/** Fraction of the total limit that the callers of one tenant may take together. */
const TENANT_SHARE = 3 / 4;

/**
 * Multiple of the total limit above which small requests are refused too. It is greater than 1, because one run may
 * take the whole limit for a moment.
 */
const FOR_SMALL = 3;

/** Fraction of a limit above which `isFull` is true by default, so that a run starts no more nodes. */
const FOR_WORK = 1 / 2;

/**
 * Counted bytes. `moving`, on their way: requests, and events that are not durable yet. `kept`: data of executing
 * Tasks.
 */
interface Counted {
  moving: number;
  kept: number;
}

interface CountedCaller extends Counted {
  /** Counted bytes of the caller's tenant; `undefined` for the tenant `''`. */
  tenant: Counted | undefined;
}

/**
 * Counts the bytes in this process that came from callers and are not processed yet: requests, events that are not
 * durable, and data of executing Tasks. Refuses requests beyond IN_FLIGHT_LIMIT and CALLER_IN_FLIGHT_LIMIT.
 *
 * - A request is refused before any of it is read, and never after it was accepted.
 * - At most an eighth of a limit may be on its way. For small requests this rule applies to the limits of the caller
 *   and of the tenant only.
 * - The callers of one tenant together get at most three quarters of the limit of all callers, so that other tenants
 *   always have room.
 * - Small requests are refused above FOR_SMALL times the limit of all callers, or if kept bytes take all of it.
 * - A request of any size is accepted while nothing else is in flight.
 */
@Injectable()
export class InFlight {
  /** Bytes by caller. Callers without bytes in flight have no entry. */
  private readonly callers = new Map<string, CountedCaller>();
  /** Bytes by tenant. Tenants without bytes in flight, and the empty tenant, have no entry. */
  private readonly tenants = new Map<string, Counted>();
  private readonly all: Counted = { moving: 0, kept: 0 };
  private large = 0;
  private readonly refusals;

  constructor(
    private readonly config: AppConfig,
    metrics: Metrics,
  ) {
    metrics.gauge('parley_in_flight_bytes', 'Bytes that came in and are not done with', [], () => this.total);
    this.refusals = metrics.counter('parley_in_flight_refused_total', 'Requests refused for what is in flight', [
      'whose',
    ]);
  }

  /** Bytes in flight of all callers. */
  get total(): number {
    return this.all.moving + this.all.kept;
  }

  /** Total bytes of all large requests and events since startup, finished and refused ones included. */
  get largeBytes(): number {
    return this.large;
  }

  /** Returns the name of the account that counts a caller's bytes. */
  static accountOf({ tenant, owner }: InFlightOwner): string {
    // The length prevents collisions: names may contain any separator.
    return `${tenant.length}:${tenant}${owner}`;
  }

  /**
   * Admits a request and counts its bytes, or refuses it.
   * @returns the function that stops counting the bytes, to call exactly once; or the limit that refuses the request
   */
  admitRequest(whose: InFlightOwner, bytes: number): (() => void) | InFlightRefusal {
    const account = InFlight.accountOf(whose);
    const refusal = this.findRefusal(account, bytes);
    if (refusal) {
      this.countRefusal(refusal);
      return refusal;
    }
    this.addBytes(account, bytes);
    return () => this.addBytes(account, -bytes);
  }

  /**
   * Adds bytes of accepted work to an account; negative numbers subtract. Never refuses.
   * @param moving bytes on their way
   * @param kept bytes that stay in memory while a Task executes
   */
  addBytes(account: string, moving: number, kept = 0): void {
    this.all.moving += moving;
    this.all.kept += kept;
    if (moving > SMALL_REQUEST) this.large += moving;
    if (moving === 0 && kept === 0) return;
    const held = this.callers.get(account) ?? this.openAccount(account);
    for (const sum of [held, held.tenant]) {
      if (!sum) continue;
      sum.moving += moving;
      sum.kept += kept;
    }
    if (isNothing(held)) this.callers.delete(account);
    if (held.tenant && isNothing(held.tenant)) this.tenants.delete(tenantOf(account));
  }

  private openAccount(account: string): CountedCaller {
    const name = tenantOf(account);
    let tenant = name === '' ? undefined : this.tenants.get(name);
    if (!tenant && name !== '') this.tenants.set(name, (tenant = { moving: 0, kept: 0 }));
    const caller = { moving: 0, kept: 0, tenant };
    this.callers.set(account, caller);
    return caller;
  }

  /**
   * Counts the bytes of a refused request in `largeBytes`. They were read and dropped, but were in memory for a moment.
   */
  noteDropped(bytes: number): void {
    this.large += bytes;
  }

  /**
   * True if a caller, or all callers together, exceed a fraction of their limits. Deferrable work does not start then,
   * so that requests find room.
   * @param account account of a caller; absent: all callers together
   * @param share the fraction, from 0 to 1
   */
  isFull(account?: string, share = FOR_WORK): boolean {
    const { inFlightBytes, callerInFlightBytes } = this.config.memory;
    const { moving, kept } = (account === undefined ? undefined : this.callers.get(account)) ?? { moving: 0, kept: 0 };
    return this.total > inFlightBytes * share || moving + kept > callerInFlightBytes * share;
  }

  /** Counts a refused request in the metrics, by the limit that refused it. */
  countRefusal(whose: InFlightRefusal): void {
    this.refusals.inc({ whose });
  }

  /**
   * Returns the limit that refuses a request of so many bytes; `undefined` if it may be admitted.
   * @param counted bytes of the request that are counted already
   */
  findRefusal(account: string, bytes: number, counted = 0): InFlightRefusal | undefined {
    const { inFlightBytes, callerInFlightBytes } = this.config.memory;
    const held = this.callers.get(account);
    const more = bytes - counted;
    if (held && exceedsLimit(held, more, counted, callerInFlightBytes)) return 'caller';
    const tenant = held?.tenant ?? this.tenants.get(tenantOf(account));
    if (tenant && exceedsLimit(tenant, more, counted, inFlightBytes * TENANT_SHARE)) return 'tenant';
    if (bytes > SMALL_REQUEST) return exceedsLimit(this.all, more, counted, inFlightBytes) ? 'service' : undefined;
    const isFull = this.all.kept + more > inFlightBytes || this.total + more > inFlightBytes * FOR_SMALL;
    return this.total > counted && isFull ? 'service' : undefined;
  }
}

/** Returns the tenant of an account that `InFlight.accountOf` made. */
function tenantOf(account: string): string {
  if (account.startsWith('0:')) return '';
  const colon = account.indexOf(':');
  return account.slice(colon + 1, colon + 1 + Number(account.slice(0, colon)));
}

function isNothing({ moving, kept }: Counted): boolean {
  return moving === 0 && kept === 0;
}

/**
 * True if `more` bytes exceed the limit. A request never exceeds it while only its own `counted` bytes are in flight.
 */
function exceedsLimit({ moving, kept }: Counted, more: number, counted: number, limit: number): boolean {
  if (moving > counted && moving + more > limit * ON_ITS_WAY) return true;
  return moving + kept > counted && moving + kept + more > limit;
}

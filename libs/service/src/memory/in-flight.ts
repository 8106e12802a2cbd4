import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Metrics } from '../metrics/metrics.js';

/** Whose bytes are counted. */
export interface InFlightOwner {
  readonly tenant: string;
  readonly owner: string;
}

/** Why a request is not let in: its caller has too much in flight, its tenant has, or all callers together have. */
export type InFlightRefusal = 'caller' | 'tenant' | 'service';

/** A request of at most so many bytes is small: it finds room that large ones have to leave. */
export const SMALL_REQUEST = 64 * 1024;
/** The share of a limit that may be on its way: what a Task makes of a request is many times what came in. */
const ON_ITS_WAY = 1 / 8;

/** The share of a limit that the callers of one tenant may have together, above that of one caller, where there are tenants. */
const TENANT_SHARE = 3 / 4;

/** How often the limit may be there before small requests are refused too: one run may take all of it for a moment. */
const FOR_SMALL = 3;

/** The share of a limit that may be there when a run starts more of its nodes. */
const FOR_WORK = 1 / 2;

/** Bytes on their way: of requests, and of events that are not durable yet. Bytes kept: of Tasks at work. */
interface Counted {
  moving: number;
  kept: number;
}

interface CountedCaller extends Counted {
  /** The sum of the caller's tenant, where there are tenants. */
  tenant: Counted | undefined;
}

/**
 * The bytes in this process that came from callers and are not done with: requests under way, events that are not yet
 * durable, and what Tasks that are at work keep in memory (IN_FLIGHT_LIMIT, CALLER_IN_FLIGHT_LIMIT). A request is refused
 * before any of it is read, and never once it was accepted. Of a limit an eighth may be on its way: of one caller's, for
 * any request of his; of all callers', for a large one. The callers of one tenant have three quarters of the limit of all
 * together, so no number of names in one tenant takes a replica from the others. Small requests are refused beyond FOR_SMALL
 * times the limit, or where what is kept takes all of it. Where nothing else is in flight, one of any size is let in.
 */
@Injectable()
export class InFlight {
  /** By caller; one that has nothing in flight is not kept. */
  private readonly callers = new Map<string, CountedCaller>();
  /** By name; one that has nothing in flight is not kept, nor that of callers without a tenant. */
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

  /** Of all callers. */
  get total(): number {
    return this.all.moving + this.all.kept;
  }

  /** Number of bytes of everything large that ever came in, whether it is done with, or was read and dropped. */
  get largeBytes(): number {
    return this.large;
  }

  /** Under which name a caller's bytes are counted. */
  static accountOf({ tenant, owner }: InFlightOwner): string {
    // The length keeps apart what a separator would not: names may hold any character.
    return `${tenant.length}:${tenant}${owner}`;
  }

  /** Lets a request in, and counts it until the function that comes back is called, once; or says why not. */
  enter(whose: InFlightOwner, bytes: number): (() => void) | InFlightRefusal {
    const account = InFlight.accountOf(whose);
    const refusal = this.refusal(account, bytes);
    if (refusal) {
      this.refused(refusal);
      return refusal;
    }
    this.add(account, bytes);
    return () => this.add(account, -bytes);
  }

  /**
   * Counts bytes that are there now; what was accepted is not refused any more. Negative numbers take them back.
   * @param moving on their way
   * @param kept in memory as long as a Task is at work
   */
  add(account: string, moving: number, kept = 0): void {
    this.all.moving += moving;
    this.all.kept += kept;
    if (moving > SMALL_REQUEST) this.large += moving;
    if (moving === 0 && kept === 0) return;
    const held = this.callers.get(account) ?? this.begin(account);
    for (const sum of [held, held.tenant]) {
      if (!sum) continue;
      sum.moving += moving;
      sum.kept += kept;
    }
    if (isNothing(held)) this.callers.delete(account);
    if (held.tenant && isNothing(held.tenant)) this.tenants.delete(tenantOf(account));
  }

  private begin(account: string): CountedCaller {
    const name = tenantOf(account);
    let tenant = name === '' ? undefined : this.tenants.get(name);
    if (!tenant && name !== '') this.tenants.set(name, (tenant = { moving: 0, kept: 0 }));
    const caller = { moving: 0, kept: 0, tenant };
    this.callers.set(account, caller);
    return caller;
  }

  /** Notes bytes of a refused request that were read and dropped: they were in memory for a moment. */
  dropped(bytes: number): void {
    this.large += bytes;
  }

  /**
   * True if a caller, or all callers together, have more than a share of what they may: work that can wait is not begun
   * then, so that requests find room.
   * @param account a caller; absent: all together
   */
  isFull(account?: string, share = FOR_WORK): boolean {
    const { inFlightBytes, callerInFlightBytes } = this.config.memory;
    const { moving, kept } = (account === undefined ? undefined : this.callers.get(account)) ?? { moving: 0, kept: 0 };
    return this.total > inFlightBytes * share || moving + kept > callerInFlightBytes * share;
  }

  /** A request was refused for this reason. */
  refused(whose: InFlightRefusal): void {
    this.refusals.inc({ whose });
  }

  /**
   * Why a request may not have so many bytes.
   * @param counted how many of them are in flight already
   */
  refusal(account: string, bytes: number, counted = 0): InFlightRefusal | undefined {
    const { inFlightBytes, callerInFlightBytes } = this.config.memory;
    const held = this.callers.get(account);
    const more = bytes - counted;
    if (held && exceeds(held, more, counted, callerInFlightBytes)) return 'caller';
    const tenant = held?.tenant ?? this.tenants.get(tenantOf(account));
    if (tenant && exceeds(tenant, more, counted, inFlightBytes * TENANT_SHARE)) return 'tenant';
    if (bytes > SMALL_REQUEST) return exceeds(this.all, more, counted, inFlightBytes) ? 'service' : undefined;
    const isFull = this.all.kept + more > inFlightBytes || this.total + more > inFlightBytes * FOR_SMALL;
    return this.total > counted && isFull ? 'service' : undefined;
  }
}

/** The tenant in what `InFlight.accountOf` gives. */
function tenantOf(account: string): string {
  if (account.startsWith('0:')) return '';
  const colon = account.indexOf(':');
  return account.slice(colon + 1, colon + 1 + Number(account.slice(0, colon)));
}

function isNothing({ moving, kept }: Counted): boolean {
  return moving === 0 && kept === 0;
}

/** Whether there would be too much with so many bytes more, beside what is of the request itself. */
function exceeds({ moving, kept }: Counted, more: number, counted: number, limit: number): boolean {
  if (moving > counted && moving + more > limit * ON_ITS_WAY) return true;
  return moving + kept > counted && moving + kept + more > limit;
}

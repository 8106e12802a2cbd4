import { callerKey } from '#libs/service';

/** Maximum number of concurrent lanes of one process. A lane sends the notifications of one queue. */
export const PLACES = 48;
/** Maximum number of concurrent lanes (workers on one queue) of one process for one caller. */
export const PLACES_OF_A_CALLER = 24;
/** Maximum number of concurrent lanes (workers on one queue) of one process for one tenant. */
const PLACES_OF_A_TENANT = 36;
/**
 * Maximum number of concurrent lanes to unproven receivers, which did not answer the last attempt promptly or had none
 * yet.
 */
const UNPROVEN = 32;
/**
 * Maximum number of concurrent lanes, for one caller, to unproven receivers. A receiver is unproven if it did not
 * answer the last attempt promptly.
 */
export const UNPROVEN_OF_A_CALLER = 8;
/** Maximum number of concurrent lanes to unproven receivers for one tenant. */
export const UNPROVEN_OF_A_TENANT = 16;

/** Caller whose notifications a lane sends; `answered` is true if the receiver answered the last attempt promptly. */
export interface PlaceUser {
  tenant: string;
  owner: string;
  answered: boolean;
}

interface Use {
  all: number;
  unproven: number;
}

/**
 * Places of this process for sending notifications: one for each lane. A caller, and a tenant, may take only some of
 * them. Only some may be taken for receivers that did not answer promptly, so that places stay free for the other
 * receivers.
 */
export class PushPlaces {
  private readonly total: Use = { all: 0, unproven: 0 };
  private readonly callers = new Map<string, Use>();
  private readonly tenants = new Map<string, Use>();

  /** True if this user may have another lane (a worker on one queue). */
  hasRoom(user: PlaceUser): boolean {
    const { total, caller, tenant } = this.usesOf(user);
    if (total.all >= PLACES || caller.all >= PLACES_OF_A_CALLER || tenant.all >= PLACES_OF_A_TENANT) return false;
    return user.answered || !this.isCrowded(user);
  }

  /** True if all places for unproven receivers are taken: in this process, for the caller, or for its tenant. */
  isCrowded(user: Pick<PlaceUser, 'tenant' | 'owner'>): boolean {
    const { total, caller, tenant } = this.usesOf(user);
    return (
      total.unproven >= UNPROVEN || caller.unproven >= UNPROVEN_OF_A_CALLER || tenant.unproven >= UNPROVEN_OF_A_TENANT
    );
  }

  /** True if no user may have another lane (a worker on one queue). */
  get isFull(): boolean {
    return this.total.all >= PLACES;
  }

  /**
   * Counts a new lane (a worker on one queue) of this user. Call `giveBack` with the same user when the lane has ended.
   */
  takePlace(user: PlaceUser): void {
    this.changeUse(user, 1);
  }

  giveBack(user: PlaceUser): void {
    this.changeUse(user, -1);
  }

  private changeUse(user: PlaceUser, by: 1 | -1): void {
    const { total, caller, tenant } = this.usesOf(user);
    for (const use of [total, caller, tenant]) {
      use.all += by;
      if (!user.answered) use.unproven += by;
    }
    keepUse(this.callers, callerKey(user), caller);
    keepUse(this.tenants, user.tenant, tenant);
  }

  private usesOf(user: Pick<PlaceUser, 'tenant' | 'owner'>): Record<'total' | 'caller' | 'tenant', Use> {
    return {
      total: this.total,
      caller: this.callers.get(callerKey(user)) ?? { all: 0, unproven: 0 },
      tenant: this.tenants.get(user.tenant) ?? { all: 0, unproven: 0 },
    };
  }
}

function keepUse(uses: Map<string, Use>, key: string, use: Use): void {
  if (use.all > 0) uses.set(key, use);
  else uses.delete(key);
}

import { InFlight, type InFlightOwner } from '#libs/service';

/** Cancels that this process has under way: of one caller at the agents of one origin, of one caller, of one tenant, in all. */
const CANCELS_AT_ORIGIN = 4;
const CANCELS_OF_CALLER = 16;
const CANCELS_OF_TENANT = 48;
const CANCELS_AT_ONCE = 64;

/** Agent's Task that is to be canceled. */
export interface CancelPlace {
  /** Names the cancel: it is asked for once at a time. */
  name: string;
  url: string;
  whose: InFlightOwner;
}

interface OpenCancel {
  account: string;
  tenant: string;
  origin: string;
  asked: Promise<boolean>;
}

/**
 * Cancels that agents have not answered yet. They hold no slot of the job queue: an agent that is silent delays neither the
 * cancels at others nor other jobs. No caller's silent agents take the places of other callers' cancels.
 */
export class OpenCancels {
  private readonly open = new Map<string, OpenCancel>();

  /**
   * Asks for a cancel, unless one of this name is under way, and resolves with what `ask` says: true if its outcome is kept.
   * @returns `undefined` where as many are under way as may be
   */
  kept({ name, url, whose }: CancelPlace, ask: () => Promise<boolean>): Promise<boolean> | undefined {
    const known = this.open.get(name);
    if (known) return known.asked;
    const { tenant } = whose;
    const place = { account: InFlight.accountOf(whose), tenant, origin: URL.parse(url)?.origin ?? url };
    if (!this.hasRoomFor(place)) return undefined;
    const asked = ask().finally(() => this.open.delete(name));
    this.open.set(name, { ...place, asked });
    return asked;
  }

  private hasRoomFor({ account, tenant, origin }: Omit<OpenCancel, 'asked'>): boolean {
    const all = [...this.open.values()];
    const own = all.filter((it) => it.account === account);
    const ofTenant = tenant === '' ? [] : all.filter((it) => it.tenant === tenant);
    return (
      all.length < CANCELS_AT_ONCE &&
      ofTenant.length < CANCELS_OF_TENANT &&
      own.length < CANCELS_OF_CALLER &&
      own.filter((it) => it.origin === origin).length < CANCELS_AT_ORIGIN
    );
  }
}

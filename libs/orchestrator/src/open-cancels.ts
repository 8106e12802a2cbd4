import { InFlight, type InFlightOwner } from '#libs/service';

/** Limits of concurrent cancels in this process: of one caller at one origin, of one caller, of one tenant, in all. */
const CANCELS_AT_ORIGIN = 4;
const CANCELS_OF_CALLER = 16;
const CANCELS_OF_TENANT = 48;
const CANCELS_AT_ONCE = 64;

/** A remote Task to cancel. */
export interface CancelPlace {
  /** Identifies the cancel: it is requested once at a time. */
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
 * Cancels that agents have not answered yet.
 * - A cancel holds no slot of the job queue, so a silent agent delays neither cancels at other agents nor other jobs.
 * - The silent agents of one caller do not use up the room for cancels of other callers.
 */
export class OpenCancels {
  private readonly open = new Map<string, OpenCancel>();

  /**
   * Requests a cancel, unless one of this name is in progress. Resolves with the result of `ask`: true if its outcome
   * is stored.
   * @returns `undefined` if the limits allow no further cancel
   */
  cancelOnce({ name, url, whose }: CancelPlace, ask: () => Promise<boolean>): Promise<boolean> | undefined {
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

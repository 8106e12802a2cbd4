/** Maximum number of runs that this process starts at a time for deliveries that it accepted: in total, and of a tenant. */
const MOST_AT_ONCE = { service: 16, tenant: 8 } as const;

/**
 * Turns of deliveries whose runs the accepting process starts itself. A delivery without a turn is started by its job,
 * whose queue is fair to all callers.
 */
export class StartTurns {
  private readonly ofTenant = new Map<string, number>();
  private total = 0;

  /** Takes a turn. @returns the function that gives it back; `undefined` if all turns are taken */
  takeTurn(tenant: string): (() => void) | undefined {
    const taken = this.ofTenant.get(tenant) ?? 0;
    if (this.total >= MOST_AT_ONCE.service || taken >= MOST_AT_ONCE.tenant) return undefined;
    this.total += 1;
    this.ofTenant.set(tenant, taken + 1);
    return () => this.giveBack(tenant);
  }

  private giveBack(tenant: string): void {
    const left = (this.ofTenant.get(tenant) ?? 0) - 1;
    this.total -= 1;
    if (left > 0) this.ofTenant.set(tenant, left);
    else this.ofTenant.delete(tenant);
  }
}

/** Cancels that this process has under way: at the agents of one origin, and in all. */
const CANCELS_AT_ORIGIN = 4;
const CANCELS_AT_ONCE = 64;

/**
 * Cancels that agents have not answered yet. They hold no slot of the job queue: an agent that is silent delays neither the
 * cancels at others nor other jobs.
 */
export class OpenCancels {
  private readonly open = new Map<string, Promise<boolean>>();
  private readonly atOrigin = new Map<string, number>();

  /**
   * Asks for a cancel, unless one of this name is under way, and resolves with what `ask` says: true if its outcome is kept.
   * @returns `undefined` where as many are under way as may be
   */
  kept(name: string, url: string, ask: () => Promise<boolean>): Promise<boolean> | undefined {
    const known = this.open.get(name);
    if (known) return known;
    const origin = URL.parse(url)?.origin ?? url;
    const count = this.atOrigin.get(origin) ?? 0;
    if (this.open.size >= CANCELS_AT_ONCE || count >= CANCELS_AT_ORIGIN) return undefined;
    this.atOrigin.set(origin, count + 1);
    const asked = ask().finally(() => {
      this.open.delete(name);
      const left = (this.atOrigin.get(origin) ?? 1) - 1;
      if (left > 0) this.atOrigin.set(origin, left);
      else this.atOrigin.delete(origin);
    });
    this.open.set(name, asked);
    return asked;
  }
}

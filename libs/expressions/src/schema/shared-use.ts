/** What the nodes of one workflow, or the inputs of one Message, use together, by what it is. */
export class SharedUse {
  private readonly used = new Map<string, number>();

  /** @returns how much of it is used now */
  add(what: string, amount: number): number {
    const total = (this.used.get(what) ?? 0) + amount;
    this.used.set(what, total);
    return total;
  }
}

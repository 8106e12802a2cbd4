/** Usage by kind that the nodes of one workflow, or the inputs of one Message, share. */
export class SharedUse {
  private readonly used = new Map<string, number>();

  /** @returns the total of this kind */
  add(what: string, amount: number): number {
    const total = (this.used.get(what) ?? 0) + amount;
    this.used.set(what, total);
    return total;
  }
}

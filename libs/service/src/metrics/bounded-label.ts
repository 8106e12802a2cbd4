/**
 * The values of a label that callers choose: the first `most` that there are, and `other` for all that come later, so that
 * no caller fills the memory of whoever reads the metrics.
 */
export class BoundedLabel {
  private readonly known = new Set<string>();

  constructor(private readonly most: number) {}

  of(value: string): string {
    if (this.known.has(value)) return value;
    if (this.known.size >= this.most) return 'other';
    this.known.add(value);
    return value;
  }
}

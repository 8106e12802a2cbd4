/**
 * Bounds the values of a label that callers choose: the first `most` distinct values are kept, all later ones become
 * `other`. No caller can therefore exhaust the memory of metrics readers.
 */
export class BoundedLabel {
  private readonly known = new Set<string>();

  constructor(private readonly most: number) {}

  boundValue(value: string): string {
    if (this.known.has(value)) return value;
    if (this.known.size >= this.most) return 'other';
    this.known.add(value);
    return value;
  }
}

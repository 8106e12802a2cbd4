import type { JsonValue } from '#libs/protocol';

/** Values of nodes that the answers to one request have compared with nodes that are gone; a node beyond them counts as new. */
const MOST_COMPARED = 200_000;

/** Bounds the comparisons of nodes with new ids: each of them may be any of those that are gone. */
export class ComparedValues {
  private left = MOST_COMPARED;

  /** Takes so many values. @returns false where fewer are left */
  take(values: number): boolean {
    this.left -= values;
    return this.left >= 0;
  }
}

/** Returns the number of values in a value, itself included. */
export function valuesIn(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, it) => sum + valuesIn(it), 1);
}

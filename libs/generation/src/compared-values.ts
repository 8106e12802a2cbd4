import type { JsonValue } from '#libs/protocol';

/** Maximum values of nodes that the answers to one request may compare with removed nodes; beyond it a node is new. */
const MOST_COMPARED = 200_000;

/** Limits the comparisons of nodes with new ids, each of which may be any removed node. */
export class ComparedValues {
  private left = MOST_COMPARED;

  /** Charges this many values. @returns false if fewer are left */
  takeValues(values: number): boolean {
    this.left -= values;
    return this.left >= 0;
  }
}

/** Returns the number of values in a value, itself included. */
export function valuesIn(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, it) => sum + valuesIn(it), 1);
}

/** Parts of the name of an instance: `draft`, `draft@2`, `tr[17]`, `x@2@1[17]`. */
export interface InstanceName {
  id: string;
  /** Iterations of the enclosing loops, outermost first. */
  path: readonly number[];
  /** Index in the list of a node with `each`. */
  index?: number;
}

const NAME = /^([A-Za-z0-9_][A-Za-z0-9_-]{0,63})((?:@\d{1,4})*)(?:\[(\d{1,5})\])?$/;

/** Parses the name of an instance; `undefined` for any other text. */
export function parseInstance(name: string): InstanceName | undefined {
  const [, id, path = '', index] = NAME.exec(name) ?? [];
  if (id === undefined) return undefined;
  const iterations = path.split('@').slice(1).map(Number);
  return { id, path: iterations, ...(index !== undefined && { index: Number(index) }) };
}

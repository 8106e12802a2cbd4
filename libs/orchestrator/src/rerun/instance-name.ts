/** An instance of a node, as its name says it: `draft`, `draft@2`, `tr[17]`, `x@2@1[17]`. */
export interface InstanceName {
  id: string;
  /** The iterations of the loops around it, outermost first. */
  path: readonly number[];
  /** Its place in the list of a node with `each`. */
  index?: number;
}

const NAME = /^([A-Za-z0-9_][A-Za-z0-9_-]{0,63})((?:@\d{1,4})*)(?:\[(\d{1,5})\])?$/;

/** `undefined` for what is no such name. */
export function parseInstance(name: string): InstanceName | undefined {
  const [, id, path = '', index] = NAME.exec(name) ?? [];
  if (id === undefined) return undefined;
  const iterations = path.split('@').slice(1).map(Number);
  return { id, path: iterations, ...(index !== undefined && { index: Number(index) }) };
}

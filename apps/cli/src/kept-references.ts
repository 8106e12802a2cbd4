/** What of a file was kept as it is written there, and what was not. */
export interface KeptReferences {
  definition: unknown;
  /** Where the file names a variable and the service has another value, for example `nodes[1].config.model`. */
  replaced: string[];
}

/**
 * A definition of the service as a file is to say it: where the file names a variable (`${env:NAME}`) whose value the service
 * has, it goes on naming it. Nodes are found by their ids, so that others may stand before them.
 * @param written what the file says
 * @param filled the same with the values of its variables
 */
export function keepReferences(saved: unknown, written: unknown, filled: unknown): KeptReferences {
  const replaced: string[] = [];
  const kept = (value: unknown, before: unknown, after: unknown, path: string): unknown => {
    if (typeof before === 'string') {
      if (value === after) return before;
      if (before !== after) replaced.push(path);
      return value;
    }
    if (Array.isArray(value) && Array.isArray(before) && Array.isArray(after)) {
      return value.map((entry, index) => {
        const place = placeOf(entry, index, after);
        return kept(entry, before[place], after[place], `${path}[${index}]`);
      });
    }
    if (isObject(value) && isObject(before) && isObject(after)) {
      const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
      const members = Object.entries(value).map(([name, it]) => [name, kept(it, before[name], after[name], at(name))]);
      return Object.fromEntries(members) as unknown;
    }
    return value;
  };
  return { definition: kept(saved, written, filled, ''), replaced };
}

function placeOf(entry: unknown, index: number, among: readonly unknown[]): number {
  const id = isObject(entry) ? entry['id'] : undefined;
  return id === undefined ? index : among.findIndex((it) => isObject(it) && it['id'] === id);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

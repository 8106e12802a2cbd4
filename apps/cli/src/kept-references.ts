/** Definition with the file's references to variables. */
export interface KeptReferences {
  definition: unknown;
  /** Paths at which the file has a variable and the service another value, for example `nodes[1].config.model`. */
  replaced: string[];
}

/**
 * Returns a definition of the service as its file should contain it: where the file has a variable (`${env:NAME}`) and
 * the service its value, the variable stays. Nodes are matched by id, so their order may differ.
 * @param written contents of the file
 * @param filled the same with the values of its variables
 */
export function keepReferences(saved: unknown, written: unknown, filled: unknown): KeptReferences {
  const replaced: string[] = [];
  const keepAt = (value: unknown, before: unknown, after: unknown, path: string): unknown => {
    if (typeof before === 'string') {
      if (value === after) return before;
      if (before !== after) replaced.push(path);
      return value;
    }
    if (Array.isArray(value) && Array.isArray(before) && Array.isArray(after)) {
      return value.map((entry, index) => {
        const place = matchingIndex(entry, index, after);
        return keepAt(entry, before[place], after[place], `${path}[${index}]`);
      });
    }
    if (isRecord(value) && isRecord(before) && isRecord(after)) {
      const memberPath = (name: string): string => (path === '' ? name : `${path}.${name}`);
      const members = Object.entries(value).map(([name, it]) => [
        name,
        keepAt(it, before[name], after[name], memberPath(name)),
      ]);
      return Object.fromEntries(members) as unknown;
    }
    return value;
  };
  return { definition: keepAt(saved, written, filled, ''), replaced };
}

function matchingIndex(entry: unknown, index: number, among: readonly unknown[]): number {
  const id = isRecord(entry) ? entry['id'] : undefined;
  return id === undefined ? index : among.findIndex((it) => isRecord(it) && it['id'] === id);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

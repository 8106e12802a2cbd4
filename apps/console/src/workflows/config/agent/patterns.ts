/**
 * Returns the entries of a config's `tools` that are names: built-in tools, and tools of MCP servers as `server/glob`.
 */
export function patternsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((it): it is string => typeof it === 'string') : [];
}

/** Returns the entries of a config's `tools` that are objects: agents with settings of their own. */
export function othersIn(value: unknown): object[] {
  return Array.isArray(value) ? value.filter((it): it is object => typeof it === 'object' && it !== null) : [];
}

/** Returns the list to store in a config: `undefined` if it is empty. */
export function keptList<Entry>(list: readonly Entry[]): readonly Entry[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** Returns the list with an entry added at the end if `is` is true, or without the entry if it is false. */
export function toggleEntry(list: readonly string[], entry: string, is: boolean): string[] {
  const others = list.filter((it) => it !== entry);
  return is ? [...others, entry] : others;
}

/** Returns the first pattern (with `*` and `?`) that matches a tool; `undefined` if none does. */
export function patternFor(tool: string, patterns: readonly string[]): string | undefined {
  return patterns.find((pattern) => asExpression(pattern).test(tool));
}

function asExpression(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}

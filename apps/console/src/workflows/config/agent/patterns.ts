/** Names of tools as a config lists them: built-in ones, and those of MCP servers as `server/glob`. */
export function patternsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((it): it is string => typeof it === 'string') : [];
}

/** Returns the entries of a list that are no names: agents with settings of their own. */
export function othersIn(value: unknown): object[] {
  return Array.isArray(value) ? value.filter((it): it is object => typeof it === 'object' && it !== null) : [];
}

/** A list as it is kept: none where it is empty. */
export function keptList<Entry>(list: readonly Entry[]): readonly Entry[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The same list with one more, or without it. */
export function toggled(list: readonly string[], entry: string, is: boolean): string[] {
  const others = list.filter((it) => it !== entry);
  return is ? [...others, entry] : others;
}

/** The first of the patterns that names a tool, with `*` and `?`. */
export function patternFor(tool: string, patterns: readonly string[]): string | undefined {
  return patterns.find((pattern) => asExpression(pattern).test(tool));
}

function asExpression(pattern: string): RegExp {
  const escaped = pattern.replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}

/**
 * True if a parsed value certainly has more characters as JSON than `limit`. Counts strings, names, and one character
 * for each member and element. Stops at the limit and uses no recursion.
 */
export function hasMoreCharacters(value: unknown, limit: number): boolean {
  const open: unknown[] = [value];
  let characters = 0;
  while (open.length > 0 && characters <= limit) {
    const it = open.pop();
    characters += typeof it === 'string' ? it.length + 2 : 1;
    if (typeof it !== 'object' || it === null) continue;
    if (Array.isArray(it)) for (const entry of it) open.push(entry);
    else
      for (const [name, member] of Object.entries(it)) {
        if (member === undefined) continue;
        characters += name.length;
        open.push(member);
      }
  }
  return characters > limit;
}

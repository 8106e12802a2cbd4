/**
 * True if a parsed value, written as JSON, has more characters than that for certain: those of its texts and names, and
 * one for each member and element. Stops as soon as it knows, and uses no recursion.
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

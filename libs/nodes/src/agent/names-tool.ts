/** Whether a pattern names a tool: as it stands, or with `*` for any characters of the tool's own name. */
export function namesTool(pattern: string, tool: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  if (others.length === 0) return pattern === tool;
  if (!tool.startsWith(first)) return false;
  const last = others.pop() ?? '';
  let at = first.length;
  for (const piece of others) {
    const found = tool.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return tool.length >= at + last.length && tool.endsWith(last);
}

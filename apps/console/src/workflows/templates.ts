/** `{{id}}` and `{{id.suffix}}`, as the service reads them: word characters and dots, no spaces. */
const REFERENCE = /\{\{(\w+(?:\.\w+)*)\}\}/g;
const OPEN_REFERENCE = /\{\{(\w*)$/;

/** References of a text to what no node is called; as they stand in the text, each once. */
export function unknownReferences(text: string, ids: Iterable<string>): string[] {
  const known = new Set(ids);
  const found = [...text.matchAll(REFERENCE)].filter(([, path = '']) => !known.has(path.split('.')[0] ?? ''));
  return [...new Set(found.map(([reference]) => reference))];
}

/** What the reference that is being typed before the caret may become. */
export interface Completion {
  /** Where the reference begins. */
  from: number;
  candidates: string[];
}

export function completionAt(text: string, caret: number, ids: readonly string[]): Completion | undefined {
  const open = OPEN_REFERENCE.exec(text.slice(0, caret));
  if (!open) return undefined;
  const typed = open[1]?.toLowerCase() ?? '';
  const candidates = ids.filter((id) => /^\w+$/.test(id) && id.toLowerCase().startsWith(typed));
  return candidates.length > 0 ? { from: open.index, candidates } : undefined;
}

/** The text with a reference put in, and where the caret is then. */
export function complete(text: string, caret: number, from: number, id: string): { text: string; caret: number } {
  const reference = `{{${id}}}`;
  const rest = text.slice(caret).replace(/^\w*\}{0,2}/, '');
  return { text: `${text.slice(0, from)}${reference}${rest}`, caret: from + reference.length };
}

/** Whether the caret is inside a `${…}` that has not ended before it. */
export function inExpression(text: string, caret: number): boolean {
  const before = text.slice(0, caret);
  const open = before.lastIndexOf('${');
  if (open < 0) return false;
  const inside = before.slice(open + 2).replaceAll(/'[^']*'|"[^"]*"/g, '');
  return inside.split('{').length >= inside.split('}').length;
}

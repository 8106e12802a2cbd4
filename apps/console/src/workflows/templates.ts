/** Pattern of `{{id}}` and `{{id.suffix}}`, as the service reads them: word characters and dots, no spaces. */
const REFERENCE = /\{\{(\w+(?:\.\w+)*)\}\}/g;
/** Pattern of an unfinished `{{reference` before the caret. */
const OPEN_REFERENCE = /\{\{(\w*)$/;

/** Returns the references in a text to unknown nodes, each once, with their braces. */
export function unknownReferences(text: string, ids: Iterable<string>): string[] {
  const known = new Set(ids);
  const found = [...text.matchAll(REFERENCE)].filter(([, path = '']) => !known.has(path.split('.')[0] ?? ''));
  return [...new Set(found.map(([reference]) => reference))];
}

/** Completions of the `{{reference}}` at the caret. */
export interface ReferenceCompletion {
  /** Offset at which the reference starts. */
  from: number;
  candidates: string[];
}

export function completionAt(text: string, caret: number, ids: readonly string[]): ReferenceCompletion | undefined {
  const open = OPEN_REFERENCE.exec(text.slice(0, caret));
  if (!open) return undefined;
  const typed = open[1]?.toLowerCase() ?? '';
  const candidates = ids.filter((id) => /^\w+$/.test(id) && id.toLowerCase().startsWith(typed));
  return candidates.length > 0 ? { from: open.index, candidates } : undefined;
}

/** Replaces the reference at the caret, and returns the text with the new caret. */
export function insertReference(
  text: string,
  caret: number,
  from: number,
  id: string,
): { text: string; caret: number } {
  const reference = `{{${id}}}`;
  const rest = text.slice(caret).replace(/^\w*\}{0,2}/, '');
  return { text: `${text.slice(0, from)}${reference}${rest}`, caret: from + reference.length };
}

/** True if the caret is inside an unclosed `${` expression. */
export function inExpression(text: string, caret: number): boolean {
  const before = text.slice(0, caret);
  const open = before.lastIndexOf('${');
  if (open < 0) return false;
  const inside = before.slice(open + 2).replaceAll(/'[^']*'|"[^"]*"/g, '');
  return inside.split('{').length >= inside.split('}').length;
}

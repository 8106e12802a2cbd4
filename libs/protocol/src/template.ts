import { TextBudget } from './text-budget.js';

const REFERENCE = /\{\{(\w+(?:\.\w+)*)\}\}/g;
const WHOLE_REFERENCE = /\{\{\w+(?:\.\w+)*\}\}/;

/**
 * Resolves a reference to its text; `undefined` leaves it as written. `{{a.b.c}}` asks for the id `a` with the suffix
 * `['b', 'c']`.
 */
export type TemplateResolver = (id: string, suffix: readonly string[]) => string | undefined;

/**
 * Replaces each `{{reference}}` of a text. Resolved text is not scanned for references.
 * @param budget maximum size of the result and of everything else that shares the budget
 * @throws ContentTooLarge beyond the budget, before the text is built
 */
export function renderTemplate(text: string, resolve: TemplateResolver, budget = new TextBudget()): string {
  budget.spendCharacters(text.length);
  return text.replace(REFERENCE, (written, path: string) => {
    const [id = '', ...suffix] = path.split('.');
    const value = resolve(id, suffix);
    if (value === undefined) return written;
    budget.spendCharacters(value.length - written.length);
    return value;
  });
}

/** Reference in a text. */
export interface TemplateReference {
  id: string;
  suffix: readonly string[];
  /** Reference as written, with its braces. */
  written: string;
  /** Offset of its first brace, in UTF-16 code units. */
  offset: number;
}

/** Yields the references of a text in order. */
export function* templateReferences(text: string): Generator<TemplateReference> {
  for (const { 0: written, 1: path = '', index } of text.matchAll(REFERENCE)) {
    const [id = '', ...suffix] = path.split('.');
    yield { id, suffix, written, offset: index };
  }
}

/** Yields texts that look like references but are not: with spaces inside the braces, or with a hyphen in the id. */
export function* unreadReferences(text: string): Generator<Omit<TemplateReference, 'suffix'>> {
  for (const { 0: written, 1: id = '', index } of text.matchAll(/\{\{\s{0,9}([\w-]{1,64})(?:\.\w{1,64})*\s{0,9}\}\}/g))
    if (!WHOLE_REFERENCE.test(written)) yield { id, written, offset: index };
}

/**
 * True if a text may be a rendering of a template: it has all literals of the template in order, and anything between
 * them.
 */
export function isRenderingOf(template: string, text: string): boolean {
  const [head = '', ...rest] = template.split(WHOLE_REFERENCE);
  const tail = rest.pop();
  if (tail === undefined) return text === template;
  if (!text.startsWith(head)) return false;
  let position = head.length;
  for (const literal of rest) {
    const found = text.indexOf(literal, position);
    if (found < 0) return false;
    position = found + literal.length;
  }
  return text.length - tail.length >= position && text.endsWith(tail);
}

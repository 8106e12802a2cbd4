import { TextBudget } from './text-budget.js';

const REFERENCE = /\{\{(\w+(?:\.\w+)*)\}\}/g;
const WHOLE_REFERENCE = /\{\{\w+(?:\.\w+)*\}\}/;

/**
 * The text that a reference stands for; `undefined` leaves it as it is written.
 * `{{a.b.c}}` asks for the id `a` with the suffix `['b', 'c']`.
 */
export type TemplateResolver = (id: string, suffix: readonly string[]) => string | undefined;

/**
 * Replaces each `{{reference}}` of a text. What a reference resolves to is not read again.
 * @param budget what the result, and whatever else shares it, may come to
 * @throws ContentTooLarge beyond it, before anything is put together
 */
export function renderTemplate(text: string, resolve: TemplateResolver, budget = new TextBudget()): string {
  budget.spend(text.length);
  return text.replace(REFERENCE, (written, path: string) => {
    const [id = '', ...suffix] = path.split('.');
    const value = resolve(id, suffix);
    if (value === undefined) return written;
    budget.spend(value.length - written.length);
    return value;
  });
}

/** A reference as it stands in a text. */
export interface TemplateReference {
  id: string;
  suffix: readonly string[];
  /** With its braces. */
  written: string;
  /** Where it begins, in UTF-16 code units. */
  offset: number;
}

/** The references of a text, from the first to the last. */
export function* templateReferences(text: string): Generator<TemplateReference> {
  for (const { 0: written, 1: path = '', index } of text.matchAll(REFERENCE)) {
    const [id = '', ...suffix] = path.split('.');
    yield { id, suffix, written, offset: index };
  }
}

/** What looks like a reference and is none: with spaces between its braces, or an id that has a hyphen. */
export function* unreadReferences(text: string): Generator<Omit<TemplateReference, 'suffix'>> {
  for (const { 0: written, 1: id = '', index } of text.matchAll(/\{\{\s{0,9}([\w-]{1,64})(?:\.\w{1,64})*\s{0,9}\}\}/g))
    if (!WHOLE_REFERENCE.test(written)) yield { id, written, offset: index };
}

/** Whether a text is what may come of a template: all that stands around its references, in order, and anything between. */
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

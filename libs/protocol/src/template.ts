import { PublicFault } from '#libs/faults';
import { firstData, joinedText, spokenParts, withoutBytes } from './message.js';
import type { Artifact } from './task.js';

/** Error of content that exceeds a configured limit. The message names the limit and may be shown to callers. */
export class ContentTooLarge extends PublicFault {
  override readonly name: string = 'ContentTooLarge';

  override get kind(): 'refused' {
    return 'refused';
  }

  /**
   * Creates the error for content that exceeds a limit.
   * @param what noun phrase for the content, which begins the error's sentence
   * @param variable environment variable that sets the limit, in characters
   */
  static beyondLimit(what: string, limit: number, variable: string): ContentTooLarge {
    return new ContentTooLarge(`${what} has more than ${limit} characters (${variable})`);
  }
}

/**
 * Budget of characters for texts that are built. Characters are spent before a text is built, so a text beyond the
 * limit is never built.
 */
export class TextBudget {
  private left: number;

  constructor(private readonly limit = Number.POSITIVE_INFINITY) {
    this.left = limit;
  }

  /** Number of characters spent so far. */
  get spent(): number {
    return this.limit - this.left;
  }

  /** Spends characters. @throws ContentTooLarge beyond the limit */
  spendCharacters(characters: number): void {
    this.left -= characters;
    if (this.left < 0) throw ContentTooLarge.beyondLimit('the rendered text', this.limit, 'RENDERED_TEXT_LIMIT');
  }
}

const REFERENCE = /\{\{(\w+(?:\.\w+)*)\}\}/g;
const WHOLE_REFERENCE = /\{\{\w+(?:\.\w+)*\}\}/;

/**
 * Resolves a reference of a template to its text; `undefined` leaves the reference as written. `{{a.b.c}}` asks for the
 * id `a` with the suffix `['b', 'c']`.
 */
export type TemplateResolver = (id: string, suffix: readonly string[]) => string | undefined;

/**
 * Replaces each `{{reference}}` of a template. Resolved text is not searched for references.
 * @param budget maximum size of the result and of all other texts that share the budget
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

/** Reference in a template. */
export interface TemplateReference {
  id: string;
  suffix: readonly string[];
  /** Reference as written, with its braces. */
  written: string;
  /** Offset of the first brace of the reference, in UTF-16 code units. */
  offset: number;
}

/** Yields the references of a template in order. */
export function* templateReferences(text: string): Generator<TemplateReference> {
  for (const { 0: written, 1: path = '', index } of text.matchAll(REFERENCE)) {
    const [id = '', ...suffix] = path.split('.');
    yield { id, suffix, written, offset: index };
  }
}

/** Yields texts that look like references but are not: with spaces inside the braces, or a hyphen in the id. */
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

/**
 * Resolves a reference of a template to a node, given the node's first Artifact.
 *
 * - With the suffix `data`: the first data Part of the Artifact as compact JSON.
 * - With any other suffix, or none: the Artifact's text, else its data, else the Artifact as JSON, with the size of
 *   files (`size`, in bytes) in place of their bytes.
 *
 * @returns `undefined` if there is nothing to refer to: the reference then stays as written
 */
export function artifactReference(artifact: Artifact | undefined, suffix: readonly string[]): string | undefined {
  if (artifact === undefined) return undefined;
  const data = firstData(artifact.parts);
  if (suffix.length === 1 && suffix[0] === 'data') return data === undefined ? undefined : JSON.stringify(data);
  const text = joinedText(artifact.parts);
  if (text) return text;
  if (data !== undefined) return JSON.stringify(data);
  const parts = spokenParts(artifact.parts);
  return parts.length === 0 ? '' : JSON.stringify({ ...artifact, parts: parts.map(withoutBytes) });
}

import {
  isJsonObject,
  isRenderingOf,
  type JsonValue,
  renderTemplate as renderReferences,
  type TemplateResolver,
  TextBudget,
} from '#libs/protocol';
import { EvaluationBudget } from './evaluation.js';
import { ExpressionError, InvalidExpression } from './expression-error.js';
import { compileExpression, evaluateMeasured, type Expression, type Variables } from './expression.js';
import { closingBrace } from './source.js';
import type { Reference, Vocabulary } from './syntax-check.js';

/** JSON whose strings may contain `${expressions}` (CEL) and `{{references}}`, at any depth. */
export interface Template {
  /** Variables that the expressions of the template refer to. The `{{references}}` are not included. */
  readonly references: readonly (Reference & { path: string })[];
}

/** Values that fill a template. */
export interface Filling {
  variables: Variables;
  /** Returns the text that replaces a reference `{{id}}`. */
  resolve: TemplateResolver;
  /** Limit of characters for all rendered texts and results together; absent: no common limit. */
  texts?: TextBudget;
  /** Limit of steps for all expressions together; absent: each has its own. */
  budget?: EvaluationBudget;
}

/** Segment of a string: literal text or an expression. `offset` is the start of the expression in the whole string. */
type Segment = { literal: string } | { expression: Expression; offset: number };
type TemplateSource = { literal: string } | { source: string; offset: number };

const OPENING = '${';

/** Compiles a template, or returns all its problems. The names of members are plain text, never expressions. */
export function compileTemplate(value: JsonValue, vocabulary: Vocabulary): Template | InvalidExpression[] {
  const template = new CompiledTemplate(value, vocabulary);
  return template.problems.length > 0 ? template.problems : template;
}

/**
 * Fills a template with the values of its expressions and references.
 * - A string that is a single expression becomes the value of that expression.
 * - In any other string, a value that is no string is inserted as compact JSON.
 * - Inserted values are not expanded again.
 * @throws ExpressionError with the path and the offset of the failure
 * @throws ContentTooLarge if the texts exceed `filling.texts`
 */
export function renderTemplate(template: Template, filling: Filling): JsonValue {
  if (!(template instanceof CompiledTemplate)) throw new TypeError('a template comes from compileTemplate()');
  const { texts = new TextBudget(), budget = new EvaluationBudget() } = filling;
  return template.renderTexts({ ...filling, texts, budget });
}

/** Yields the source of each expression in a template, without checking the expressions. */
export function* expressionsIn(value: JsonValue): Generator<string> {
  for (const { text } of textsIn(value, ''))
    for (const it of sourcesIn(text)) if (!(it instanceof InvalidExpression) && 'source' in it) yield it.source;
}

/**
 * True if a value may be the result of filling a text: the value is a string that has the literal parts of the text in
 * order, with anything between them. If the text is a single expression, the result is true for any value.
 */
export function isFillingOf(text: string, value: JsonValue): boolean {
  const pieces = [...sourcesIn(text)].map((it) => ('literal' in it ? it.literal : ANYTHING));
  if (pieces.length === 1 && text.startsWith(OPENING)) return true;
  const around = pieces.join('');
  return typeof value === 'string' && isRenderingOf(around, value);
}

/** Reference that replaces each expression in `isFillingOf`: `isRenderingOf` accepts any text in its place. */
const ANYTHING = '{{x}}';

class CompiledTemplate implements Template {
  readonly references: (Reference & { path: string })[] = [];
  readonly problems: InvalidExpression[] = [];
  /** Segments of each string, shared by all paths at which the same string occurs. */
  private readonly segments = new Map<string, Segment[]>();

  constructor(
    private readonly value: JsonValue,
    private readonly vocabulary: Vocabulary,
  ) {
    for (const { text, path } of textsIn(value, '')) this.compileText(text, path);
  }

  renderTexts(filling: Required<Filling>): JsonValue {
    return mapTexts(this.value, '', (text, path) => {
      try {
        return fillSegments(this.segments.get(text) ?? [], filling);
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error;
        throw new ExpressionError(error.message, error.offset, path, error);
      }
    });
  }

  private compileText(text: string, path: string): void {
    const segments: Segment[] = [];
    for (const segment of segmentsOf(text, this.vocabulary)) {
      if (segment instanceof InvalidExpression) {
        this.problems.push(new InvalidExpression(segment.message, segment.offset, path));
        continue;
      }
      segments.push(segment);
      if (!('expression' in segment)) continue;
      for (const it of segment.expression.references)
        this.references.push({ ...it, offset: it.offset + segment.offset, path });
    }
    this.segments.set(text, segments);
  }
}

function* segmentsOf(text: string, vocabulary: Vocabulary): Generator<Segment | InvalidExpression> {
  for (const it of sourcesIn(text)) {
    if (it instanceof InvalidExpression || 'literal' in it) {
      yield it;
      continue;
    }
    const { source, offset } = it;
    const compiled = compileExpression(source, vocabulary);
    if (compiled instanceof InvalidExpression)
      yield new InvalidExpression(explainProblem(source, compiled), offset + compiled.offset);
    else yield { expression: compiled, offset };
  }
}

function* sourcesIn(text: string): Generator<TemplateSource | InvalidExpression> {
  let from = 0;
  for (let at = text.indexOf(OPENING); at >= 0; at = text.indexOf(OPENING, from)) {
    if (at > from) yield { literal: text.slice(from, at) };
    const offset = at + OPENING.length;
    const end = closingBrace(text, offset);
    if (end < 0) {
      yield new InvalidExpression('this ${ is never closed', at);
      return;
    }
    yield { source: text.slice(offset, end), offset };
    from = end + 1;
  }
  if (from < text.length) yield { literal: text.slice(from) };
}

function explainProblem(source: string, { message }: InvalidExpression): string {
  return source.startsWith('{') ? `${message}; a dollar before {{…}} is written \${'$'}` : message;
}

function fillSegments(segments: readonly Segment[], filling: Required<Filling>): JsonValue {
  const [only] = segments;
  if (segments.length === 1 && only && 'expression' in only) return evaluateSegment(only, filling);
  return segments
    .map((segment) => {
      if ('literal' in segment) return renderReferences(segment.literal, filling.resolve, filling.texts);
      const value = evaluateSegment(segment, filling);
      return typeof value === 'string' ? value : JSON.stringify(value);
    })
    .join('');
}

function evaluateSegment(segment: Extract<Segment, { expression: Expression }>, filling: Required<Filling>): JsonValue {
  try {
    const { value, size } = evaluateMeasured(segment.expression, filling.variables, filling.budget);
    filling.texts.spendCharacters(typeof value === 'string' ? value.length : size);
    return value;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new ExpressionError(error.message, error.offset + segment.offset, '', error);
  }
}

function* textsIn(value: JsonValue, path: string): Generator<{ text: string; path: string }> {
  if (typeof value === 'string') yield { text: value, path };
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* textsIn(item, `${path}[${index}]`);
  else if (isJsonObject(value))
    for (const [name, item] of Object.entries(value)) yield* textsIn(item, memberPath(path, name));
}

function mapTexts(value: JsonValue, path: string, map: (text: string, path: string) => JsonValue): JsonValue {
  if (typeof value === 'string') return map(value, path);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, `${path}[${index}]`, map));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(
    ([name, item]) => [name, mapTexts(item, memberPath(path, name), map)] as const,
  );
  return Object.fromEntries(members);
}

function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

import type { NodeSpec } from '#libs/executor';
import {
  compile,
  compileTemplate,
  ExpressionError,
  InvalidExpression,
  pointInTime,
  renderTemplate,
  type Variables,
} from '#libs/expressions';
import {
  ContentTooLarge,
  firstData,
  firstText,
  isJsonObject,
  type JsonValue,
  type Message,
  TextBudget,
} from '#libs/protocol';
import { DEFAULT_CONTENT_LIMITS } from '#libs/service';
import { NodeFailure } from './node-failure.js';
import { withText } from './text-placeholder.js';

/** What expressions name in a run. Of these a node that is called by itself has its Message's data, as the inputs. */
const NAMES = ['inputs', 'nodes', 'item', 'index', 'iteration', 'run', 'trigger', 'usage', 'error', 'now'];
const VOCABULARY = Object.fromEntries(NAMES.map((name) => [name, {}]));

/**
 * JSON of a node's config where no run has filled it in: `{{text}}` is the Message's text, and where the workflow has
 * `${expressions}`, `inputs` is its data.
 * @param texts what it may come to
 * @throws NodeFailure where it cannot be filled in, or would be too large
 */
export function filledIn(
  value: JsonValue,
  { of }: NodeSpec,
  { parts }: Message,
  texts = new TextBudget(DEFAULT_CONTENT_LIMITS.renderedText),
): JsonValue {
  const text = firstText(parts) ?? '';
  return orFailure(() => {
    if (of?.language !== 2) return withText(value, text, texts);
    const template = compileTemplate(value, VOCABULARY);
    if (Array.isArray(template)) throw template[0] ?? new InvalidExpression('this is no template', 0);
    const resolve = (id: string, suffix: readonly string[]): string | undefined =>
      id === 'text' && suffix.length === 0 ? text : undefined;
    return renderTemplate(template, { variables: variablesOf(parts), resolve, texts });
  });
}

/**
 * The time that an expression of a node's config gives, where no run has evaluated it.
 * @throws NodeFailure where it gives none
 */
export function timeOf(expression: string, { parts }: Message, now: Date): Date {
  return orFailure(() => {
    const compiled = compile(expression, VOCABULARY);
    if (compiled instanceof InvalidExpression) throw compiled;
    return pointInTime(compiled, { ...variablesOf(parts), now });
  });
}

function variablesOf(parts: Message['parts']): Variables {
  const data = firstData(parts);
  return isJsonObject(data) ? { inputs: data } : {};
}

function orFailure<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ContentTooLarge) throw new NodeFailure(error.message, { cause: error });
    if (!(error instanceof ExpressionError || error instanceof InvalidExpression)) throw error;
    const place = error.path === '' ? '' : `${error.path}: `;
    throw new NodeFailure(`${place}${error.message}`, { cause: error });
  }
}

import type { NodeSpec } from '#libs/agents';
import {
  compileExpression,
  compileTemplate,
  evaluatePointInTime,
  ExpressionError,
  InvalidExpression,
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
import { NodeFailure } from './node-executor.js';

const PLACEHOLDER = '{{text}}';

/**
 * Returns a copy of a JSON value with `{{text}}` replaced in every string, at any depth. Inserted text is not searched
 * for `{{text}}` again.
 * @param budget limit of characters for all strings together
 * @throws ContentTooLarge beyond the limit, before any string is built
 */
export function withText<T extends JsonValue>(value: T, text: string, budget = new TextBudget()): T {
  return replacePlaceholders(value, text, budget) as T;
}

function replacePlaceholders(value: JsonValue, text: string, budget: TextBudget): JsonValue {
  if (typeof value === 'string') return fillText(value, text, budget);
  if (Array.isArray(value)) return value.map((item) => replacePlaceholders(item, text, budget));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replacePlaceholders(item, text, budget)]));
}

function fillText(value: string, text: string, budget: TextBudget): string {
  budget.spendCharacters(value.length);
  return value.replaceAll(PLACEHOLDER, () => {
    budget.spendCharacters(text.length - PLACEHOLDER.length);
    return text;
  });
}

/**
 * Variables that expressions may use in a run. If a node is called directly, not by a run, only `inputs` has a value:
 * the data of its Message.
 */
const NAMES = ['inputs', 'nodes', 'item', 'index', 'iteration', 'run', 'trigger', 'usage', 'error', 'now'];
const VOCABULARY = Object.fromEntries(NAMES.map((name) => [name, {}]));

/**
 * Fills in the templates in a part of a node's config, for a node that is called directly and not by a run. `{{text}}`
 * is replaced by the text of the Message. In a workflow with `language: 2`, `inputs` in an `${expression}` is the data
 * of the Message.
 * @param texts limit of characters for all texts
 * @throws NodeFailure if an expression fails, or the texts exceed the limit
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
    if (Array.isArray(template)) throw template[0] ?? new InvalidExpression('this is not a template', 0);
    const resolve = (id: string, suffix: readonly string[]): string | undefined =>
      id === 'text' && suffix.length === 0 ? text : undefined;
    return renderTemplate(template, { variables: variablesOf(parts), resolve, texts });
  });
}

/**
 * Evaluates a CEL expression of a node's config that yields a time, for a node that is called directly and not by a
 * run.
 * @throws NodeFailure if the expression is invalid or yields no timestamp
 */
export function evaluateTime(expression: string, { parts }: Message, now: Date): Date {
  return orFailure(() => {
    const compiled = compileExpression(expression, VOCABULARY);
    if (compiled instanceof InvalidExpression) throw compiled;
    return evaluatePointInTime(compiled, { ...variablesOf(parts), now });
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

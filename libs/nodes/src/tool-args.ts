import type { NodeSpec, RequestContext } from '#libs/executor';
import { isFillingOf } from '#libs/expressions';
import {
  ContentTooLarge,
  firstData,
  firstText,
  isJsonObject,
  isRenderingOf,
  type JsonObject,
  type JsonValue,
  type Message,
  TextBudget,
  withoutUserinfo,
} from '#libs/protocol';
import { NodeFailure } from './node-failure.js';
import { filledIn } from './own-texts.js';
import { withText } from './text-placeholder.js';

/** Rules for filling in the author's texts. */
export interface Author {
  /** Returns the value of a text for which the Message brings none. */
  fillText(text: string): JsonValue;
  /** True if the Message may bring this value for the text. */
  allowsValue(text: string, given: JsonValue): boolean;
}

/**
 * Returns the arguments of a node's tool call.
 * @throws NodeFailure if they exceed the limit for texts
 */
export function callArgs(node: NodeSpec, { userMessage }: RequestContext, renderedText: number): JsonObject {
  const budget = new TextBudget(renderedText);
  const author: Author =
    node.of?.language === 2
      ? { fillText: (text) => filledIn(text, node, userMessage, budget), allowsValue: isFillingOf }
      : authorOf(firstText(userMessage.parts) ?? '', budget);
  try {
    return toolArgs(userMessage, node.config.args, author);
  } catch (error) {
    throw error instanceof ContentTooLarge ? new NodeFailure(error.message, { cause: error }) : error;
  }
}

/**
 * Returns the arguments that a Message calls a tool with: its data, or the data's `args`, restricted by the author's
 * own arguments.
 * - Members that the author fixed stay.
 * - For a text with references, the Message may bring only values of the references.
 * - Without data, the Message's text replaces `{{text}}`.
 *
 * @throws any error of filling in the author's texts
 */
export function toolArgs({ parts }: Message, own: unknown, author = authorOf(firstText(parts) ?? '')): JsonObject {
  const fixed = isJsonObject(own) ? own : {};
  const data = firstData(parts);
  const given = isJsonObject(data) ? (isJsonObject(data.args) ? data.args : data) : {};
  return { ...given, ...fillMembers(fixed, given, author) };
}

/**
 * Returns the rules for texts with `{{references}}`.
 * @param text value of `{{text}}`
 * @param budget limit for the texts; beyond it `fillText` throws ContentTooLarge
 */
export function authorOf(text: string, budget = new TextBudget()): Author {
  return {
    fillText: (own) => withText(own, text, budget),
    allowsValue: (own, given) => typeof given === 'string' && isRenderingOf(own, given),
  };
}

/** Returns the author's members, each with the given values of its references. */
function fillMembers(own: JsonObject, given: JsonObject, author: Author): JsonObject {
  const members = Object.entries(own).map(([key, value]): [string, JsonValue] => {
    return [key, filledValue(value, Object.hasOwn(given, key) ? given[key] : undefined, author)];
  });
  return Object.fromEntries(members);
}

function filledValue(own: JsonValue, given: JsonValue | undefined, author: Author): JsonValue {
  if (typeof own === 'string')
    return given !== undefined && author.allowsValue(own, given) ? given : author.fillText(own);
  if (Array.isArray(own)) {
    const items = Array.isArray(given) ? given : [];
    return own.map((item, index) => filledValue(item, items[index], author));
  }
  return isJsonObject(own) ? fillMembers(own, isJsonObject(given) ? given : {}, author) : own;
}

/** Returns the arguments as events show them: without the password of a URL. */
export function shownArgs(args: JsonObject): JsonObject {
  const shown = Object.entries(args).map(([key, value]): [string, JsonValue] => {
    return [key, typeof value === 'string' ? withoutUserinfo(value) : value];
  });
  return Object.fromEntries(shown);
}

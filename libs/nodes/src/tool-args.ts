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

/** How the author's texts are filled in. */
export interface Author {
  /** What a text comes to where the Message brings nothing for it. */
  fill(text: string): JsonValue;
  /** Whether the Message may bring this for it. */
  allows(text: string, given: JsonValue): boolean;
}

/**
 * The arguments that a node calls its tool with.
 * @throws NodeFailure where they come to more than texts may
 */
export function callArgs(node: NodeSpec, { userMessage }: RequestContext, renderedText: number): JsonObject {
  const budget = new TextBudget(renderedText);
  const author: Author =
    node.of?.language === 2
      ? { fill: (text) => filledIn(text, node, userMessage, budget), allows: isFillingOf }
      : authorOf(firstText(userMessage.parts) ?? '', budget);
  try {
    return toolArgs(userMessage, node.config.args, author);
  } catch (error) {
    throw error instanceof ContentTooLarge ? new NodeFailure(error.message, { cause: error }) : error;
  }
}

/**
 * The arguments that a Message calls a tool with: those of its data, or of the data's `args`, as far as the author left
 * room for them. What the author fixed stays: of a text with references only what stands for the references may come
 * with the Message. Without data the Message's text is put in for `{{text}}`.
 * @throws whatever the author's texts cannot be filled in for
 */
export function toolArgs({ parts }: Message, own: unknown, author = authorOf(firstText(parts) ?? '')): JsonObject {
  const fixed = isJsonObject(own) ? own : {};
  const data = firstData(parts);
  const given = isJsonObject(data) ? (isJsonObject(data.args) ? data.args : data) : {};
  return { ...given, ...filled(fixed, given, author) };
}

/**
 * One whose texts have `{{references}}`.
 * @param text what stands for `{{text}}`
 * @param budget what the texts may come to; beyond it `fill` throws ContentTooLarge
 */
export function authorOf(text: string, budget = new TextBudget()): Author {
  return {
    fill: (own) => withText(own, text, budget),
    allows: (own, given) => typeof given === 'string' && isRenderingOf(own, given),
  };
}

/** The author's members, each with what was given for its references. */
function filled(own: JsonObject, given: JsonObject, author: Author): JsonObject {
  const members = Object.entries(own).map(([key, value]): [string, JsonValue] => {
    return [key, filledValue(value, Object.hasOwn(given, key) ? given[key] : undefined, author)];
  });
  return Object.fromEntries(members);
}

function filledValue(own: JsonValue, given: JsonValue | undefined, author: Author): JsonValue {
  if (typeof own === 'string') return given !== undefined && author.allows(own, given) ? given : author.fill(own);
  if (Array.isArray(own)) {
    const items = Array.isArray(given) ? given : [];
    return own.map((item, index) => filledValue(item, items[index], author));
  }
  return isJsonObject(own) ? filled(own, isJsonObject(given) ? given : {}, author) : own;
}

/** The arguments as events tell them: a URL among them that names a password is shown without it. */
export function shownArgs(args: JsonObject): JsonObject {
  const shown = Object.entries(args).map(([key, value]): [string, JsonValue] => {
    return [key, typeof value === 'string' ? withoutUserinfo(value) : value];
  });
  return Object.fromEntries(shown);
}

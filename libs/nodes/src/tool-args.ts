import {
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
import { withText } from './text-placeholder.js';

/**
 * The arguments that a Message calls a tool with: those of its data, or of the data's `args`, as far as the author left
 * room for them. What the author fixed stays: of a text with references only what stands for the references may come
 * with the Message. Without data the Message's text is put in for `{{text}}`.
 * @param budget what the author's members may come to
 * @throws ContentTooLarge beyond it
 */
export function toolArgs({ parts }: Message, own: unknown, budget = new TextBudget()): JsonObject {
  const fixed = isJsonObject(own) ? own : {};
  const data = firstData(parts);
  const given = isJsonObject(data) ? (isJsonObject(data.args) ? data.args : data) : {};
  return { ...given, ...filled(fixed, given, { text: firstText(parts) ?? '', budget }) };
}

/** What stands for `{{text}}`. */
interface PutIn {
  text: string;
  budget: TextBudget;
}

/** The author's members, each with what was given for its references. */
function filled(own: JsonObject, given: JsonObject, put: PutIn): JsonObject {
  const members = Object.entries(own).map(([key, value]): [string, JsonValue] => {
    return [key, filledValue(value, Object.hasOwn(given, key) ? given[key] : undefined, put)];
  });
  return Object.fromEntries(members);
}

function filledValue(own: JsonValue, given: JsonValue | undefined, put: PutIn): JsonValue {
  if (typeof own === 'string')
    return typeof given === 'string' && isRenderingOf(own, given) ? given : withText(own, put.text, put.budget);
  if (Array.isArray(own)) {
    const items = Array.isArray(given) ? given : [];
    return own.map((item, index) => filledValue(item, items[index], put));
  }
  return isJsonObject(own) ? filled(own, isJsonObject(given) ? given : {}, put) : own;
}

/** The arguments as events tell them: a URL among them that names a password is shown without it. */
export function shownArgs(args: JsonObject): JsonObject {
  const shown = Object.entries(args).map(([key, value]): [string, JsonValue] => {
    return [key, typeof value === 'string' ? withoutUserinfo(value) : value];
  });
  return Object.fromEntries(shown);
}

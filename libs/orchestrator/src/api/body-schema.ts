import type { JsonObject, JsonValue } from '#libs/protocol';
import { getMetadataStorage } from 'class-validator';

/** As much of class-validator's metadata as is read here. */
interface Rule {
  propertyName: string;
  type: string;
  name?: string;
  /** What the decorator was given. */
  constraints?: readonly unknown[];
}

/** What the rules of class-validator are called in JSON Schema. */
const WORDS: Readonly<Record<string, (constraint: JsonValue) => JsonObject>> = {
  isString: () => ({ type: 'string' }),
  isNumber: () => ({ type: 'number' }),
  isBoolean: () => ({ type: 'boolean' }),
  isObject: () => ({ type: 'object' }),
  isArray: () => ({ type: 'array' }),
  arrayMaxSize: (maxItems) => ({ maxItems }),
  isIn: (values) => ({ enum: values }),
  // What these ask for stands with the member.
  isNumberOrString: () => ({}),
  isJoin: () => ({}),
  eachEntry: () => ({}),
};

/**
 * The JSON Schema of what `readBody` takes for a class: made of the rules that it is read by, so the two say the same.
 * @param members what more is to be said of each member: its description, and what its entries are; `sent` is none
 * @throws TypeError for a rule that has no word in JSON Schema yet
 */
export function bodySchema<T extends object>(
  type: abstract new () => T,
  members: { [Member in keyof Required<Omit<T, 'sent'>>]: JsonObject },
): JsonObject {
  const rules = Map.groupBy(rulesOf(type), ({ propertyName }) => propertyName);
  const names = Object.keys(members) as (keyof typeof members & string)[];
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, memberSchema(rules.get(name) ?? [], members[name])])),
    required: names.filter((name) => !(rules.get(name) ?? []).some(isOptional)),
  };
}

function rulesOf(type: abstract new () => object): Rule[] {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
}

/** What is optional may also be null. */
function memberSchema(rules: Rule[], more: JsonObject): JsonObject {
  const found = rules.filter((rule) => !isOptional(rule) && rule.type !== 'nestedValidation').map(wordOf);
  const schema: JsonObject = Object.assign({}, ...found, more);
  if (!rules.some(isOptional)) return schema;
  const { type, enum: values, anyOf } = schema;
  return {
    ...schema,
    ...(type !== undefined && { type: [...new Set([type, 'null'].flat())] }),
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...anyOf, { type: 'null' }] }),
  };
}

function isOptional({ type }: Rule): boolean {
  return type === 'conditionalValidation';
}

function wordOf({ name = '', constraints }: Rule): JsonObject {
  const word = WORDS[name];
  if (!word) throw new TypeError(`the rule "${name}" has no word in JSON Schema`);
  return word(constraints?.[0] as JsonValue);
}

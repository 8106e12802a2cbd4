import type { JsonObject, JsonValue } from '#libs/protocol';
import { getMetadataStorage } from 'class-validator';

/** The part of class-validator's metadata that is read here. */
interface ValidationRule {
  propertyName: string;
  type: string;
  name?: string;
  /** Arguments of the decorator. */
  constraints?: readonly unknown[];
}

/** JSON Schema keywords for the rules of class-validator. */
const WORDS: Readonly<Record<string, (constraint: JsonValue) => JsonObject>> = {
  isString: () => ({ type: 'string' }),
  isNumber: () => ({ type: 'number' }),
  isBoolean: () => ({ type: 'boolean' }),
  isObject: () => ({ type: 'object' }),
  isArray: () => ({ type: 'array' }),
  arrayMaxSize: (maxItems) => ({ maxItems }),
  isIn: (values) => ({ enum: values }),
  // These rules carry their own schema in `members`.
  isNumberOrString: () => ({}),
  isJoin: () => ({}),
  eachEntry: () => ({}),
};

/**
 * Returns the JSON Schema of a request body class. It is derived from the validation rules that `readBody` applies.
 * @param members further keywords for each member, such as its description and its items; `sent` is excluded
 * @throws TypeError for a rule without an entry in `WORDS`
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

function rulesOf(type: abstract new () => object): ValidationRule[] {
  return getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
}

/** Builds the schema of one member. An optional member also accepts null. */
function memberSchema(rules: ValidationRule[], more: JsonObject): JsonObject {
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

function isOptional({ type }: ValidationRule): boolean {
  return type === 'conditionalValidation';
}

function wordOf({ name = '', constraints }: ValidationRule): JsonObject {
  const word = WORDS[name];
  if (!word) throw new TypeError(`the rule "${name}" has no word in JSON Schema`);
  return word(constraints?.[0] as JsonValue);
}

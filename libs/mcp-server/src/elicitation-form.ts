import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Members that MCP permits in a field of a form, by the type of its value. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'format', 'default', 'enum', 'enumNames'],
  number: ['minimum', 'maximum', 'default'],
  integer: ['minimum', 'maximum', 'default'],
  boolean: ['default'],
};
const FORMATS = new Set(['email', 'uri', 'date', 'date-time']);

/** Form schema as an elicitation may have it. */
export interface ElicitationSchema extends JsonObject {
  type: 'object';
  properties: JsonObject;
}

/** Schema of the answer to a question without a form. */
export const ANSWER_SCHEMA: ElicitationSchema = {
  type: 'object',
  properties: { answer: { type: 'string', title: 'Answer' } },
  required: ['answer'],
};

/**
 * Returns a human's form as an elicitation can show it: flat, with fields of simple types; `undefined` for any other
 * form. Members of a field that MCP does not define are omitted; the answer is checked against the full form.
 */
export function elicitationSchema(form: JsonObject): ElicitationSchema | undefined {
  const { type, properties, required } = form;
  if (type !== 'object' || !isJsonObject(properties)) return undefined;
  const fields = Object.entries(properties).map(([name, it]) => [name, fieldOf(it)] as const);
  if (fields.length === 0 || fields.some(([, field]) => field === undefined)) return undefined;
  const asked = Array.isArray(required) ? required.filter((it) => typeof it === 'string') : [];
  return {
    type: 'object',
    properties: Object.fromEntries(fields) as JsonObject,
    ...(asked.length > 0 && { required: asked }),
  };
}

function fieldOf(field: JsonValue): JsonObject | undefined {
  if (!isJsonObject(field)) return undefined;
  const type = typeof field['type'] === 'string' ? field['type'] : isChoice(field['enum']) ? 'string' : '';
  const known = MEMBERS[type];
  if (known === undefined || ('enum' in field && !isChoice(field['enum']))) return undefined;
  const kept = ['title', 'description', ...known].filter((name) => field[name] !== undefined);
  const { format, ...rest } = Object.fromEntries(kept.map((name) => [name, field[name]!]));
  return { type, ...rest, ...(typeof format === 'string' && FORMATS.has(format) && { format }) };
}

function isChoice(values: JsonValue | undefined): boolean {
  return Array.isArray(values) && values.every((it) => typeof it === 'string');
}

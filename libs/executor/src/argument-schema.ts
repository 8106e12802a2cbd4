import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Keywords that do not constrain a value. */
const ANNOTATIONS = new Set(['title', 'description', 'examples']);

/** JSON Schema of a tool's arguments. */
export type ArgumentSchema = { type: 'object' } & JsonObject;

/**
 * Returns the JSON Schema of the arguments through which a tool takes a workflow's inputs; `undefined` for a workflow
 * without inputs.
 * @param input schema of the workflow's input data (`SkillSchema.input`)
 */
export function argumentSchema(input: JsonObject): ArgumentSchema | undefined {
  const { properties } = input;
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return undefined;
  const typed = Object.entries(properties).map(([name, it]) => [
    name,
    saysNothing(it) ? { type: 'string', ...it } : it,
  ]);
  return { ...input, type: 'object', properties: Object.fromEntries(typed) as JsonObject };
}

/** True if the input may have any type. Models and clients expect a type, and text fits most. */
function saysNothing(property: JsonValue): property is JsonObject {
  return isJsonObject(property) && Object.keys(property).every((name) => ANNOTATIONS.has(name));
}

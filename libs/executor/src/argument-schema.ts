import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** Keywords that say nothing of a value. */
const ANNOTATIONS = new Set(['title', 'description', 'examples']);

/** The JSON Schema of a tool's arguments. */
export type ArgumentSchema = { type: 'object' } & JsonObject;

/**
 * Returns the JSON Schema of the arguments by which a tool takes the inputs of a workflow; `undefined` for a workflow
 * without inputs.
 * @param input the schema of the data that the workflow takes (`SkillSchema.input`)
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

/** True for an input that may be anything. Models and clients want to know a type, and text suits most. */
function saysNothing(property: JsonValue): property is JsonObject {
  return isJsonObject(property) && Object.keys(property).every((name) => ANNOTATIONS.has(name));
}

import { hasMoreMembers } from '#libs/http';
import { isJsonObject, jsonInText, type JsonObject, type JsonValue, tryParseJson } from '#libs/protocol';

/** Maximum nesting of a definition. */
const DEEPEST = 100;

/**
 * Returns the definition in a model's answer, which may have text or a code fence around it; `undefined` if the answer
 * has no JSON object.
 * @param mostMembers maximum members and elements of JSON
 */
export function writtenDefinition(answer: string, mostMembers: number): JsonObject | undefined {
  const found = jsonInText(answer, {
    read: (json) => (hasMoreMembers(json, mostMembers) ? undefined : tryParseJson(json, DEEPEST)),
    fits: isLikeDefinition,
  });
  return isJsonObject(found) ? found : undefined;
}

/** True if a value has what every definition has; the text around a definition may contain other JSON. */
function isLikeDefinition(value: JsonValue): boolean {
  return isJsonObject(value) && Array.isArray(value['nodes']);
}

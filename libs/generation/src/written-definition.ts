import { hasMoreMembers } from '#libs/http';
import { isJsonObject, jsonInText, type JsonObject, type JsonValue, tryParseJson } from '#libs/protocol';

/** Levels of lists and objects in a definition. */
const DEEPEST = 100;

/**
 * Returns the definition in the answer of a model, which may stand between words or in a fence; `undefined` where the
 * answer has no JSON object.
 * @param mostMembers members and elements that JSON may have
 */
export function writtenDefinition(answer: string, mostMembers: number): JsonObject | undefined {
  const found = jsonInText(answer, {
    read: (json) => (hasMoreMembers(json, mostMembers) ? undefined : tryParseJson(json, DEEPEST)),
    fits: isLikeDefinition,
  });
  return isJsonObject(found) ? found : undefined;
}

/** True if a value has what every definition has; words around it may hold other JSON. */
function isLikeDefinition(value: JsonValue): boolean {
  return isJsonObject(value) && Array.isArray(value['nodes']);
}

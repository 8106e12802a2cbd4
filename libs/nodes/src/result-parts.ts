import { dataPart, isJsonObject, type JsonValue, type Part, textPart } from '#libs/protocol';

/** Media types of a node that passes on its input unchanged. */
export const ANYTHING: readonly string[] = ['text/plain', 'application/json', '*/*'];

/**
 * Converts the result of a node's work to Parts: a text stays text, an object or list is data, any other value its
 * string form.
 */
export function resultParts(result: JsonValue): Part[] {
  if (typeof result === 'string') return [textPart(result)];
  if (isJsonObject(result) || Array.isArray(result)) return [dataPart(result)];
  return [textPart(String(result))];
}

/** Returns the Parts with a media type for each text. */
export function typedParts(parts: readonly Part[]): Part[] {
  return parts.map((part) => (part.text === undefined || part.mediaType ? part : { ...part, mediaType: 'text/plain' }));
}

import { dataPart, isJsonObject, type JsonValue, type Part, textPart } from '#libs/protocol';

/** Media types of a node that passes on whatever it is sent. */
export const ANYTHING: readonly string[] = ['text/plain', 'application/json', '*/*'];

/** What a node's work gave, as Parts: a text stays text, an object or list is data, all else its string form. */
export function resultParts(result: JsonValue): Part[] {
  if (typeof result === 'string') return [textPart(result)];
  if (isJsonObject(result) || Array.isArray(result)) return [dataPart(result)];
  return [textPart(String(result))];
}

/** The same Parts, every text with a media type. */
export function typedParts(parts: readonly Part[]): Part[] {
  return parts.map((part) => (part.text === undefined || part.mediaType ? part : { ...part, mediaType: 'text/plain' }));
}

import type { JsonObject, JsonValue } from './json.js';

export type Role = 'ROLE_USER' | 'ROLE_AGENT';

/**
 * A piece of content (A2A 1.0, section 4.1.6). Exactly one of `text`, `raw` (base64), `url` and `data` is present.
 */
export interface Part {
  text?: string;
  raw?: string;
  url?: string;
  data?: JsonValue;
  mediaType?: string;
  filename?: string;
  metadata?: JsonObject;
}

/** One turn of a conversation between a caller and an agent (section 4.1.4). */
export interface Message {
  messageId: string;
  contextId?: string;
  taskId?: string;
  role: Role;
  parts: Part[];
  metadata?: JsonObject;
  extensions?: string[];
  referenceTaskIds?: string[];
}

/** A text Part; its media type is `text/plain`. */
export function textPart(text: string): Part {
  return { text, mediaType: 'text/plain' };
}

/** A data Part; `application/json` unless set otherwise. */
export function dataPart(data: JsonValue, mediaType = 'application/json'): Part {
  return { data, mediaType };
}

/** The first text Part's text, or `undefined`. */
export function firstText(parts: readonly Part[]): string | undefined {
  return parts.find((part) => part.text !== undefined)?.text;
}

/**
 * The text of Parts that an agent may have made piece by piece, as it does an Artifact's: text Parts in a row are one
 * text, and the first such row counts. `undefined` where there is none.
 */
export function joinedText(parts: readonly Part[]): string | undefined {
  const start = parts.findIndex((part) => part.text !== undefined);
  if (start < 0) return undefined;
  const end = parts.findIndex((part, index) => index > start && part.text === undefined);
  const row = parts.slice(start, end < 0 ? undefined : end);
  return row.map(({ text }) => text).join('');
}

/** The first data Part's value, or `undefined`. */
export function firstData(parts: readonly Part[]): JsonValue | undefined {
  return parts.find((part) => part.data !== undefined)?.data;
}

/** What a Part costs beside its content. */
const PART_LENGTH = 64;

/** About how many characters Parts have as JSON. */
export function contentLength(parts: readonly Part[]): number {
  let characters = 0;
  for (const { text, raw, url, data } of parts) {
    characters += PART_LENGTH + (text ?? raw ?? url ?? '').length;
    if (data !== undefined) characters += JSON.stringify(data).length;
  }
  return characters;
}

import type { JsonObject, JsonValue } from './json.js';

export type MessageRole = 'ROLE_USER' | 'ROLE_AGENT';

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

/** Turn of a conversation between a caller and an agent (section 4.1.4). */
export interface Message {
  messageId: string;
  contextId?: string;
  taskId?: string;
  role: MessageRole;
  parts: Part[];
  metadata?: JsonObject;
  extensions?: string[];
  referenceTaskIds?: string[];
}

/** Creates a text Part with media type `text/plain`. */
export function textPart(text: string): Part {
  return { text, mediaType: 'text/plain' };
}

/** Creates a data Part; `application/json` unless set otherwise. */
export function dataPart(data: JsonValue, mediaType = 'application/json'): Part {
  return { data, mediaType };
}

/**
 * Part metadata key that names the owner of a Part which does not continue the text before it: Parts of one Message may
 * come from several Artifacts.
 */
export const PART_OF = 'parley/part-of';

/** True for a thought of a model, as agents of the Agent Development Kit mark it. */
export function isThought({ metadata }: Part): boolean {
  return metadata?.['adk_thought'] === true;
}

/** Returns the text of the first text Part that is not a thought; `undefined` without any. */
export function firstText(parts: readonly Part[]): string | undefined {
  return parts.find((part) => part.text !== undefined && !isThought(part))?.text;
}

/**
 * Joins the first run of consecutive text Parts: an agent may have produced them piece by piece. A run ends where
 * `PART_OF` changes. Thoughts are skipped. Returns `undefined` without text.
 */
export function joinedText(parts: readonly Part[]): string | undefined {
  const { start, end } = firstTextRow(parts);
  if (start < 0) return undefined;
  const row = parts.slice(start, end).filter((part) => !isThought(part));
  return row.map(({ text }) => text).join('');
}

/**
 * Returns the range of Parts that `joinedText` joins: `start` inclusive, `end` exclusive; `start` is -1 without text.
 */
export function firstTextRow(parts: readonly Part[]): { start: number; end: number } {
  const start = parts.findIndex((part) => part.text !== undefined && !isThought(part));
  if (start < 0) return { start, end: start };
  const of = parts[start]?.metadata?.[PART_OF];
  const isNext = (part: Part): boolean =>
    isThought(part) || (part.text !== undefined && part.metadata?.[PART_OF] === of);
  const end = parts.findIndex((part, index) => index > start && !isNext(part));
  return { start, end: end < 0 ? parts.length : end };
}

/** Returns the value of the first data Part; `undefined` without any. */
export function firstData(parts: readonly Part[]): JsonValue | undefined {
  return parts.find((part) => part.data !== undefined)?.data;
}

/** Characters counted for a Part beside its content. */
const PART_LENGTH = 64;

/** Estimates the number of characters of Parts as JSON. */
export function contentLength(parts: readonly Part[]): number {
  let characters = 0;
  for (const { text, raw, url, data } of parts) {
    characters += PART_LENGTH + (text ?? raw ?? url ?? '').length;
    if (data !== undefined) characters += JSON.stringify(data).length;
  }
  return characters;
}

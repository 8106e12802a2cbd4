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

/**
 * The Part metadata key that says what a Part belongs to, where it is no piece of the text before it: the Parts of one
 * Message may come from several Artifacts.
 */
export const PART_OF = 'parley/part-of';

/** True for what a model thought before it answered, as agents of the Agent Development Kit mark it. */
export function isThought({ metadata }: Part): boolean {
  return metadata?.['adk_thought'] === true;
}

/** The first text Part's text, or `undefined`. Thoughts are no text. */
export function firstText(parts: readonly Part[]): string | undefined {
  return parts.find((part) => part.text !== undefined && !isThought(part))?.text;
}

/**
 * The text of Parts that an agent may have made piece by piece, as it does an Artifact's: text Parts in a row are one
 * text, and the first such row counts. A row ends where what a Part belongs to (`PART_OF`) changes. Thoughts are left out.
 * `undefined` where there is none.
 */
export function joinedText(parts: readonly Part[]): string | undefined {
  const { start, end } = firstTextRow(parts);
  if (start < 0) return undefined;
  const row = parts.slice(start, end).filter((part) => !isThought(part));
  return row.map(({ text }) => text).join('');
}

/** Returns the range of Parts that `joinedText` joins: from `start` to before `end`; `start` is -1 without any. */
export function firstTextRow(parts: readonly Part[]): { start: number; end: number } {
  const start = parts.findIndex((part) => part.text !== undefined && !isThought(part));
  if (start < 0) return { start, end: start };
  const of = parts[start]?.metadata?.[PART_OF];
  const isNext = (part: Part): boolean =>
    isThought(part) || (part.text !== undefined && part.metadata?.[PART_OF] === of);
  const end = parts.findIndex((part, index) => index > start && !isNext(part));
  return { start, end: end < 0 ? parts.length : end };
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

import { isJsonObject, type JsonObject, type JsonValue } from './json.js';
import { textStart } from './text.js';

type MessageRole = 'ROLE_USER' | 'ROLE_AGENT';

/** Piece of content (A2A 1.0, section 4.1.6). Exactly one of `text`, `raw` (base64), `url` and `data` is present. */
export interface Part {
  text?: string;
  raw?: string;
  url?: string;
  data?: JsonValue;
  mediaType?: string;
  filename?: string;
  metadata?: JsonObject;
}

/** Message between a caller and an agent (A2A, section 4.1.4). */
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

/** Creates a data Part, by default with media type `application/json`. */
export function dataPart(data: JsonValue, mediaType = 'application/json'): Part {
  return { data, mediaType };
}

/**
 * Part metadata key that names the source of a Part, such as its Artifact. A text Part does not continue the text Part
 * before it if their sources differ: Parts of one Message may come from several Artifacts.
 */
export const PART_OF = 'parley/part-of';

/** True for a thought of a model, as agents of the Agent Development Kit (ADK) mark it. */
function isThought({ metadata }: Part): boolean {
  return metadata?.['adk_thought'] === true;
}

/** Returns the text of the first text Part that is not a thought; `undefined` without any. */
export function firstText(parts: readonly Part[]): string | undefined {
  return parts.find((part) => part.text !== undefined && !isThought(part))?.text;
}

/**
 * Joins the texts of the first run of consecutive text Parts: an agent may have produced them piece by piece. A run
 * ends where the source of the Parts (`PART_OF`) changes. Thoughts are skipped. Returns `undefined` without text.
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

/** Number of characters that `contentLength` adds for each Part, in place of the JSON around its content. */
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

/** Media type of a file that states none. */
const UNKNOWN_FILE = 'application/octet-stream';
/** Maximum number of characters of a file name or a URL in the line of `describedPart`. */
const LONGEST_NAME = 200;

/** True for a file: a Part with bytes or a URL. */
export function isFilePart({ raw, url }: Part): boolean {
  return raw !== undefined || url !== undefined;
}

/** Returns the kind of a Part, as events name it: `text`, `data`, or the media type of a file. */
export function partKind(part: Part): string {
  if (part.text !== undefined) return 'text';
  return isFilePart(part) ? textStart(part.mediaType ?? UNKNOWN_FILE, LONGEST_NAME) : 'data';
}

/**
 * Describes a Part in one line: a file by name, media type and size or URL, anything else by its length. Never contains
 * the bytes of a file.
 */
export function describedPart(part: Part): string {
  const { text, raw, url, data, filename } = part;
  const formatWords = (...said: (string | undefined)[]): string => `[${said.filter(Boolean).join(', ')}]`;
  if (text !== undefined) return formatWords('text', `${text.length} characters`);
  if (!isFilePart(part)) return formatWords('data', `${JSON.stringify(data ?? null).length} characters`);
  const name = filename === undefined ? 'file' : `file ${oneLine(filename)}`;
  return formatWords(name, oneLine(partKind(part)), raw === undefined ? oneLine(url ?? '') : `${sizeOf(raw)} bytes`);
}

/** Replaces the bytes of a Part with their number (`size`). */
export function withoutBytes(part: Part): Omit<Part, 'raw'> & { size?: number } {
  const { raw, ...rest } = part;
  return raw === undefined ? part : { ...rest, size: sizeOf(raw) };
}

/** Converts a Part to text for readers that take only text: data becomes JSON, a file the line of `describedPart`. */
export function partAsText(part: Part): Part {
  if (part.text !== undefined) return part;
  const text = isFilePart(part) ? describedPart(part) : JSON.stringify(part.data ?? null);
  return standIn(part, text);
}

/** Converts a Part to a text Part with the line of `describedPart`. */
export function partAsLine(part: Part): Part {
  return standIn(part, describedPart(part));
}

/** Returns the Parts except empty texts and thoughts of a model. */
export function spokenParts(parts: readonly Part[]): Part[] {
  return parts.filter((part) => part.text !== '' && !isThought(part));
}

/** Returns the texts of Parts, each run of consecutive text Parts joined as by `joinedText`. Skips thoughts. */
export function textRows(parts: readonly Part[]): string[] {
  const rows: string[] = [];
  let of: unknown;
  let isOpen = false;
  for (const part of parts) {
    if (isThought(part)) continue;
    const { text, metadata } = part;
    if (text !== undefined && isOpen && metadata?.[PART_OF] === of) rows[rows.length - 1] += text;
    else if (text !== undefined) rows.push(text);
    isOpen = text !== undefined;
    of = metadata?.[PART_OF];
  }
  return rows;
}

/** Joins adjacent text Parts with equal other members: an agent may have produced them word by word. */
export function mergedTexts(parts: readonly Part[]): Part[] {
  const merged: Part[] = [];
  let row: string[] = [];
  let members = '';
  const closeRow = (): void => {
    const last = merged.at(-1);
    if (last && row.length > 1) merged[merged.length - 1] = { ...last, text: row.join('') };
    row = [];
  };
  for (const part of parts) {
    const { text, ...rest } = part;
    const own = text === undefined ? '' : JSON.stringify(rest);
    if (text !== undefined && row.length > 0 && own === members) {
      row.push(text);
      continue;
    }
    closeRow();
    merged.push(part);
    if (text !== undefined) row = [text];
    members = own;
  }
  closeRow();
  return merged;
}

/** Creates a text Part in place of another Part. It does not continue the text Part before it. */
function standIn({ metadata }: Part, text: string): Part {
  const of = metadata?.[PART_OF];
  return { ...textPart(text), metadata: { [PART_OF]: of ?? 'description' } };
}

function oneLine(text: string): string {
  return textStart(text, LONGEST_NAME).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}

/** Returns the number of bytes that a base64 text encodes. */
function sizeOf(raw: string): number {
  const padding = raw.endsWith('==') ? 2 : raw.endsWith('=') ? 1 : 0;
  return Math.floor((raw.length * 3) / 4) - padding;
}

/**
 * Part metadata key that marks a file that was sent as `raw` and moved to the file storage, at the Part's `url`. Only
 * marks written by this service are trusted.
 */
export const KEPT_FILE = 'parley/file';

/** File that was moved to the file storage, as stored under `KEPT_FILE`. */
export interface KeptFile {
  readonly id: string;
  /** Number of bytes of the file. */
  readonly size: number;
  /** SHA-256 digest of the bytes, in hexadecimal. */
  readonly sha256: string;
}

/** True if the metadata of a Part has any value under `KEPT_FILE`, from any author. */
export function claimsKeptFile({ metadata }: Part): boolean {
  return metadata !== undefined && Object.hasOwn(metadata, KEPT_FILE);
}

/** Reads the file under `KEPT_FILE` of a Part; `undefined` if there is none or it is invalid. */
export function keptFileOf({ metadata }: Part): KeptFile | undefined {
  const file = metadata?.[KEPT_FILE];
  if (!isJsonObject(file)) return undefined;
  const { id, size, sha256 } = file;
  if (typeof id !== 'string' || typeof size !== 'number' || typeof sha256 !== 'string') return undefined;
  return { id, size, sha256 };
}

/** Returns a Part with the URL of a kept file in place of its bytes, and the file under `KEPT_FILE`. */
export function withKeptFile({ raw: _raw, ...part }: Part, url: string, file: KeptFile): Part {
  return { ...part, url, metadata: { ...part.metadata, [KEPT_FILE]: { ...file } } };
}

/** Returns the same Part without a value under `KEPT_FILE`. */
export function withoutKeptFile({ metadata, ...part }: Part): Part {
  const { [KEPT_FILE]: _file, ...rest } = metadata ?? ({} as JsonObject);
  return Object.keys(rest).length === 0 ? part : { ...part, metadata: rest };
}

/** Restores the bytes of a kept file, in base64, in place of its URL. */
export function withBytes(part: Part, raw: string): Part {
  const { url: _url, ...rest } = withoutKeptFile(part);
  return { ...rest, raw };
}

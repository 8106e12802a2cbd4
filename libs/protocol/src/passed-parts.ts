import { textStart } from './brief-text.js';
import { isThought, PART_OF, type Part, textPart } from './message.js';

/** Media type of a file without one. */
const UNKNOWN_FILE = 'application/octet-stream';
/** Maximum number of characters of a name or a URL in a line. */
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

/** Converts a Part to the line of `describedPart`. */
export function partAsLine(part: Part): Part {
  return standIn(part, describedPart(part));
}

/** Returns the Parts without empty texts and thoughts. */
export function spokenParts(parts: readonly Part[]): Part[] {
  return parts.filter((part) => part.text !== '' && !isThought(part));
}

/** Returns the texts of Parts, each run of consecutive pieces joined; thoughts are skipped. */
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

/** Creates a text Part that does not continue the text before it. */
function standIn({ metadata }: Part, text: string): Part {
  const of = metadata?.[PART_OF];
  return { ...textPart(text), metadata: { [PART_OF]: of ?? 'description' } };
}

function oneLine(text: string): string {
  return textStart(text, LONGEST_NAME).replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}

/** Returns the number of bytes encoded in base64. */
function sizeOf(raw: string): number {
  const padding = raw.endsWith('==') ? 2 : raw.endsWith('=') ? 1 : 0;
  return Math.floor((raw.length * 3) / 4) - padding;
}

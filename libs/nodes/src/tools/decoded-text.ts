import { textBefore } from '#libs/protocol';

/** Number of bytes at the start of a page in which HTML declares its character set. */
const HEAD_BYTES = 1_024;
const MARKS: readonly [label: string, bytes: readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];

/**
 * Returns the text of a response body. The character set comes from the byte order mark, else `content-type`, else the
 * head of an HTML page, else it is UTF-8. An unknown set is read as UTF-8.
 */
export function decodedText(body: Uint8Array, contentType: string): string {
  const label = markOf(body) ?? charsetOf(contentType) ?? (isHtml(contentType) ? charsetOfPage(body) : undefined);
  return decodeBytes(body, label);
}

function markOf(body: Uint8Array): string | undefined {
  return MARKS.find(([, bytes]) => bytes.every((byte, place) => body[place] === byte))?.[0];
}

/** Returns the `charset` of a media type; its value may be quoted. */
function charsetOf(contentType: string): string | undefined {
  const parameters = contentType.split(';').slice(1);
  const value = parameters.map((it) => /^\s*charset\s*=\s*["']?([^"']*)/i.exec(it)?.[1]).find((it) => it !== undefined);
  return value?.trim();
}

function isHtml(contentType: string): boolean {
  return /^(text\/html|application\/xhtml\+xml)$/i.test(textBefore(contentType, ';').trim());
}

/** Returns the charset that a page declares. A declared UTF-16 is read as UTF-8 (HTML, "prescan a byte stream"). */
function charsetOfPage(body: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(body.subarray(0, HEAD_BYTES));
  const tags = head.split(/<meta\s/i).slice(1);
  const said = tags.map((it) => /\bcharset\s*=\s*["']?([\w.:-]+)/i.exec(textBefore(it, '>'))?.[1]);
  const label = said.find((it) => it !== undefined);
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function decodeBytes(body: Uint8Array, label: string | undefined): string {
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

import { malformedRequest } from '#libs/http-server';
import type { FileLabel } from './stored-file.js';

/** Maximum length of a file name, in bytes of UTF-8. */
const LONGEST_NAME = 255;
const LONGEST_MEDIA_TYPE = 200;
const DEFAULT_NAME = 'file';
const DEFAULT_MEDIA_TYPE = 'application/octet-stream';
const TOKEN = "[A-Za-z0-9!#$%&'*+.^_`|~-]+";
const MEDIA_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}([ \\t]*;[ \\t]*${TOKEN}=(${TOKEN}|"[\\x20-\\x21\\x23-\\x5b\\x5d-\\x7e]*"))*$`,
);
// Names are shown to people: remove control characters, line separators, and characters that change the text direction.
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Multipart media types. For `multipart/x-mixed-replace`, a browser would show each part in place of the page. */
const IN_PIECES = /^multipart\//i;
/**
 * Types that a page executes as a script or applies as a style sheet, however they are sent (WHATWG MIME Sniffing,
 * 4.6).
 */
const RUN_BY_PAGES = /^(?:(?:application|text)\/(?:x-)?(?:java|ecma|j|live)script[\d.]*|text\/css)(?=[ \t;]|$)/i;

interface SentLabel {
  name?: string | undefined;
  mediaType?: string | undefined;
}

/**
 * Returns the name and media type of an uploaded file, made safe. Defaults are `file` and `application/octet-stream`,
 * also for an invalid media type. Removes folders before the name, and characters that control a terminal or the
 * direction of text.
 * @param path name of the field, for the error
 * @throws ProblemError 400 for a name of more than 255 bytes
 */
export function fileLabel({ name: sentName, mediaType: sentType }: SentLabel, path: string): FileLabel {
  const last = (sentName ?? '').split(/[/\\]/).at(-1) ?? '';
  const cleaned = last.toWellFormed().replace(UNSAFE, '').trim();
  const name = /^\.*$/.test(cleaned) ? DEFAULT_NAME : cleaned;
  if (Buffer.byteLength(name) > LONGEST_NAME)
    throw malformedRequest({ path, detail: `the name must have at most ${LONGEST_NAME} bytes` });
  const mediaType = (sentType ?? '').trim();
  return { name, mediaType: isMediaType(mediaType) ? mediaType : DEFAULT_MEDIA_TYPE };
}

/** True if a text is a media type of at most 200 characters, with parameters or without. */
export function isMediaType(text: string): boolean {
  return text.length <= LONGEST_MEDIA_TYPE && MEDIA_TYPE.test(text);
}

/**
 * Returns the file name in a `Content-Disposition` header (RFC 6266): the value of `filename*`, else the value of
 * `filename`; `undefined` without either.
 * @throws ProblemError 400 if `filename*` is malformed
 */
export function sentFileName(disposition: string | undefined): string | undefined {
  if (disposition === undefined) return undefined;
  const extended = /;\s*filename\*\s*=\s*utf-8'[\w-]*'([^\s;]+)/i.exec(disposition)?.[1];
  if (extended !== undefined) return decodeName(extended);
  const [, quoted, token] = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(disposition) ?? [];
  const name = quoted?.replace(/\\(.)/g, '$1') ?? token;
  // Clients send UTF-8 here, but Node decodes headers as Latin-1.
  return name === undefined ? undefined : utf8Of(name);
}

/**
 * Returns the `Content-Type` with which a file is served. The types of scripts and style sheets become `text/plain`: a
 * page could load such a file in spite of `Content-Disposition`, but because of `nosniff` not as plain text.
 * `multipart/*` becomes `application/octet-stream`.
 */
export function harmlessMediaType(mediaType: string): string {
  return IN_PIECES.test(mediaType) ? DEFAULT_MEDIA_TYPE : mediaType.replace(RUN_BY_PAGES, 'text/plain');
}

/** Returns a `Content-Disposition` that makes a browser save a file under its name, whatever its content is. */
export function attachmentNamed(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformedRequest({ path: 'Content-Disposition', detail: 'filename* must be UTF-8 in percent-encoding' });
  }
}

function utf8Of(latin1: string): string {
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? latin1 : text;
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '#libs/http-server';
import type { FileContents } from './file-contents.js';
import { attachmentNamed, harmlessMediaType } from './file-label.js';
import type { ByteRange } from './file-storage.js';
import { freeSentChunks } from './spent-memory.js';
import type { StoredFile } from './stored-file.js';

/**
 * Form of a `Range` header with a single range; a client that requests several ranges gets the whole content (RFC 9110,
 * section 14.2 permits it).
 */
const RANGE = /^\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i;

/**
 * Returns the part of a content that a `Range` requests (RFC 9110, section 14.1.2): `undefined` for the whole content,
 * `unsatisfiable` if the part is empty.
 * @param size bytes of the content
 */
export function requestedRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = RANGE.exec(header ?? '') ?? [];
  if (from === '' && to === '') return undefined;
  if (from === '')
    return Number(to) === 0 || size === 0 ? 'unsatisfiable' : { first: Math.max(size - Number(to), 0), last: size - 1 };
  const first = Number(from);
  if (to !== '' && Number(to) < first) return undefined;
  if (first >= size) return 'unsatisfiable';
  return { first, last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}

/**
 * True if a list of entity tags (`If-None-Match`) contains the given one, compared weakly (RFC 9110, section 8.8.3.2).
 */
export function hasEntityTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((it) => it.trim() === '*' || it.trim().replace(/^W\//, '') === tag);
}

/**
 * Answers a GET or HEAD with the content of a file, or the requested range (RFC 9110): 200, 206, or 304 if the client
 * has the content. Browsers save the content and never show or execute it: uploads must not become a page, a script or
 * a style sheet of this service.
 * @throws ProblemError 416 for a range beyond the content; 404 or 503 if the content is not available
 */
export async function answerFile(
  contents: FileContents,
  file: StoredFile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { headers } = request.raw;
  const tag = `"${file.sha256}"`;
  if (hasEntityTag(headers['if-none-match'], tag)) return void reply.status(304).header('etag', tag).send();
  const isSame = headers['if-range'] === undefined || headers['if-range'] === tag;
  // Ranges apply to GET only (RFC 9110, section 14.2).
  const isHead = request.method === 'HEAD';
  const range = isSame && !isHead ? requestedRange(headers.range, file.size) : undefined;
  if (range === 'unsatisfiable') throw rangeUnsatisfiable(reply, file.size);
  const content = isHead ? undefined : await contents.openContent(file, range);
  setHeaders(reply, file, tag);
  setLength(reply, file, range);
  if (content) freeSentChunks(content, reply.raw);
  void reply.send(content);
}

function setHeaders(reply: FastifyReply, { name, mediaType }: StoredFile, tag: string): void {
  void reply.headers({
    etag: tag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-type': harmlessMediaType(mediaType),
    'content-disposition': attachmentNamed(name),
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
  });
}

function setLength(reply: FastifyReply, { size }: StoredFile, range: ByteRange | undefined): void {
  if (!range) return void reply.status(200).header('content-length', size);
  const { first, last } = range;
  void reply
    .status(206)
    .header('content-range', `bytes ${first}-${last}/${size}`)
    .header('content-length', last - first + 1);
}

function rangeUnsatisfiable(reply: FastifyReply, size: number): ProblemError {
  void reply.header('content-range', `bytes */${size}`);
  const detail = `the file has ${size} bytes, none of them in this range`;
  return new ProblemError(416, `Range: ${detail}`, [{ path: 'Range', detail }], 'RANGE_NOT_SATISFIABLE');
}

import type { LanguageModelV4, LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import type { OutboundFetch } from '#libs/outbound';
import type { Part } from '#libs/protocol';
import { boundedFetch, MAX_ANSWER_BYTES } from './bounded-fetch.js';
import { ModelError } from './model-error.js';
import type { ReadFile } from './prompt.js';

const TIMEOUT_MS = 60_000;
const UNKNOWN = 'application/octet-stream';
const TEXT = /^(text\/|application\/(json|xml|yaml)$|application\/\S+\+(json|xml)$)/;

/** Returns the content of a file of this service by its URL; `undefined` for any other URL. */
type ReadOwnFile = (url: string, maxBytes: number) => Promise<Buffer | undefined>;

/** Where the files of one call come from. */
export interface FileSources {
  /** The way to files elsewhere. */
  send: OutboundFetch;
  /** The way to files of this service; absent: there are none. */
  readOwn?: ReadOwnFile | undefined;
  signal: AbortSignal;
}

/**
 * Files as a model takes them: by their bytes, or by their address where the provider reads such itself. A file of this
 * service is read from its storage: a provider has no key for it. What any other address leads to is read through the
 * guard of outbound calls, by nobody else.
 */
export function filesFor(
  { supportedUrls }: LanguageModelV4,
  modes: readonly string[],
  { send, readOwn, signal }: FileSources,
): ReadFile {
  return async (part) => {
    const mediaType = (part.mediaType ?? UNKNOWN).split(';', 1)[0]!.trim().toLowerCase();
    if (!modes.some((mode) => covers(mode, mediaType))) return undefined;
    const name = part.filename === undefined ? {} : { filename: part.filename };
    const own = part.url === undefined ? undefined : await ownContent(part.url, readOwn, signal);
    if (own !== undefined) return filePart(own.toString('base64'), mediaType, name);
    if (part.url !== undefined && (await reads(supportedUrls, mediaType, part.url)))
      return { type: 'file', data: { type: 'url', url: new URL(part.url) }, mediaType, ...name };
    const base64 = part.raw ?? (await fetched(part.url ?? '', send, signal));
    return filePart(base64, mediaType, name);
  };
}

/** Providers take few kinds of files; a text is text to all of them. */
function filePart(
  base64: string,
  mediaType: string,
  name: Pick<Part, 'filename'>,
): LanguageModelV4FilePart | LanguageModelV4TextPart {
  if (!TEXT.test(mediaType)) return { type: 'file', data: { type: 'data', data: base64 }, mediaType, ...name };
  const text = Buffer.from(base64, 'base64').toString();
  return { type: 'text', text: name.filename === undefined ? text : `${name.filename}:\n${text}` };
}

/** Whether a range such as `image/*` covers a media type. */
function covers(range: string, mediaType: string): boolean {
  return range === '*/*' || range === '*' || range === mediaType || matchesSub(range, mediaType);
}

function matchesSub(range: string, mediaType: string): boolean {
  return range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1));
}

async function reads(urls: LanguageModelV4['supportedUrls'], mediaType: string, url: string): Promise<boolean> {
  const known = Object.entries(await urls).filter(([range]) => covers(range, mediaType));
  return URL.canParse(url) && known.some(([, patterns]) => patterns.some((it) => it.test(url.toLowerCase())));
}

async function ownContent(
  url: string,
  readOwn: ReadOwnFile | undefined,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  try {
    return await readOwn?.(url, MAX_ANSWER_BYTES);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error && error.name === 'ContentTooLong' ? ': it is too long' : '';
    throw new ModelError(`a file that the model was to read cannot be had from its URL${reason}`, { cause: error });
  }
}

async function fetched(url: string, send: OutboundFetch, signal: AbortSignal): Promise<string> {
  const limited = boundedFetch(
    (input, init) => send(input as string, { ...init, totalMs: TIMEOUT_MS }),
    MAX_ANSWER_BYTES,
  );
  try {
    const answer = await limited(url, { signal });
    if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
    return Buffer.from(await answer.arrayBuffer()).toString('base64');
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error && /^HTTP|^the answer/.test(error.message) ? `: ${error.message}` : '';
    throw new ModelError(`a file that the model was to read cannot be had from its URL${reason}`, { cause: error });
  }
}

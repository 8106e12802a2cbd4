import type { LanguageModelV4, LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider';
import type { OutboundFetch } from '#libs/http-client';
import type { Part } from '#libs/protocol';
import { CONTENT_WAIT_MS, type ContentPlace, TooManyContents } from '#libs/service';
import { MAX_ANSWER_BYTES, ModelError } from '../model.js';
import type { ReadFile } from './prompt.js';
import { boundedFetch } from './provider-fetch.js';

/** Time limit in milliseconds for one remote file. The wait for memory is not included. */
const TIMEOUT_MS = 60_000;
/** Maximum number of files that one call of a model reads. Each file may need a request. */
const MOST_FILES = 100;
/** Number of copies of a file in memory: one in the prompt, and one in the body of the request. */
const COPIES = 2;
const UNKNOWN = 'application/octet-stream';
const TEXT = /^(text\/|application\/(json|xml|yaml)$|application\/\S+\+(json|xml)$)/;

/**
 * Returns the content of a file of this service by its URL; `undefined` for any other URL.
 * @param admit called with the number of bytes before the bytes are read; if `admit` throws, the file is not read
 */
type ReadOwnFile = (url: string, admit: (bytes: number) => Promise<void>) => Promise<Buffer | undefined>;

/** Sources of the files of one call of a model, and their limits. */
export interface FileSources {
  /** Fetches remote files that Messages name by URL. */
  send: OutboundFetch;
  /** Reads files of this service; absent if the call may read none. */
  readOwn?: ReadOwnFile | undefined;
  /** Maximum number of base64 characters of all files of the call. */
  limit: number;
  /** Account of the memory that the files of the call hold; absent: calls do not wait for memory. */
  place?: ContentPlace | undefined;
  signal: AbortSignal;
}

/**
 * Returns a function that converts a file Part for a model; its result is `undefined` if the model does not accept the
 * media type.
 * - A file of this service is read from its storage, as a provider has no key for its URL.
 * - A URL that the provider can read is passed on.
 * - Any other URL is fetched through the guard of outbound calls.
 * - Parts must be converted one after the other.
 */
export function filesFor({ supportedUrls }: LanguageModelV4, modes: readonly string[], sources: FileSources): ReadFile {
  const files = new CallFiles(sources);
  return async (part) => {
    const mediaType = (part.mediaType ?? UNKNOWN).split(';', 1)[0]!.trim().toLowerCase();
    if (!modes.some((mode) => coversMediaType(mode, mediaType))) return undefined;
    const name = part.filename === undefined ? {} : { filename: part.filename };
    const known = part.url === undefined ? undefined : await files.readHere(part.url);
    if (known !== undefined) return filePart(known, mediaType, name);
    if (part.url !== undefined && (await providerReads(supportedUrls, mediaType, part.url)))
      return { type: 'file', data: { type: 'url', url: new URL(part.url) }, mediaType, ...name };
    return filePart(part.raw ?? (await files.fetchElsewhere(part.url ?? '')), mediaType, name);
  };
}

/**
 * Reads the files of one call of a model as base64, one at a time.
 *
 * - Each URL is read once. Each Part with the URL counts toward the limit, as the model receives the file each time.
 * - Bytes are counted before they are read: for the limit of the call, and for the memory that all calls share.
 */
class CallFiles {
  /** Contents in base64, by URL. */
  private readonly contents = new Map<string, string>();
  private bytes = 0;

  constructor(private readonly sources: FileSources) {}

  /** Returns a file of this service, or a remote file that was read before; `undefined` for any other URL. */
  async readHere(url: string): Promise<string | undefined> {
    const known = this.contents.get(url);
    if (known === undefined) {
      const own = await this.ownContent(url);
      return own && this.keepContent(url, own);
    }
    await this.admitBytes(Buffer.byteLength(known, 'base64'));
    return known;
  }

  /**
   * Fetches a remote file, and returns its content in base64. @throws ModelError if it cannot be read or exceeds a
   * limit
   */
  async fetchElsewhere(url: string): Promise<string> {
    this.assertOneMore();
    return this.keepContent(url, await this.downloadFile(url));
  }

  private keepContent(url: string, content: Buffer): string {
    const base64 = content.toString('base64');
    this.contents.set(url, base64);
    return base64;
  }

  private assertOneMore(): void {
    if (this.contents.size >= MOST_FILES) throw new ModelError(`a model reads at most ${MOST_FILES} files in one call`);
  }

  private async admitBytes(bytes: number): Promise<void> {
    const { limit, place, signal } = this.sources;
    this.bytes += bytes;
    const characters = Math.ceil(this.bytes / 3) * 4;
    if (characters > limit)
      throw new ModelError(
        `the files for a model have more than ${limit} characters of base64 in one call (ARTIFACT_LIMIT)`,
      );
    await place?.holdBytes(COPIES * characters, signal);
  }

  private async ownContent(url: string): Promise<Buffer | undefined> {
    try {
      return await this.sources.readOwn?.(url, async (bytes) => {
        this.assertOneMore();
        if (bytes > MAX_ANSWER_BYTES) throw unreadableFile(': it is too long');
        await this.admitBytes(bytes);
      });
    } catch (error) {
      throw this.toFileError(error);
    }
  }

  private async downloadFile(url: string): Promise<Buffer> {
    const { send, signal } = this.sources;
    const limited = boundedFetch(
      (input, init) => send(input as string, { ...init, totalMs: TIMEOUT_MS + CONTENT_WAIT_MS }),
      MAX_ANSWER_BYTES,
      { place: { countRead: (bytes) => this.admitBytes(bytes) }, signal },
    );
    try {
      const answer = await limited(url, { signal });
      if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
      return Buffer.from(await answer.arrayBuffer());
    } catch (error) {
      throw this.toFileError(error);
    }
  }

  /** Converts an error of reading a file to a ModelError. @throws the reason of the signal if it has aborted */
  private toFileError(error: unknown): unknown {
    this.sources.signal.throwIfAborted();
    if (error instanceof ModelError || error instanceof TooManyContents) return error;
    const reason = error instanceof Error && /^HTTP|^the answer/.test(error.message) ? `: ${error.message}` : '';
    return unreadableFile(reason, error);
  }
}

function unreadableFile(reason: string, cause?: unknown): ModelError {
  return new ModelError(`a file for the model cannot be fetched from its URL${reason}`, { cause });
}

/** Returns the Part for a model. A file of a text type is passed as text, as providers support few types of files. */
function filePart(
  base64: string,
  mediaType: string,
  name: Pick<Part, 'filename'>,
): LanguageModelV4FilePart | LanguageModelV4TextPart {
  if (!TEXT.test(mediaType)) return { type: 'file', data: { type: 'data', data: base64 }, mediaType, ...name };
  const text = Buffer.from(base64, 'base64').toString();
  return { type: 'text', text: name.filename === undefined ? text : `${name.filename}:\n${text}` };
}

/** True if a range such as `image/*` covers a media type. */
function coversMediaType(range: string, mediaType: string): boolean {
  return range === '*/*' || range === '*' || range === mediaType || matchesSub(range, mediaType);
}

function matchesSub(range: string, mediaType: string): boolean {
  return range.endsWith('/*') && mediaType.startsWith(range.slice(0, -1));
}

async function providerReads(urls: LanguageModelV4['supportedUrls'], mediaType: string, url: string): Promise<boolean> {
  const known = Object.entries(await urls).filter(([range]) => coversMediaType(range, mediaType));
  return URL.canParse(url) && known.some(([, patterns]) => patterns.some((it) => it.test(url.toLowerCase())));
}

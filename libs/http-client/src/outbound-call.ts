import { types } from 'node:util';
import { cacheStores, type Dispatcher, interceptors } from 'undici';
import { OutboundInterruptedError, OutboundTimeoutError, OutboundTooLongError } from './outbound-errors.js';

/**
 * Function that is called once a call has a connection, right before its first byte is sent. An error that it throws
 * ends the call, and nothing is sent.
 */
export type SendGate = () => void;

/** HTTP call of the outbound client, without the objects of the Fetch API. */
export interface OutboundCall extends OutboundTimes {
  url: URL;
  method: 'GET' | 'POST' | 'DELETE';
  /** Headers, with names in lower case. */
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
  /** Handling of redirects; default `follow`. `error`: a redirect is an error. */
  redirect?: 'follow' | 'error';
  gate?: SendGate | undefined;
}

/**
 * Time limits of one call, in milliseconds; 0 is no limit.
 *
 * - `firstByteMs` and `idleMs` start again with each followed redirect; `totalMs` limits all requests of the call
 *   together.
 * - `firstByteMs` and `idleMs` are checked by a coarse clock, so they may expire up to a second late.
 */
export interface OutboundTimes {
  /** Maximum time until the answer's head has arrived, default 300,000. */
  firstByteMs?: number;
  /** Maximum time between two pieces of the answer's body, default 300,000. */
  idleMs?: number;
  /** Maximum time until the answer's body has ended, default no limit. */
  totalMs?: number;
}

/**
 * Answer to an OutboundCall, once its head has arrived.
 *
 * - The body is read once, as text or in pieces, or discarded.
 * - gzip, deflate and brotli are decoded.
 * - If the body breaks off, reading it throws the errors of the outbound client.
 */
export interface OutboundAnswer {
  readonly status: number;
  /** Returns a header by its lower-case name, several values joined by commas; `undefined` if it is absent. */
  getHeader(name: string): string | undefined;
  /**
   * Reads the whole body as UTF-8.
   * @throws OutboundTooLongError beyond `maxBytes`, counted after decompression (`Content-Encoding`)
   */
  readText(maxBytes: number): Promise<string>;
  /**
   * Yields the body piece by piece as it arrives. A reader that stops before the end closes the connection, unless the
   * body ends within a moment.
   */
  readPieces(): AsyncIterable<Uint8Array>;
  /** Discards the response's body unread. */
  discardBody(): void;
}

const MAX_ENTRIES = 1_000;
const MAX_BYTES = 32 * 1024 ** 2;
/** Maximum number of bytes of an answer's body in calls with the HTTP cache. A longer body is an error. */
export const MAX_CACHED_BODY = 2 * 1024 ** 2;

/** HTTP cache in memory for answers to GET (RFC 9111): at most 1,000 answers and 32 MiB. */
export class CachedAnswers {
  private readonly store = new cacheStores.MemoryCacheStore({
    maxCount: MAX_ENTRIES,
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_CACHED_BODY,
  });

  /** Layer for undici's dispatchers that adds the cache. */
  readonly layer: Dispatcher.DispatcherComposeInterceptor = interceptors.cache({ store: this.store, methods: ['GET'] });

  /**
   * Returns the time, in milliseconds since 1970, until which the cached answer to a GET is fresh. Until then, what was
   * parsed from the answer can be used without a new request. Returns 0 if no successful answer is cached, or the answer
   * must be revalidated at each use.
   */
  freshUntil(url: URL, headers: Record<string, string>): number {
    const found = this.store.get({ origin: url.origin, path: url.pathname + url.search, method: 'GET', headers });
    if (found === undefined || found instanceof Promise || found.statusCode !== 200) return 0;
    if (found.cacheControlDirectives?.['no-cache'] || found.staleAt <= found.cachedAt) return 0;
    return found.staleAt;
  }
}

/** Options of `OutboundFetch`: the options of `fetch`, and time limits. */
export interface OutboundInit extends RequestInit, OutboundTimes, Pick<OutboundCall, 'gate'> {}

/** Time limits of one request, and the conversion of errors when a limit expires. */
export class OutboundDeadlines {
  readonly firstByteMs: number | undefined;
  readonly idleMs: number | undefined;
  /** Signal that aborts when the caller's signal aborts or the total time is over; `undefined` if there is neither. */
  readonly signal: AbortSignal | undefined;

  /**
   * @param caller signal of the caller, if it has one
   * @param total signal of the total time of the call (`totalSignal`), which all its redirected requests share
   */
  constructor(
    private readonly caller: AbortSignal | undefined,
    { firstByteMs, idleMs }: OutboundTimes,
    private readonly total: AbortSignal | undefined,
  ) {
    this.firstByteMs = firstByteMs;
    this.idleMs = idleMs;
    this.signal = caller && total ? AbortSignal.any([caller, total]) : (caller ?? total);
  }

  /** Starts the total time of a call; `undefined` for a call without that limit. */
  static totalSignal({ totalMs }: OutboundTimes): AbortSignal | undefined {
    return totalMs ? AbortSignal.timeout(totalMs) : undefined;
  }

  /** Converts an error of undici to the error that callers see. */
  translateError(error: unknown): unknown {
    if (this.caller?.aborted) return this.caller.reason;
    if (this.total?.aborted) return new OutboundTimeoutError('total', { cause: error });
    if (!types.isNativeError(error) || error.name.startsWith('Outbound')) return error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'UND_ERR_HEADERS_TIMEOUT') return new OutboundTimeoutError('first-byte', { cause: error });
    if (code === 'UND_ERR_BODY_TIMEOUT') return new OutboundTimeoutError('idle', { cause: error });
    if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new OutboundTooLongError(MAX_CACHED_BODY);
    if (code === 'UND_ERR_INVALID_ARG') return new TypeError(error.message, { cause: error });
    return new OutboundInterruptedError(`The connection broke (${code ?? error.name})`, { cause: error });
  }
}

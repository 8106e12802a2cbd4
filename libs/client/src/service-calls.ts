import { ParleyError, ParleyUnreachable } from './parley-error.js';

/** URL of the service to call, and the caller's key. */
export interface ServiceOptions {
  /** Base URL of the service, with or without a trailing slash. */
  url: string;
  /**
   * Key of the service, or a token of an identity provider, sent as `Authorization: Bearer`; absent: requests have
   * none.
   */
  apiKey?: string | undefined;
  /** Replacement for the global `fetch`, which is used by default. */
  fetch?: typeof fetch | undefined;
}

export interface ServiceRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** Body of the request. FormData is sent unchanged, any other value as JSON; absent: no body. */
  body?: unknown;
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * True if a POST may be retried, since repeating it has no further effect. A POST with an `idempotency-key` may
   * always be retried.
   */
  repeatable?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Milliseconds before each retry, unless the service asks for another delay (`Retry-After`). */
const PAUSES = [200, 500, 1_000, 2_000, 4_000];
/** Maximum of a delay that the service asks for, in milliseconds. */
const LONGEST_PAUSE = 30_000;
/** HTTP statuses of a service that is temporarily away or overloaded (rate limit). */
export const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Calls one service. A repeatable request is retried while the service is away or overloaded. */
export class ServiceCalls {
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly #headers: Record<string, string>;

  /** @throws ParleyError for an invalid URL, and for a key that no header can carry */
  constructor({ url, apiKey, fetch: call = fetch }: ServiceOptions) {
    if (!isServiceUrl(url)) throw new ParleyError({ status: 0, reason: 'MALFORMED', message: NO_URL });
    if (apiKey !== undefined && !isCarried(apiKey))
      throw new ParleyError({ status: 0, reason: 'MALFORMED', message: NO_KEY });
    this.#base = url.replace(/(?<!\/)\/+$/, '');
    this.#fetch = (...request) => call(...request);
    this.#headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  }

  /**
   * Sends a request and returns the JSON of the answer, or `undefined` for an empty answer.
   * @throws ParleyError if the service refuses; ParleyUnreachable if it does not answer
   */
  async requestJson<T>(path: string, request: ServiceRequest = {}): Promise<T> {
    const response = await this.requestResponse(path, request);
    const text = await this.#readText(response, request);
    try {
      return (text === '' ? undefined : JSON.parse(text)) as T;
    } catch {
      throw ParleyError.foreign(response, 'JSON');
    }
  }

  /** Sends a request, with retries, and yields the text of its answer piece by piece. */
  async *streamText(path: string, request: ServiceRequest = {}): AsyncGenerator<string, void> {
    const { body } = await this.requestResponse(path, request);
    if (!body) return;
    const decoder = new TextDecoder();
    try {
      for await (const bytes of body as unknown as AsyncIterable<Uint8Array>)
        yield decoder.decode(bytes, { stream: true });
    } catch (failure) {
      request.signal?.throwIfAborted();
      throw new ParleyUnreachable(this.#base, failure);
    }
    yield decoder.decode();
  }

  #readText(response: Response, { signal }: ServiceRequest): Promise<string> {
    return response.text().catch((failure: unknown) => {
      signal?.throwIfAborted();
      throw new ParleyUnreachable(this.#base, failure);
    });
  }

  /**
   * Sends a request, with retries, and returns the first answer whose status is 2xx.
   * @throws ParleyError if the service refuses; ParleyUnreachable if it does not answer
   */
  async requestResponse(path: string, request: ServiceRequest = {}): Promise<Response> {
    for (let tries = 0; ; tries += 1) {
      const last = tries >= PAUSES.length || !isRepeatable(request);
      const { response, failure } = await this.#sendOnce(path, request);
      if (response?.ok) return response;
      const passes = response === undefined || PASSING.has(response.status);
      if (last || !passes) throw response ? await ParleyError.of(response) : new ParleyUnreachable(this.#base, failure);
      await pauseFor(retryDelay(response) ?? PAUSES[tries] ?? 0, request.signal);
      await response?.body?.cancel();
    }
  }

  async #sendOnce(path: string, request: ServiceRequest): Promise<{ response?: Response; failure?: unknown }> {
    const { method = 'GET', query = {}, body, headers, signal } = request;
    const asked = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
    const search = asked.size > 0 ? `?${asked.toString()}` : '';
    const isJson = body !== undefined && !(body instanceof FormData);
    const init: RequestInit = {
      method,
      headers: { ...this.#headers, ...(isJson && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as FormData) }),
      ...(signal && { signal }),
    };
    try {
      return { response: await this.#fetch(`${this.#base}${path}${search}`, init) };
    } catch (failure) {
      signal?.throwIfAborted();
      return { failure };
    }
  }
}

const NO_URL = "the service's URL must begin with http:// or https://, and have no user name or password";

/** True for an http or https URL without user name and password. In a web page it may be relative to the page. */
function isServiceUrl(text: string): boolean {
  const { location } = globalThis as { location?: { href: string } };
  if (!URL.canParse(text, location?.href)) return false;
  const { protocol, username, password } = new URL(text, location?.href);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

const NO_KEY = 'the key (apiKey) has a line break or another character that no header carries';

function isCarried(key: string): boolean {
  try {
    return new Headers({ authorization: `Bearer ${key}` }).has('authorization');
  } catch {
    return false;
  }
}

/** True if a request may be retried: it is no POST, is marked as `repeatable`, or has an `idempotency-key`. */
function isRepeatable({ method = 'GET', headers = {}, repeatable = false }: ServiceRequest): boolean {
  return method !== 'POST' || repeatable || 'idempotency-key' in headers;
}

/** Returns the `Retry-After` of a response in milliseconds, at most LONGEST_PAUSE, if present. */
function retryDelay(response: Response | undefined): number | undefined {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, LONGEST_PAUSE) : undefined;
}

/** Resolves after a delay. @throws the signal's reason when the signal aborts */
export async function pauseFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const endPause = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', endPause);
      resolve();
    };
    const timer = setTimeout(endPause, milliseconds);
    signal?.addEventListener('abort', endPause);
  });
  signal?.throwIfAborted();
}

import { ParleyError, ParleyUnreachable } from './parley-error.js';

/** A service, and who calls it. */
export interface ServiceOptions {
  /** The service's base URL, with or without a slash at the end. */
  url: string;
  /** A key of the service; sent as `Authorization: Bearer`. A token of an identity provider goes here as well. */
  apiKey?: string | undefined;
  /** Called in place of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

export interface ServiceRequest {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** Sent as JSON; a form as it is. */
  body?: unknown;
  headers?: Readonly<Record<string, string>> | undefined;
  /** Whether a POST changes nothing when it is said twice; one with an `idempotency-key` does not. */
  repeatable?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** How long it waits before it asks again, in milliseconds. What the service asks for itself is waited, up to a limit. */
const PAUSES = [200, 500, 1_000, 2_000, 4_000];
const LONGEST_PAUSE = 30_000;
/** Statuses of a service that is away for a moment, or has too much to do. */
export const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Calls one service. What may be said twice is said again while the service is away or has too much to do. */
export class ServiceCalls {
  readonly #base: string;
  readonly #fetch: typeof fetch;
  readonly #headers: Record<string, string>;

  /** @throws ParleyError for a URL that cannot be called, and a key that cannot be sent, however often */
  constructor({ url, apiKey, fetch: call = fetch }: ServiceOptions) {
    if (!isServiceUrl(url)) throw new ParleyError({ status: 0, reason: 'MALFORMED', message: NO_URL });
    if (apiKey !== undefined && !isCarried(apiKey))
      throw new ParleyError({ status: 0, reason: 'MALFORMED', message: NO_KEY });
    this.#base = url.replace(/(?<!\/)\/+$/, '');
    this.#fetch = (...request) => call(...request);
    this.#headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  }

  /**
   * The answer's JSON, `undefined` where it has none.
   * @throws ParleyError where the service refuses; ParleyUnreachable where it does not answer
   */
  async json<T>(path: string, request: ServiceRequest = {}): Promise<T> {
    const response = await this.answer(path, request);
    const text = await response.text().catch((failure: unknown) => {
      request.signal?.throwIfAborted();
      throw new ParleyUnreachable(this.#base, failure);
    });
    try {
      return (text === '' ? undefined : JSON.parse(text)) as T;
    } catch {
      throw ParleyError.foreign(response, 'JSON');
    }
  }

  /** An answer whose status is no error. @throws as `json` does */
  async answer(path: string, request: ServiceRequest = {}): Promise<Response> {
    for (let tries = 0; ; tries += 1) {
      const last = tries >= PAUSES.length || !isRepeatable(request);
      const { response, failure } = await this.#once(path, request);
      if (response?.ok) return response;
      const passes = response === undefined || PASSING.has(response.status);
      if (last || !passes) throw response ? await ParleyError.of(response) : new ParleyUnreachable(this.#base, failure);
      await pause(waitOf(response) ?? PAUSES[tries] ?? 0, request.signal);
      await response?.body?.cancel();
    }
  }

  async #once(path: string, request: ServiceRequest): Promise<{ response?: Response; failure?: unknown }> {
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

/** In a page an address may be one of the page's own host. */
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

/** Whether it changes nothing to say it twice: what starts something carries a key under which it is the same. */
function isRepeatable({ method = 'GET', headers = {}, repeatable = false }: ServiceRequest): boolean {
  return method !== 'POST' || repeatable || 'idempotency-key' in headers;
}

/** `Retry-After`, in milliseconds. */
function waitOf(response: Response | undefined): number | undefined {
  const seconds = Number(response?.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, LONGEST_PAUSE) : undefined;
}

/** Resolves after a time. @throws what the signal was aborted with */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const ended = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', ended);
      resolve();
    };
    const timer = setTimeout(ended, milliseconds);
    signal?.addEventListener('abort', ended);
  });
  signal?.throwIfAborted();
}

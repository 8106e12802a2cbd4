import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';

/** Call in the form of undici's `request`. Header names are in lower case. */
export interface OutboundRequest {
  url: URL;
  method: Dispatcher.HttpMethod;
  headers: Record<string, string>;
  body?: string | Uint8Array | Readable;
  signal?: AbortSignal;
  redirect: Request['redirect'];
}

/** Converts the arguments of a `fetch`; common ones (a URL, a plain object, a string body) take a fast path. */
export async function toOutboundRequest(input: string | URL | Request, init: RequestInit): Promise<OutboundRequest> {
  if (input instanceof Request || !isSimpleBody(init.body))
    return fromRequest(new Request(input, withDuplex(init)), init);
  const headers = headersOf(init.headers);
  const body = init.body ?? undefined;
  if (body instanceof URLSearchParams) headers['content-type'] ??= 'application/x-www-form-urlencoded;charset=UTF-8';
  else if (typeof body === 'string') headers['content-type'] ??= 'text/plain;charset=UTF-8';
  return {
    url: new URL(input),
    method: (init.method ?? 'GET').toUpperCase(),
    headers,
    // undici accepts generators, but its types do not.
    body: body instanceof URLSearchParams ? body.toString() : (body as OutboundRequest['body']),
    signal: init.signal ?? undefined,
    redirect: init.redirect ?? 'follow',
  };
}

function isSimpleBody(
  body: RequestInit['body'],
): body is string | Uint8Array<ArrayBuffer> | URLSearchParams | AsyncGenerator<Uint8Array> | null | undefined {
  return (
    body === null ||
    body === undefined ||
    typeof body === 'string' ||
    body instanceof Uint8Array ||
    body instanceof URLSearchParams ||
    isGenerator(body)
  );
}

/**
 * True for a generator, which is passed through: each request for its next chunk tells it that the previous one has
 * left.
 */
function isGenerator(body: NonNullable<RequestInit['body']>): body is AsyncGenerator<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body && !(body instanceof ReadableStream);
}

/** Adds `duplex`, which `fetch` requires for stream bodies and older callers omit. */
function withDuplex(init: RequestInit): RequestInit {
  return init.body instanceof ReadableStream ? { duplex: 'half', ...init } : init;
}

async function fromRequest(request: Request, init: RequestInit): Promise<OutboundRequest> {
  const stream = init.body instanceof ReadableStream;
  const body = request.body === null ? undefined : stream ? streamOf(request.body) : await request.bytes();
  return {
    url: new URL(request.url),
    method: request.method,
    headers: headersOf(request.headers),
    body,
    signal: request.signal,
    redirect: request.redirect,
  };
}

/**
 * Converts a body to a Readable. undici listens for errors of the body only during the request: a later error would end
 * the process.
 */
function streamOf(body: NonNullable<Request['body']>): Readable {
  return Readable.fromWeb(body).on('error', () => undefined);
}

function headersOf(given: RequestInit['headers']): Record<string, string> {
  const headers: Record<string, string> = {};
  if (given === undefined) return headers;
  const entries = given instanceof Headers || Array.isArray(given) ? given : Object.entries(given);
  for (const [name, value] of entries as Iterable<[string, string]>) {
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return headers;
}

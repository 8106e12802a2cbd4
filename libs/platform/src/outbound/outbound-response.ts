import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { CallLimits } from './call-limits.js';
import { decodedBody } from './outbound-body.js';

/** A short body of known length is read at once: a Response over bytes costs far less than one over a stream. */
const READ_AT_ONCE = 64 * 1024;
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

export interface AnswerContext {
  url: URL;
  redirected: boolean;
  limits: CallLimits;
}

type WebBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null;

/**
 * A web Response over an answer of undici's `request`, with gzip, deflate and brotli taken off. An error in the middle
 * of the body reaches its reader with the types of the outbound door.
 */
export async function toResponse(
  answer: Dispatcher.ResponseData,
  { url, redirected, limits }: AnswerContext,
): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (Array.isArray(value)) for (const each of value) headers.append(name, each);
    else if (value !== undefined) headers.set(name, value);
  }
  const body = await bodyOf(answer, headers, limits);
  const response = new Response(body, { status: answer.statusCode, headers });
  return Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } });
}

async function bodyOf(answer: Dispatcher.ResponseData, headers: Headers, limits: CallLimits): Promise<WebBody> {
  if (WITHOUT_BODY.has(answer.statusCode)) {
    answer.body.resume();
    return null;
  }
  const decoded = decodedBody(answer);
  if (decoded !== answer.body) {
    headers.delete('content-encoding');
    headers.delete('content-length');
    return asWebStream(decoded, limits);
  }
  const length = headers.get('content-length');
  if (length === null || Number(length) > READ_AT_ONCE) return asWebStream(answer.body, limits);
  try {
    return (await answer.body.bytes()) as Uint8Array<ArrayBuffer>;
  } catch (error) {
    throw limits.failure(error);
  }
}

function asWebStream(body: Readable, limits: CallLimits): ReadableStream<Uint8Array<ArrayBuffer>> {
  return ReadableStream.from(withOwnErrors(body, limits)) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

async function* withOwnErrors(body: Readable, limits: CallLimits): AsyncGenerator<Uint8Array> {
  try {
    yield* body as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw limits.failure(error);
  }
}

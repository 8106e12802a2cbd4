import { isDecoded } from './content-coding.js';
import type { ReceivedAnswer } from './received-answer.js';

/** A short body of known length is read at once: a Response over bytes costs far less than one over a stream. */
const READ_AT_ONCE = 64 * 1024;
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

export interface AnswerContext {
  url: URL;
  redirected: boolean;
}

type WebBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null;

/**
 * A web Response over an answer, with gzip, deflate and brotli taken off. An error in the middle of the body reaches
 * its reader with the types of the outbound client.
 */
export async function toResponse(answer: ReceivedAnswer, { url, redirected }: AnswerContext): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (Array.isArray(value)) for (const each of value) headers.append(name, each);
    else if (value !== undefined) headers.set(name, value);
  }
  const body = await bodyOf(answer);
  if (isDecoded(headers.get('content-encoding')?.toLowerCase() ?? '')) {
    headers.delete('content-encoding');
    headers.delete('content-length');
  }
  const response = new Response(body, { status: answer.status, headers });
  return Object.defineProperties(response, { url: { value: url.href }, redirected: { value: redirected } });
}

async function bodyOf(answer: ReceivedAnswer): Promise<WebBody> {
  if (WITHOUT_BODY.has(answer.status)) {
    answer.drain();
    return null;
  }
  const length = answer.header('content-length');
  const atOnce =
    length !== undefined && Number(length) <= READ_AT_ONCE && answer.header('content-encoding') === undefined;
  if (atOnce) return (await answer.content(READ_AT_ONCE)) as Uint8Array<ArrayBuffer>;
  return ReadableStream.from(answer.pieces()) as ReadableStream<Uint8Array<ArrayBuffer>>;
}

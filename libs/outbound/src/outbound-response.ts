import { isDecoded } from './content-coding.js';
import type { ReceivedAnswer } from './received-answer.js';

/**
 * Bytes of a body that is read at once, where it tells its length: a Response over bytes costs far less than one over a
 * stream. That of an error is left to its caller, who may not want to wait for it.
 */
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
  const isShort = length !== undefined && Number(length) <= READ_AT_ONCE;
  if (isShort && answer.status < 300 && answer.header('content-encoding') === undefined)
    return (await answer.content(READ_AT_ONCE)) as Uint8Array<ArrayBuffer>;
  return streamOf(answer);
}

/** A stream whose cancel closes the connection at once, be it in the middle of a read. */
function streamOf(answer: ReceivedAnswer): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = answer.pieces()[Symbol.asyncIterator]();
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> => {
    const next = await pieces.next();
    if (next.done) controller.close();
    else controller.enqueue(next.value as Uint8Array<ArrayBuffer>);
  };
  const cancel = (): void => {
    answer.discard();
    pieces.return?.().catch(() => undefined);
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

import { isDecoded } from './content-coding.js';
import type { ReceivedAnswer } from './received-answer.js';

/**
 * Maximum number of bytes of a body that is read at once if it declares its length: a Response over bytes costs far
 * less than one over a stream. Bodies of errors are left to the caller, who may not want to wait.
 */
const READ_AT_ONCE = 64 * 1024;
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

export interface AnswerContext {
  url: URL;
  redirected: boolean;
}

type WebBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null;

/**
 * Converts an answer to a Response, with gzip, deflate and brotli decoded. An error in the middle of the body reaches
 * its reader with the error types of the outbound client.
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
    answer.drainUnread();
    return null;
  }
  const length = answer.getHeader('content-length');
  const isShort = length !== undefined && Number(length) <= READ_AT_ONCE;
  if (isShort && answer.status < 300 && answer.getHeader('content-encoding') === undefined)
    return (await answer.readContent(READ_AT_ONCE)) as Uint8Array<ArrayBuffer>;
  return streamOf(answer);
}

/** Converts an answer to a stream. Canceling it closes the connection at once, even during a read. */
function streamOf(answer: ReceivedAnswer): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = answer.readPieces()[Symbol.asyncIterator]();
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> => {
    const next = await pieces.next();
    if (next.done) controller.close();
    else controller.enqueue(next.value as Uint8Array<ArrayBuffer>);
  };
  const cancel = (): void => {
    answer.discardBody();
    pieces.return?.().catch(() => undefined);
  };
  return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
}

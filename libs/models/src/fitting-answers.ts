import { responseErrorBody, sseEvents } from '#libs/a2a-client';
import { hasMoreMembers, tooManyMembers } from '#libs/http';
import { refuseUnfitText, UnfitJson } from '#libs/protocol';
import { MAX_ANSWER_BYTES } from './bounded-fetch.js';

/** Maximum nesting depth of an answer's JSON. */
const DEEPEST_ANSWER = 500;
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Error of an answer whose JSON has too many members or levels to be parsed. */
export class UnfitAnswer extends Error {
  override readonly name = 'UnfitAnswer';
}

/** Wraps a `fetch` so that error responses have a short body or none: see `responseErrorBody`. */
export function shortErrors(send: typeof fetch, mostMembers: number): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.ok) return response;
    const { status, statusText, headers } = response;
    const text = await responseErrorBody(response, mostMembers);
    return new Response(WITHOUT_BODY.has(status) ? null : text, { status, statusText, headers });
  };
}

/**
 * Wraps a `fetch` so that every answer is read as a stream of events, whatever its content type. An unfit event fails
 * the answer.
 */
export function fittingEvents(send: typeof fetch, mostMembers: number): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok || !response.body) return response;
    const { status, statusText, headers } = response;
    const events = passFitEvents(response.body, mostMembers);
    const body = ReadableStream.from(events).pipeThrough(new TextEncoderStream());
    return new Response(body, { status, statusText, headers });
  };
}

/**
 * Rejects JSON with too many members or levels, before it is parsed.
 * @throws UnfitAnswer
 */
export function refuseUnfit(text: string, mostMembers: number): void {
  if (hasMoreMembers(text, mostMembers)) throw new UnfitAnswer(`the answer ${tooManyMembers(mostMembers)}`);
  try {
    refuseUnfitText(text, DEEPEST_ANSWER);
  } catch (cause) {
    throw cause instanceof UnfitJson ? new UnfitAnswer(`the answer: ${cause.message}`, { cause }) : cause;
  }
}

/** Writes an event with one data field for each line of its data. */
export function eventText(data: string): string {
  return `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}

async function* passFitEvents(body: AsyncIterable<Uint8Array>, mostMembers: number): AsyncGenerator<string> {
  for await (const { type, data } of sseEvents(body, MAX_ANSWER_BYTES)) {
    refuseUnfit(data, mostMembers);
    yield `event: ${type}\n${eventText(data)}`;
  }
}

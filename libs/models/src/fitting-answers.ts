import { responseErrorBody, sseEvents } from '#libs/a2a-client';
import { hasMoreMembers, tooManyMembers } from '#libs/http';
import { refuseUnfitText, UnfitJson } from '#libs/protocol';
import { MAX_ANSWER_BYTES } from './bounded-fetch.js';

/** Levels of an answer's JSON that may lie in each other. */
const DEEPEST_ANSWER = 500;
const WITHOUT_BODY = new Set([204, 205, 304]);

/** An answer has JSON that is too much to be parsed. */
export class UnfitAnswer extends Error {
  override readonly name = 'UnfitAnswer';
}

/** A `fetch` whose errors have a short body, or none: see `responseErrorBody`. */
export function shortErrors(send: typeof fetch, mostMembers: number): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (response.ok) return response;
    const { status, statusText, headers } = response;
    const text = await responseErrorBody(response, mostMembers);
    return new Response(WITHOUT_BODY.has(status) ? null : text, { status, statusText, headers });
  };
}

/** A `fetch` whose answers are streams of events, whatever they say that they are, and fail where one is unfit. */
export function fittingEvents(send: typeof fetch, mostMembers: number): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    if (!response.ok || !response.body) return response;
    const { status, statusText, headers } = response;
    const events = fitting(response.body, mostMembers);
    const body = ReadableStream.from(events).pipeThrough(new TextEncoderStream());
    return new Response(body, { status, statusText, headers });
  };
}

/**
 * Refuses JSON with too many members or levels, before it is parsed.
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

/** Writes an event with a data field for each line: the data may have several. */
export function eventText(data: string): string {
  return `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}

async function* fitting(body: AsyncIterable<Uint8Array>, mostMembers: number): AsyncGenerator<string> {
  for await (const { type, data } of sseEvents(body, MAX_ANSWER_BYTES)) {
    refuseUnfit(data, mostMembers);
    yield `event: ${type}\n${eventText(data)}`;
  }
}

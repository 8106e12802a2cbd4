import { InvalidProtocolValue, isJsonObject, type JsonObject } from '#libs/protocol';
import { type AgentAnswer, MAX_ANSWER_BYTES, parsable } from './agent-request.js';
import { type SseEvent, sseEvents } from './sse-events.js';

/** @throws InvalidProtocolValue */
export function jsonObjectOf(text: string): JsonObject {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new InvalidProtocolValue('it is not JSON');
  }
  if (!isJsonObject(json)) throw new InvalidProtocolValue('it is not a JSON object');
  return json;
}

/**
 * The events of an answer.
 * @param refuse throws the error that stands in an answer which is no stream, if one does
 * @throws InvalidProtocolValue where the answer is no stream of events
 */
export async function* eventsOf(answer: AgentAnswer, refuse: (body: string) => unknown): AsyncIterable<SseEvent> {
  if (!/^text\/event-stream\b/i.test(answer.contentType)) {
    refuse(await answer.text());
    throw new InvalidProtocolValue('it is not a stream of events');
  }
  for await (const event of sseEvents(answer.pieces(), MAX_ANSWER_BYTES)) {
    parsable(event.data, answer.mostMembers);
    yield event;
  }
}

import { createParser } from 'eventsource-parser';
import { requestApi } from './http.js';

/** A server-sent event. */
export interface ServerSentEvent {
  id: string;
  /** Type of the event; empty if it has none. */
  event: string;
  data: string;
}

/** Milliseconds without a byte (heartbeats included) after which a connection counts as lost: three heartbeats. */
const SILENCE_MS = 45_000;

/**
 * Yields the events of a stream until it ends. Unlike `EventSource` it sends the API key and reports refusals.
 * @throws ApiProblem if the stream is refused; a network error if it breaks
 */
export async function* readStream(
  path: string,
  signal: AbortSignal,
  onOpen?: () => void,
): AsyncGenerator<ServerSentEvent> {
  const response = await requestApi('GET', path, { headers: { accept: 'text/event-stream' }, signal });
  onOpen?.();
  if (response.body) yield* readEvents(response.body);
}

/** Yields the events of a response body, until it ends or is silent for `SILENCE_MS`. */
export async function* readEvents(body: ReadableStream<BufferSource>): AsyncGenerator<ServerSentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const events: ServerSentEvent[] = [];
  const parser = createParser({
    onEvent: ({ id = '', event = '', data }) => void events.push({ id, event, data }),
  });
  for (;;) {
    const dead = setTimeout(() => void reader.cancel(), SILENCE_MS);
    const { value, done } = await reader.read().finally(() => clearTimeout(dead));
    if (done) return;
    parser.feed(value);
    yield* events.splice(0);
  }
}

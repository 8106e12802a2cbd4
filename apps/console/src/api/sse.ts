import { createParser } from 'eventsource-parser';
import { request } from './http.js';

/** One event of a stream of server-sent events. */
export interface SseEvent {
  id: string;
  /** Its type; empty where it has none. */
  event: string;
  data: string;
}

/** Milliseconds without a byte, heartbeats among them, after which a connection counts as dead: three heartbeats. */
const SILENCE_MS = 45_000;

/**
 * The events of a stream, until it ends. Unlike the browser's own reader it sends the API key, and says why it was
 * refused.
 * @throws ApiProblem where the stream is refused; a network error where it breaks
 */
export async function* readStream(path: string, signal: AbortSignal, onOpen?: () => void): AsyncGenerator<SseEvent> {
  const response = await request('GET', path, { headers: { accept: 'text/event-stream' }, signal });
  onOpen?.();
  if (response.body) yield* readEvents(response.body);
}

/** The events of the body of an answer, until it ends or has been silent for too long. */
export async function* readEvents(body: ReadableStream<BufferSource>): AsyncGenerator<SseEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const events: SseEvent[] = [];
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

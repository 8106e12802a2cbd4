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
  const parser = new SseParser();
  for (;;) {
    const dead = setTimeout(() => void reader.cancel(), SILENCE_MS);
    const { value, done } = await reader.read().finally(() => clearTimeout(dead));
    if (done) return;
    yield* parser.take(value);
  }
}

/** Cuts a text that comes in pieces into events; comments and fields that nobody reads are left out. */
export class SseParser {
  #rest = '';

  take(text: string): SseEvent[] {
    const blocks = `${this.#rest}${text}`.split('\n\n');
    this.#rest = blocks.pop() ?? '';
    return blocks.flatMap((block) => eventOf(block.split('\n')));
  }
}

function eventOf(lines: readonly string[]): SseEvent[] {
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => valueOf(line));
  if (data.length === 0) return [];
  return [{ id: lastOf(lines, 'id:'), event: lastOf(lines, 'event:'), data: data.join('\n') }];
}

function lastOf(lines: readonly string[], field: string): string {
  const line = lines.findLast((it) => it.startsWith(field));
  return line === undefined ? '' : valueOf(line);
}

function valueOf(line: string): string {
  return line.slice(line.indexOf(':') + 1).replace(/^ /, '');
}

import { request } from './http.js';

/** One event of a stream of server-sent events. */
export interface SseEvent {
  id: string;
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
  if (!response.body) return;
  onOpen?.();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
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
  const id = lines.findLast((line) => line.startsWith('id:'));
  return data.length === 0 ? [] : [{ id: id === undefined ? '' : valueOf(id), data: data.join('\n') }];
}

function valueOf(line: string): string {
  return line.slice(line.indexOf(':') + 1).replace(/^ /, '');
}

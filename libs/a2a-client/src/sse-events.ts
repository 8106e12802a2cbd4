import { StringDecoder } from 'node:string_decoder';
import { OutboundTooLongError } from '#libs/http-client';
import { AgentCallError } from './agent-call-error.js';

/** Event of a `text/event-stream`. */
export interface SseEvent {
  /** Event type; `message` if the stream names none. */
  type: string;
  data: string;
}

/**
 * Reads server-sent events (WHATWG HTML, section 9.2.6) from the pieces of a body, however the events are split over
 * pieces. Comments, ids and events without data are skipped. An event at the end of the body counts even without a
 * blank line.
 * @param pending called after each piece with the number of characters of the incomplete event
 * @param limitName name of the limit `maxLength`, written after its number in the error; absent: the number alone
 * @param check called with the data of each event before the event; may throw
 * @throws AgentCallError `invalid-response` for an event longer than `maxLength` characters, caused by an
 *   OutboundTooLongError
 */
export async function* sseEvents(
  pieces: AsyncIterable<Uint8Array>,
  maxLength: number,
  pending?: (characters: number) => void,
  limitName?: string,
  check?: (data: string) => void,
): AsyncIterable<SseEvent> {
  const decoder = new StringDecoder('utf8');
  const reader = new SseReader(maxLength, limitName);
  for await (const piece of pieces) {
    // Not `yield*`, which costs more promises per event.
    for (const event of reader.readChunk(decoder.write(piece as Buffer))) {
      check?.(event.data);
      yield event;
    }
    pending?.(reader.pending);
  }
  for (const event of reader.readChunk(`${decoder.end()}\n\n`)) {
    check?.(event.data);
    yield event;
  }
}

class SseReader {
  /** Incomplete line. The private members after it hold the incomplete event. */
  #line = '';
  #type = '';
  #data: string[] = [];
  #length = 0;
  #begun = false;
  /** True if the last piece ended with CR. If the next piece begins with LF, both are one line end. */
  #afterCr = false;

  constructor(
    private readonly maxLength: number,
    private readonly limitName: string | undefined,
  ) {}

  /** Number of characters of the incomplete event. */
  get pending(): number {
    return this.#length + this.#line.length;
  }

  readChunk(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    let from = this.#contentStart(text);
    let cr = text.indexOf('\r', from);
    let lf = text.indexOf('\n', from);
    while (cr >= 0 || lf >= 0) {
      const end = cr < 0 || (lf >= 0 && lf < cr) ? lf : cr;
      this.#lineOf(this.#line + text.slice(from, end), events);
      this.#line = '';
      from = end === cr && lf === cr + 1 ? end + 2 : end + 1;
      if (end === cr) this.#afterCr = from === text.length && lf !== cr + 1;
      if (cr >= 0 && cr < from) cr = text.indexOf('\r', from);
      if (lf >= 0 && lf < from) lf = text.indexOf('\n', from);
    }
    this.#line += text.slice(from);
    if (this.pending > this.maxLength) throw this.#tooLong();
    return events;
  }

  /** Returns the index where the text of a piece begins: after a byte order mark, or the LF of a split CRLF. */
  #contentStart(text: string): number {
    if (text === '') return 0;
    const skipped = (this.#afterCr && text.startsWith('\n')) || (!this.#begun && text.startsWith('\uFEFF'));
    this.#afterCr = false;
    this.#begun = true;
    return skipped ? 1 : 0;
  }

  #lineOf(line: string, events: SseEvent[]): void {
    if (line === '') return this.#dispatchEvent(events);
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field !== 'data' && field !== 'event') return;
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#type = value;
    else this.#data.push(value);
    this.#length += value.length + 1;
    if (this.#length > this.maxLength) throw this.#tooLong();
  }

  #dispatchEvent(events: SseEvent[]): void {
    const data = this.#data.join('\n');
    if (data !== '') events.push({ type: this.#type || 'message', data });
    this.#type = '';
    this.#data = [];
    this.#length = 0;
  }

  #tooLong(): AgentCallError {
    const name = this.limitName === undefined ? '' : ` (${this.limitName})`;
    const message = `an event of the stream is longer than ${this.maxLength} characters${name}`;
    return new AgentCallError('invalid-response', message, { cause: new OutboundTooLongError(this.maxLength) });
  }
}

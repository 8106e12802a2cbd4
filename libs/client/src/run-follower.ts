import { ParleyError, ParleyUnreachable } from './parley-error.js';
import type { AnyRunEvent } from './run-event.js';
import { PASSING, pauseFor, type ServiceCalls } from './service-calls.js';

/** Frame of a stream of server-sent events (WHATWG HTML, section 9.2.6). */
export interface EventFrame {
  /** Id of the event; empty if the frame has none. */
  id: string;
  /** Type of the event; `message` if the frame has none. */
  event: string;
  data: string;
}

interface FrameOptions {
  /** Called whenever bytes arrive, including the bytes of comments (heartbeats). */
  onBytes?: () => void;
  /** Milliseconds without a byte before the stream ends. Default: no limit. */
  longestSilence?: number;
}

const LINE_END = /\r\n|\n|\r(?!$)/;

/** Yields the frames of a response body as they arrive. A frame that is incomplete at the end is dropped. */
export async function* eventFrames(
  body: ReadableStream<Uint8Array>,
  { onBytes, longestSilence }: FrameOptions = {},
): AsyncGenerator<EventFrame, void, void> {
  const reader = body.getReader();
  const closeStream = (): Promise<void> => reader.cancel().catch(() => undefined);
  const decoder = new TextDecoder();
  let rest = '';
  let frame: EventFrame = { id: '', event: 'message', data: '' };
  let complete = false;
  try {
    for (;;) {
      const timer = longestSilence && setTimeout(() => void closeStream(), longestSilence);
      const { value, done } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      onBytes?.();
      const lines = (rest + decoder.decode(value, { stream: true })).split(LINE_END);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          if (complete) yield { ...frame, data: frame.data.slice(0, -1) };
          frame = { id: '', event: 'message', data: '' };
          complete = false;
          continue;
        }
        const [, name, text = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
        if (name === 'id') frame.id = text;
        if (name === 'event') frame.event = text;
        if (name === 'data') {
          frame.data += `${text}\n`;
          complete = true;
        }
      }
    }
  } finally {
    // A reader that stops in the middle closes the connection.
    await closeStream();
  }
}

/** First delay before a reconnect, in milliseconds. It doubles after each connection without a new event. */
const FIRST_PAUSE = 100;
/** Maximum delay before a reconnect, in milliseconds. */
const LONGEST_PAUSE = 5_000;
/** Milliseconds without a byte before a connection counts as lost. */
const LONGEST_SILENCE = 60_000;

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled']);

interface RunFollowOptions {
  signal?: AbortSignal | undefined;
  /** Called with true when a connection opens, and with false when it ends before the run does. */
  onConnection?: ((isOpen: boolean) => void) | undefined;
}

/** Reads the event stream of one run to its end, and reconnects as often as necessary. */
export class RunFollower {
  readonly #calls: ServiceCalls;
  readonly #run: `/${string}`;
  readonly #path: `/${string}`;
  /** True if the service ended the last connection orderly; false if the connection broke. */
  #isWhole = false;

  /** @param run path of the run, such as `/api/runs/{id}` */
  constructor(calls: ServiceCalls, run: `/${string}`) {
    this.#calls = calls;
    this.#run = run;
    this.#path = `${run}/events`;
  }

  /**
   * Yields the events whose `sequence` is greater than `since`, each once, until the run has ended.
   * @throws ParleyError for an unknown run; the signal's reason
   */
  async *followEvents(since: number, options: RunFollowOptions = {}): AsyncGenerator<AnyRunEvent, void, void> {
    const { signal, onConnection } = options;
    let last = since;
    let wait = FIRST_PAUSE;
    for (;;) {
      const before = last;
      for await (const event of this.#readConnection(last, options)) {
        if (event.sequence <= last) continue;
        last = event.sequence;
        wait = FIRST_PAUSE;
        yield event;
        if (event.type === 'done') return;
      }
      onConnection?.(false);
      // A run that ended before `since` gives an empty stream and no `done` event.
      if (last === before && this.#isWhole && (await this.#isOver(last, signal))) return;
      await pauseFor(wait, signal);
      wait = Math.min(wait * 2, LONGEST_PAUSE);
    }
  }

  /**
   * Yields those events that exist by now and whose `sequence` is greater than `since`, over one connection.
   * @throws ParleyError for an unknown run; the error of a connection that breaks; the signal's reason
   */
  async *readKnown(since: number, signal?: AbortSignal): AsyncGenerator<AnyRunEvent, void, void> {
    const body = eventBody(await this.#calls.requestResponse(this.#path, { query: { since, live: false }, signal }));
    for await (const { data } of eventFrames(body)) yield JSON.parse(data) as AnyRunEvent;
  }

  /** True if the run has ended, and its log has no event whose `sequence` is greater than `last`. */
  async #isOver(last: number, signal?: AbortSignal): Promise<boolean> {
    try {
      const { status } = await this.#calls.requestJson<{ status: string }>(this.#run, { signal });
      if (!ENDED.has(status)) return false;
      const rest = this.readKnown(last, signal);
      const { done } = await rest.next();
      await rest.return();
      return done === true;
    } catch (error) {
      this.#throwUnlessPassing(error, signal);
      return false;
    }
  }

  /** Throws an error unless a reconnect may fix it: the service is temporarily away, or the connection broke. */
  #throwUnlessPassing(error: unknown, signal?: AbortSignal): void {
    signal?.throwIfAborted();
    // A run survives an outage of the service, so its follower waits too.
    if (!isAway(error) && !isCut(error)) throw error;
  }

  /**
   * Yields the events with a `sequence` greater than `since` over one connection, until the connection ends, breaks, or
   * is silent for LONGEST_SILENCE.
   */
  async *#readConnection(
    since: number,
    { signal, onConnection }: RunFollowOptions,
  ): AsyncGenerator<AnyRunEvent, void, void> {
    const silence = new SilenceTimer();
    const either = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
    this.#isWhole = false;
    try {
      const headers = { accept: 'text/event-stream' };
      const body = eventBody(
        await this.#calls.requestResponse(this.#path, { query: { since }, headers, signal: either }),
      );
      onConnection?.(true);
      for await (const { data } of eventFrames(body, { onBytes: () => silence.restartTimer() }))
        yield JSON.parse(data) as AnyRunEvent;
      this.#isWhole = true;
    } catch (error) {
      if (!silence.signal.aborted) this.#throwUnlessPassing(error, signal);
      signal?.throwIfAborted();
    } finally {
      silence.stopTimer();
    }
  }
}

/**
 * Timer that aborts its signal if it is not restarted for LONGEST_SILENCE. The service sends a heartbeat every few
 * seconds.
 */
class SilenceTimer {
  readonly #control = new AbortController();
  #timer = this.#startTimer();

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  restartTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#startTimer();
  }

  stopTimer(): void {
    clearTimeout(this.#timer);
  }

  #startTimer(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#control.abort(), LONGEST_SILENCE);
  }
}

function isAway(error: unknown): boolean {
  return error instanceof ParleyUnreachable || (error instanceof ParleyError && PASSING.has(error.status));
}

/** Returns the body of an event stream. @throws ParleyError for an answer that is no event stream */
function eventBody(response: Response): ReadableStream<Uint8Array> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream || !response.body) throw ParleyError.foreign(response, 'a stream of events');
  return response.body;
}

/** True if a connection broke while its body was read: `fetch` then fails with a TypeError, in Node and in browsers. */
function isCut(error: unknown): boolean {
  return (error as Error).name === 'TypeError';
}

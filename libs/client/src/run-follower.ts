import { eventFrames } from './event-frames.js';
import { ParleyError, ParleyUnreachable } from './parley-error.js';
import type { RunEvent } from './run-event.js';
import { PASSING, pause, type ServiceCalls } from './service-calls.js';

/** Milliseconds until a stream is opened again that broke before it told anything new; doubled each time. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;
const LONGEST_SILENCE = 60_000;

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled']);

/** Reads the stream of one run to its end, over as many connections as it takes. */
export class RunFollower {
  readonly #calls: ServiceCalls;
  readonly #run: `/${string}`;
  readonly #path: `/${string}`;
  /** Whether the last connection was ended by the service, and not cut. */
  #isWhole = false;

  /** @param run its path in the API */
  constructor(calls: ServiceCalls, run: `/${string}`) {
    this.#calls = calls;
    this.#run = run;
    this.#path = `${run}/events`;
  }

  /** The events after `since`, each once. @throws ParleyError where the run is not there; what aborts the signal */
  async *events(since: number, signal?: AbortSignal): AsyncGenerator<RunEvent, void, void> {
    let last = since;
    let wait = FIRST_PAUSE;
    for (;;) {
      const before = last;
      for await (const event of this.#connection(last, signal)) {
        if (event.sequence <= last) continue;
        last = event.sequence;
        wait = FIRST_PAUSE;
        yield event;
        if (event.type === 'done') return;
      }
      // Whoever has seen the end is sent nothing more.
      if (last === before && this.#isWhole && (await this.#isOver(last, signal))) return;
      await pause(wait, signal);
      wait = Math.min(wait * 2, LONGEST_PAUSE);
    }
  }

  /** The events after `since` that there are by now. @throws as `events`, and where the connection breaks */
  async *known(since: number, signal?: AbortSignal): AsyncGenerator<RunEvent, void, void> {
    const body = bodyOf(await this.#calls.answer(this.#path, { query: { since, live: false }, signal }));
    for await (const { data } of eventFrames(body, () => undefined)) yield JSON.parse(data) as RunEvent;
  }

  /** Whether the run has ended, and no event of it is after this one. */
  async #isOver(last: number, signal?: AbortSignal): Promise<boolean> {
    try {
      const { status } = await this.#calls.json<{ status: string }>(this.#run, { signal });
      if (!ENDED.has(status)) return false;
      const rest = this.known(last, signal);
      const { done } = await rest.next();
      await rest.return();
      return done === true;
    } catch (error) {
      this.#refuse(error, signal);
      return false;
    }
  }

  /** @throws what is no passing fault of the service or the way to it */
  #refuse(error: unknown, signal?: AbortSignal): void {
    signal?.throwIfAborted();
    // Who follows a run waits for a service that is away: the run does too.
    if (!isAway(error) && !cut(error)) throw error;
  }

  /** What one connection tells; it ends where the stream does, or breaks, or is silent for too long. */
  async *#connection(since: number, signal?: AbortSignal): AsyncGenerator<RunEvent, void, void> {
    const silence = new Silence();
    const either = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
    this.#isWhole = false;
    try {
      const headers = { accept: 'text/event-stream' };
      const body = bodyOf(await this.#calls.answer(this.#path, { query: { since }, headers, signal: either }));
      for await (const { data } of eventFrames(body, () => silence.broken())) yield JSON.parse(data) as RunEvent;
      this.#isWhole = true;
    } catch (error) {
      if (!silence.signal.aborted) this.#refuse(error, signal);
      signal?.throwIfAborted();
    } finally {
      silence.end();
    }
  }
}

/** Gives up a connection on which nothing comes any more: the service says something every few seconds. */
class Silence {
  readonly #control = new AbortController();
  #timer = this.#start();

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): ReturnType<typeof setTimeout> {
    return setTimeout(() => this.#control.abort(), LONGEST_SILENCE);
  }
}

function isAway(error: unknown): boolean {
  return error instanceof ParleyUnreachable || (error instanceof ParleyError && PASSING.has(error.status));
}

/** @throws ParleyError where the answer is no stream of events */
function bodyOf(response: Response): ReadableStream<Uint8Array> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream || !response.body) throw ParleyError.foreign(response, 'a stream of events');
  return response.body;
}

/** What `fetch` throws while it reads a body whose connection is gone: a TypeError, in Node and in browsers. */
function cut(error: unknown): boolean {
  return (error as Error).name === 'TypeError';
}

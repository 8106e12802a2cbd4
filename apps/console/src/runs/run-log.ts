import { backoff, pause } from '../api/backoff.js';
import { ApiProblem } from '../api/problem.js';
import { readStream } from '../api/sse.js';
import { type ConsoleLine, lineOf } from '../console-panel/console-line.js';
import type { RunEvent } from './run-event.js';
import { folded, pictureOf, type RunPicture } from './run-picture.js';

export type LogConnection = 'connecting' | 'live' | 'lost' | 'ended';

/** State of a run, as its events reported so far. */
export interface LogView {
  picture: RunPicture;
  lines: readonly ConsoleLine[];
  connection: LogConnection;
  /** Error that prevents reading the events. */
  error?: unknown;
}

/** Milliseconds for which events are collected before they are shown. */
const COLLECT_MS = 50;

/**
 * Follows a run's events from the first one until the run has ended.
 * - A broken connection resumes after the last event.
 * - No event is lost or repeated.
 */
export class RunLog {
  #view: LogView;
  #last = 0;
  #collected: RunEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(
    readonly runId: string,
    graph: RunPicture['graph'],
  ) {
    this.#view = { picture: pictureOf(graph), lines: [], connection: 'connecting' };
  }

  readonly view = (): LogView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Starts reading, until the returned function is called. */
  start(): () => void {
    const stop = new AbortController();
    void this.#read(stop.signal);
    return () => stop.abort();
  }

  /** Reads events until the run has ended or the signal aborts. Never rejects. */
  async #read(signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted && !this.#hasEnded(); failures += 1) {
      try {
        const opened = (): void => {
          failures = 0;
          this.#show({ connection: 'live' });
        };
        const stream = readStream(this.#path(), signal, opened);
        for await (const { data } of stream) this.#take(JSON.parse(data) as RunEvent);
      } catch (error) {
        if (isRefusal(error)) return this.#show({ error, connection: 'lost' });
      }
      this.#flush();
      if (signal.aborted || this.#hasEnded()) return;
      this.#show({ connection: 'lost' });
      await pause(backoff(failures), signal);
    }
  }

  #hasEnded(): boolean {
    return this.#view.connection === 'ended';
  }

  #path(): string {
    return `/api/runs/${encodeURIComponent(this.runId)}/events?since=${this.#last}`;
  }

  #take(event: RunEvent): void {
    if (event.sequence <= this.#last) return;
    this.#last = event.sequence;
    this.#collected.push(event);
    this.#timer ??= setTimeout(() => this.#flush(), COLLECT_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#collected.length === 0) return;
    const events = this.#collected;
    this.#collected = [];
    this.#show({
      picture: folded(this.#view.picture, events),
      lines: [...this.#view.lines, ...events.map((event) => lineOf(event, String(event.sequence)))],
      connection: events.some(({ type }) => type === 'done') ? 'ended' : 'live',
    });
  }

  #show(members: Partial<LogView>): void {
    this.#view = { ...this.#view, ...members };
    for (const listener of this.#listeners) listener();
  }
}

/** True if the service refused and a retry would get the same answer. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiProblem && error.status >= 400 && error.status < 500 && error.status !== 429;
}

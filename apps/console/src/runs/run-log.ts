import { computeBackoff, pauseFor } from '../api/backoff.js';
import { ApiProblem } from '../api/problem.js';
import { readStream } from '../api/sse.js';
import { type ConsoleLine, toConsoleLine } from '../console-panel/console-line.js';
import type { RunEvent } from './run-event.js';
import { applyEvents, pictureOf, type RunPicture } from './run-picture.js';

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

  readonly getView = (): LogView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Starts reading, until the returned function is called. */
  startReading(): () => void {
    const stop = new AbortController();
    void this.#readUntilEnded(stop.signal);
    return () => stop.abort();
  }

  /** Reads events until the run has ended or the signal aborts. Never rejects. */
  async #readUntilEnded(signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted && !this.#hasRunEnded(); failures += 1) {
      try {
        const markLive = (): void => {
          failures = 0;
          this.#updateView({ connection: 'live' });
        };
        const stream = readStream(this.#getEventsPath(), signal, markLive);
        for await (const { data } of stream) this.#collectEvent(JSON.parse(data) as RunEvent);
      } catch (error) {
        if (isRefusal(error)) return this.#updateView({ error, connection: 'lost' });
      }
      this.#flushEvents();
      if (signal.aborted || this.#hasRunEnded()) return;
      this.#updateView({ connection: 'lost' });
      await pauseFor(computeBackoff(failures), signal);
    }
  }

  #hasRunEnded(): boolean {
    return this.#view.connection === 'ended';
  }

  #getEventsPath(): string {
    return `/api/runs/${encodeURIComponent(this.runId)}/events?since=${this.#last}`;
  }

  #collectEvent(event: RunEvent): void {
    if (event.sequence <= this.#last) return;
    this.#last = event.sequence;
    this.#collected.push(event);
    this.#timer ??= setTimeout(() => this.#flushEvents(), COLLECT_MS);
  }

  #flushEvents(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#collected.length === 0) return;
    const events = this.#collected;
    this.#collected = [];
    this.#updateView({
      picture: applyEvents(this.#view.picture, events),
      lines: [...this.#view.lines, ...events.map((event) => toConsoleLine(event, String(event.sequence)))],
      connection: events.some(({ type }) => type === 'done') ? 'ended' : 'live',
    });
  }

  #updateView(members: Partial<LogView>): void {
    this.#view = { ...this.#view, ...members };
    for (const listener of this.#listeners) listener();
  }
}

/** True if the service refused and a retry would get the same answer. */
function isRefusal(error: unknown): boolean {
  return error instanceof ApiProblem && error.status >= 400 && error.status < 500 && error.status !== 429;
}

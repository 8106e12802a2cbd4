import { computeBackoff, pauseFor } from '../api/backoff.js';
import { followRun } from '../api/http.js';
import { ApiProblem } from '../api/problem.js';
import { type ConsoleLine, toConsoleLine } from '../console-panel/console-line.js';
import type { RunEvent } from './run-event.js';
import { applyEvents, pictureOf, type RunPicture, UNREAD, unreadPicture } from './run-picture.js';
import { TimelineFold, type TimelinePart } from './timeline-parts.js';

export type LogConnection = 'connecting' | 'live' | 'lost' | 'ended';

/** State of a run, folded from the events received so far. */
export interface LogView {
  /** State of the run; `UNREAD` until all events that exist at the start have been read. */
  picture: RunPicture;
  lines: readonly ConsoleLine[];
  /** Parts of the nodes' time (such as calls, retries and waits), in the order of their begin. */
  parts: readonly TimelinePart[];
  connection: LogConnection;
  /** Error that prevents reading the events; absent while they can be read. */
  error?: unknown;
}

/** Milliseconds between two updates of the shown events; events that arrive meanwhile are collected. */
const COLLECT_MS = 50;

/**
 * Reads the events of a run that exist, then follows the run until it has ended.
 * - The picture shows no status (`UNREAD`) until the events that existed at the start have been read.
 * - A broken connection resumes after the last event.
 * - No event is lost or repeated.
 */
export class RunLog {
  #view: LogView;
  /** State after the events received so far, also while the view does not show it yet. */
  #picture: RunPicture;
  readonly #timeline = new TimelineFold();
  #last = 0;
  #collected: RunEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(
    readonly runId: string,
    graph: RunPicture['graph'],
  ) {
    this.#picture = pictureOf(graph);
    this.#view = { picture: unreadPicture(graph), lines: [], parts: [], connection: 'connecting' };
  }

  readonly getView = (): LogView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Starts reading the events. The returned function stops it. */
  startReading(): () => void {
    const stop = new AbortController();
    void this.#readUntilEnded(stop.signal);
    return () => stop.abort();
  }

  /** Reads events until the run has ended, the service refuses, or the signal aborts. Never rejects. */
  async #readUntilEnded(signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted && !this.#hasEnded; failures += 1) {
      const onConnection = (isOpen: boolean): void => {
        if (isOpen) failures = 0;
        this.#flushEvents();
        this.#updateView({ connection: isOpen ? 'live' : 'lost' });
      };
      try {
        if (this.#isUnread) await this.#readKnown(signal);
        if (this.#hasEnded) return;
        const events = followRun(this.runId, { since: this.#last, signal, onConnection });
        for await (const event of events) this.#collectEvent(event);
        return this.#flushEvents();
      } catch (error) {
        this.#flushEvents();
        if (signal.aborted) return;
        if (isRefusal(error)) return this.#updateView({ error, connection: 'lost' });
      }
      this.#updateView({ connection: 'lost' });
      await pauseFor(computeBackoff(failures), signal);
    }
  }

  get #isUnread(): boolean {
    return this.#view.picture.status === UNREAD;
  }

  get #hasEnded(): boolean {
    return this.#view.connection === 'ended';
  }

  /** Reads the events that exist by now, and shows the state after them. */
  async #readKnown(signal: AbortSignal): Promise<void> {
    const known = followRun(this.runId, { since: this.#last, live: false, signal });
    for await (const event of known) this.#collectEvent(event);
    this.#flushEvents();
    if (!signal.aborted) this.#updateView({ picture: this.#picture });
  }

  #collectEvent(event: RunEvent): void {
    // A reader that was stopped may still deliver earlier events.
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
    this.#picture = applyEvents(this.#picture, events);
    for (const event of events) this.#timeline.foldEvent(event);
    this.#updateView({
      ...(!this.#isUnread && { picture: this.#picture }),
      lines: [...this.#view.lines, ...events.map((event) => toConsoleLine(event, String(event.sequence)))],
      parts: this.#timeline.snapshot(),
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

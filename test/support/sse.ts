import { before, type Deadline } from './until.js';

export interface SseFrame<T = unknown> {
  id?: string;
  event?: string;
  /** Data lines as received. */
  raw: string;
  /** Data, parsed as JSON. */
  data: T;
}

export interface SseRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Value of the request header `Last-Event-ID`. */
  lastEventId?: string | number;
}

/** Length of the longest separator of frames, minus one. */
const LONGEST_END = 3;

/** Reports that a request for a stream got another answer. */
export class NoEventStream extends Error {
  override readonly name = 'NoEventStream';

  constructor(
    url: string,
    readonly response: Response,
    readonly text: string,
  ) {
    super(`No event stream from ${url}: ${response.status} ${text}`);
  }
}

/** Reader of a stream of server-sent events (WHATWG HTML, section 9.2), frame by frame, without Parley's own code. */
export class SseReader<T = unknown> {
  readonly frames: SseFrame<T>[] = [];
  readonly comments: string[] = [];
  private ended = false;
  private failure: Error | undefined;
  private wake: () => void = () => undefined;
  private taken = 0;

  private constructor(
    readonly response: Response,
    private readonly control: AbortController,
  ) {
    void this.pump();
  }

  /** Opens a stream. @throws NoEventStream if the answer is not 200 with `text/event-stream` */
  static async open<T = unknown>(url: string, request: SseRequest = {}): Promise<SseReader<T>> {
    const control = new AbortController();
    const response = await fetch(url, {
      method: request.method ?? 'GET',
      signal: control.signal,
      headers: {
        accept: 'text/event-stream',
        ...(request.body !== undefined && { 'content-type': 'application/json' }),
        ...(request.lastEventId !== undefined && { 'last-event-id': String(request.lastEventId) }),
        ...request.headers,
      },
      ...(request.body !== undefined && { body: JSON.stringify(request.body) }),
    });
    if (response.status !== 200 || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
      throw new NoEventStream(url, response, await response.text());
    }
    return new SseReader<T>(response, control);
  }

  /** Returns the next frame, or `undefined` once the stream has ended. */
  async next(deadline: Deadline = {}): Promise<SseFrame<T> | undefined> {
    await before(this.arrived(), { what: 'the next frame', ...deadline });
    const frame = this.frames[this.taken];
    if (frame !== undefined) this.taken += 1;
    return frame;
  }

  /** Reads until a frame matches, and returns it. Throws if the stream ends before. */
  async find(fits: (frame: SseFrame<T>) => boolean, deadline: Deadline = {}): Promise<SseFrame<T>> {
    for (;;) {
      const frame = await this.next(deadline);
      if (frame === undefined)
        throw new Error(`The stream ended without ${deadline.what ?? 'the frame'}: ${this.types()}`);
      if (fits(frame)) return frame;
    }
  }

  /** Reads to the end of the stream, and returns all its frames. */
  async all(deadline: Deadline = {}): Promise<SseFrame<T>[]> {
    const limit = { what: 'the end of the stream', ...deadline };
    while (!this.ended) await before(this.changed(), limit);
    if (this.failure !== undefined) throw this.failure;
    return this.frames;
  }

  /** Closes the connection. */
  abort(): void {
    this.control.abort();
  }

  private types(): string {
    return this.frames.map((it) => it.event ?? 'message').join(', ');
  }

  private async arrived(): Promise<void> {
    while (this.taken >= this.frames.length && !this.ended) await this.changed();
  }

  private changed(): Promise<void> {
    return this.ended ? Promise.resolve() : new Promise((resolve) => (this.wake = chain(this.wake, resolve)));
  }

  private async pump(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of this.response.body ?? []) {
        const seen = Math.max(0, rest.length - LONGEST_END);
        rest += decoder.decode(chunk, { stream: true });
        rest = this.acceptAll(rest, seen);
        this.signal();
      }
    } catch (error) {
      if (!this.control.signal.aborted) this.failure = error as Error;
    }
    this.ended = true;
    this.signal();
  }

  private signal(): void {
    const wake = this.wake;
    this.wake = () => undefined;
    wake();
  }

  /** Parses the complete frames of a text, in which no frame ends before the index `seen`. @returns the rest */
  private acceptAll(text: string, seen: number): string {
    const end = /\r?\n\r?\n/g;
    end.lastIndex = seen;
    let from = 0;
    for (let found = end.exec(text); found !== null; found = end.exec(text)) {
      this.accept(text.slice(from, found.index));
      from = end.lastIndex;
    }
    return text.slice(from);
  }

  private accept(block: string): void {
    const frame: { id?: string; event?: string } = {};
    const data: string[] = [];
    for (const line of block.split(/\r?\n/)) {
      const [, field, value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (line.startsWith(':')) this.comments.push(line.slice(1).trim());
      else if (field === 'data') data.push(value);
      else if (field === 'id') frame.id = value;
      else if (field === 'event') frame.event = value;
    }
    if (data.length > 0) this.frames.push({ ...frame, raw: data.join('\n'), data: JSON.parse(data.join('\n')) as T });
  }
}

function chain(first: () => void, second: () => void): () => void {
  return () => {
    first();
    second();
  };
}

/** Returns the ids of frames as numbers. */
export function ids(frames: readonly SseFrame[]): number[] {
  return frames.map((frame) => Number(frame.id));
}

/** Returns the integers `from`, `from + 1`, … `to`. */
export function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

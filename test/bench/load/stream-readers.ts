import { connect, type Socket } from 'node:net';
import { type LoadResult, summary } from './closed-loop.ts';

export interface StreamsJob {
  url: string;
  /** HTTP method that opens a stream; default POST. */
  method?: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body: string;
  count: number;
  /** Number of streams that are being opened at the same time. */
  openers: number;
  /** Text that a stream must contain to count as open. */
  opened: string;
}

const WITHIN_MS = 120_000;
/**
 * Ping frame of a WebSocket (RFC 6455, section 5.5) without data. PONG is the answer. The text of an event contains no
 * such bytes.
 */
const PING = Buffer.from([0x89, 0]);
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/**
 * Many readers of event streams, each with a separate connection. Received data are searched and discarded; pings of
 * WebSockets are answered.
 */
export class StreamReaders {
  private readonly job: StreamsJob;
  private readonly sockets: Socket[] = [];
  private found: (() => void) | undefined;
  private needle = Buffer.alloc(0);

  private constructor(job: StreamsJob) {
    this.job = job;
  }

  /** Opens the streams; resolves when every stream is open. */
  static async open(job: StreamsJob): Promise<StreamReaders> {
    const readers = new StreamReaders(job);
    let left = job.count;
    const opener = async (): Promise<void> => {
      while (left-- > 0) await readers.openOne();
    };
    await within(Promise.all(Array.from({ length: job.openers }, opener)), () => 'to open the streams');
    return readers;
  }

  /**
   * Sends a request on a separate connection, and returns for each reader the time until it received the event that the
   * request causes.
   */
  async deliver(
    request: { path: string; body: string; headers?: Record<string, string> },
    needle: string,
  ): Promise<LoadResult> {
    const arrivals: number[] = [];
    this.needle = Buffer.from(needle);
    const begun = performance.now();
    const all = new Promise<void>((resolve) => {
      this.found = () => {
        arrivals.push(performance.now() - begun);
        if (arrivals.length === this.sockets.length) resolve();
      };
    });
    const socket = this.send(request.path, request.body, request.headers ?? this.job.headers);
    socket.resume();
    try {
      await within(all, () => `for the event to reach all readers (${arrivals.length} had it)`);
    } finally {
      socket.destroy();
      this.found = undefined;
    }
    return summary(arrivals, (performance.now() - begun) / 1000);
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  private openOne(): Promise<void> {
    return new Promise((resolve, reject) => {
      const opened = Buffer.from(this.job.opened);
      const socket = this.send(this.job.path, this.job.body, this.job.headers, this.job.method);
      let text: Buffer | undefined = Buffer.alloc(0);
      socket.on('data', (chunk) => {
        // One may come before a WebSocket says that it is open.
        if (this.job.headers.upgrade === 'websocket' && chunk.includes(PING)) socket.write(PONG);
        if (text === undefined) return this.look(chunk);
        text = Buffer.concat([text, chunk]);
        if (!text.includes(opened)) return;
        text = undefined;
        this.sockets.push(socket);
        resolve();
      });
      socket.on('error', reject);
      socket.on('close', () => reject(new Error(`A stream was not opened: ${text?.toString()}`)));
    });
  }

  /** Searches a received chunk. An event is small, so it arrives in one chunk. */
  private look(chunk: Buffer): void {
    if (this.found !== undefined && chunk.includes(this.needle)) this.found();
  }

  private send(path: string, body: string, given: Record<string, string>, method = 'POST'): Socket {
    const { hostname, port, host } = new URL(this.job.url);
    const headers = { host, ...given, ...(body !== '' && { 'content-length': String(Buffer.byteLength(body)) }) };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.write([`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n'));
    return socket;
  }
}

async function within<T>(promise: Promise<T>, what: () => string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${WITHIN_MS / 1000} s ${what()}`)), WITHIN_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

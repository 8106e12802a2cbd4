import { connect, type Socket } from 'node:net';
import type { FuzzCase } from '../fuzz-case.js';

/** What came back: the status of the last answer, and the beginning of what it said. */
export interface WireAnswer {
  /** `undefined`: the connection was closed without an answer. */
  status: number | undefined;
  /** An event stream, or a socket that was taken over. */
  stream: boolean;
  text: string;
  late: boolean;
}

/** What is read of a stream or of an answer that is not owed before the connection is cut. */
const STREAM_MS = 30;
const MOST_KEPT = 64 * 1024;

/** Sends a case on a connection of its own and reads the answer. Never rejects. */
export function sendHttp(port: number, fuzzCase: FuzzCase, deadlineMs: number): Promise<WireAnswer> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const answer = new AnswerReader(fuzzCase.bytes.subarray(0, 5).toString() === 'HEAD ');
    let late = false;
    let timer = setTimeout(
      () => {
        late = fuzzCase.owed;
        socket.destroy();
      },
      fuzzCase.owed ? deadlineMs : 300,
    );
    socket.on('data', (chunk: Buffer) => {
      answer.take(chunk);
      if (answer.complete) socket.destroy();
      if (!answer.stream) return;
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), STREAM_MS);
    });
    socket.on('end', () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(timer);
      const { status, stream, text } = answer;
      resolve({ status, stream, text, late });
    });
    socket.once('connect', () => send(socket, fuzzCase));
  });
}

function send(socket: Socket, { bytes, delivery }: FuzzCase): void {
  if (delivery.kind === 'whole') return void socket.write(bytes);
  if (delivery.kind === 'pieces') {
    socket.write(bytes.subarray(0, delivery.at));
    setImmediate(() => socket.writable && socket.write(bytes.subarray(delivery.at)));
    return;
  }
  const begun = bytes.subarray(0, delivery.at);
  if (delivery.half) socket.end(begun);
  else socket.write(begun, () => setTimeout(() => socket.destroy(), 5));
}

/** Reads HTTP as far as it takes to know where an answer ends. */
class AnswerReader {
  private pieces: Buffer[] = [];
  private length = 0;
  status: number | undefined;
  stream = false;
  complete = false;

  constructor(private readonly headOnly: boolean) {}

  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1');
  }

  take(chunk: Buffer): void {
    this.length += chunk.length;
    if (this.length - chunk.length < MOST_KEPT) this.pieces.push(chunk);
    if (this.stream || this.complete) return;
    const { text } = this;
    const start = text.search(/HTTP\/1\.1 (?!100)\d{3}/);
    const end = text.indexOf('\r\n\r\n', start);
    if (start < 0 || end < 0) return;
    const head = text.slice(start, end).toLowerCase();
    this.status = Number(head.slice(9, 12));
    this.stream = this.status === 101 || head.includes('text/event-stream');
    this.complete = !this.stream && this.isComplete(head, text, end + 4);
  }

  private isComplete(head: string, text: string, from: number): boolean {
    if (this.headOnly) return true;
    const length = /content-length: (\d+)/.exec(head)?.[1];
    if (length !== undefined) return this.length - from >= Number(length) || this.status === 304;
    if (head.includes('transfer-encoding: chunked')) return text.endsWith('0\r\n\r\n') || this.length > MOST_KEPT;
    return this.status === 204 || this.status === 304;
  }
}

import { connect, type Socket } from 'node:net';
import type { FuzzCase } from '../fuzz-case.js';
import { AnswerReader } from './answer-reader.js';

/** Received answer: its status, and the beginning of its text. After several responses, those of the last one. */
export interface WireAnswer {
  /** HTTP status; `undefined`: the connection was closed without an answer. */
  status: number | undefined;
  /** True if the answer is an event stream, or the connection was upgraded. */
  stream: boolean;
  text: string;
  late: boolean;
  /** True if the answer says when to retry. */
  retryAfter: boolean;
}

/** Milliseconds for which a stream, or an answer that is not required, is read before the connection is closed. */
const STREAM_MS = 30;
const UNOWED_MS = 300;
const MOST_IDLE = 64;

/** Client that sends cases over HTTP: complete requests on reusable connections, all others on new ones. */
export class RawHttp {
  private readonly idle: Socket[] = [];

  constructor(private readonly port: number) {}

  /** Sends a case. Never rejects. */
  async send(fuzzCase: FuzzCase, deadlineMs: number): Promise<WireAnswer> {
    const reused = isWhole(fuzzCase) ? this.idle.pop() : undefined;
    const answer = reused && (await this.exchange(reused, fuzzCase, deadlineMs));
    // A connection may be closed just as it is used again: only one that is new owes an answer.
    return answer ?? ((await this.exchange(this.open(), fuzzCase, deadlineMs)) as WireAnswer);
  }

  close(): void {
    this.idle.forEach((socket) => socket.destroy());
  }

  private open(): Socket {
    const socket = connect({ port: this.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    socket.on('close', () => {
      const place = this.idle.indexOf(socket);
      if (place >= 0) this.idle.splice(place, 1);
    });
    return socket.on('error', () => undefined).on('end', () => socket.destroy());
  }

  /** Sends a case on a connection. Returns `undefined` if a reused connection gave no answer. */
  private exchange(socket: Socket, fuzzCase: FuzzCase, deadlineMs: number): Promise<WireAnswer | undefined> {
    const used = !socket.connecting;
    const answer = new AnswerReader(fuzzCase.bytes.subarray(0, 5).toString() === 'HEAD ');
    return new Promise((resolve) => {
      let late = false;
      const cut = (): void => void socket.destroy();
      const give = (): void => {
        clearTimeout(timer);
        socket.off('data', take).off('close', give);
        const { status, stream, text, retryAfter } = answer;
        resolve(used && !answer.begun && !late ? undefined : { status, stream, text, late, retryAfter });
      };
      const take = (chunk: Buffer): void => {
        answer.take(chunk);
        if (answer.complete && answer.reusable && isWhole(fuzzCase) && this.keep(socket)) give();
        else if (answer.complete) cut();
        if (!answer.stream) return;
        clearTimeout(timer);
        timer = setTimeout(cut, STREAM_MS);
      };
      const giveUp = (): void => {
        late = fuzzCase.owed;
        cut();
      };
      let timer = setTimeout(giveUp, fuzzCase.owed ? deadlineMs : UNOWED_MS);
      socket.on('data', take).on('close', give);
      if (used) send(socket, fuzzCase);
      else socket.once('connect', () => send(socket, fuzzCase));
    });
  }

  private keep(socket: Socket): boolean {
    if (this.idle.length >= MOST_IDLE) return false;
    this.idle.push(socket);
    return true;
  }
}

/** True for a request after whose answer the connection can be reused. */
function isWhole({ transport, owed, delivery }: FuzzCase): boolean {
  return transport === 'http' && owed && delivery.kind === 'whole';
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

import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const READ_BUFFER = 64 * 1024;

/**
 * One keep-alive HTTP/1.1 connection that carries one request at a time, by hand: a load generator must cost less than
 * what it measures, and the servers are known. A body ends by its length, by its last chunk, or by the connection's
 * end; after the latter the next request connects again.
 */
export class HttpExchange {
  private readonly host: string;
  private readonly port: number;
  private readonly answered: (status: number, text: Buffer) => void;
  private socket: Socket | undefined;
  private received: Buffer[] = [];
  private status = 0;
  /** Bytes of the whole answer, head included; Infinity where the last chunk or the connection's end tells. */
  private expected = Number.NaN;
  private chunked = false;
  private bytes = 0;
  private settle: ((outcome: Error | undefined) => void) | undefined;

  /** @param answered gets every answer with its whole text, head included, which is only valid during the call */
  constructor(host: string, port: number, answered: (status: number, text: Buffer) => void) {
    this.host = host;
    this.port = port;
    this.answered = answered;
  }

  /** Sends the bytes of a whole request; `done` is called once the answer is there, with an error where it is not. */
  send(request: Buffer, done: (error: Error | undefined) => void): void {
    this.received = [];
    this.bytes = 0;
    this.expected = Number.NaN;
    this.settle = done;
    this.socket ??= this.open();
    this.socket.write(request);
  }

  close(): void {
    this.settle = undefined;
    this.socket?.destroy();
  }

  private open(): Socket {
    const onread = {
      buffer: Buffer.allocUnsafe(READ_BUFFER),
      callback: (length: number, buffer: Uint8Array): boolean => {
        this.read(buffer as Buffer, length);
        return true;
      },
    };
    const socket = connect({ host: this.host, port: this.port, noDelay: true, onread });
    socket.on('error', (error) => this.lost(socket, error));
    socket.on('close', () => this.lost(socket, new Error('The server closed the connection before its answer')));
    return socket;
  }

  private read(buffer: Buffer, length: number): void {
    const data = buffer.subarray(0, length);
    if (this.bytes === 0 && this.readHead(data) && length >= this.expected) return this.complete(data);
    this.received.push(Buffer.from(data));
    this.bytes += length;
    if (Number.isNaN(this.expected)) {
      const joined = Buffer.concat(this.received);
      if (!this.readHead(joined)) return;
      this.received = [joined];
    }
    if (this.bytes >= this.expected || (this.chunked && this.endsWithLastChunk())) {
      this.complete(Buffer.concat(this.received));
    }
  }

  /** Whether the head is whole. */
  private readHead(data: Buffer): boolean {
    const end = data.indexOf(HEAD_END);
    if (end < 0) return false;
    const head = data.toString('latin1', 0, end).toLowerCase();
    this.status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    this.chunked = length === undefined && /\r\ntransfer-encoding: *chunked/.test(head);
    this.expected = length === undefined ? Infinity : end + HEAD_END.length + Number(length);
    return true;
  }

  private endsWithLastChunk(): boolean {
    const last = this.received.at(-1);
    if (last === undefined) return false;
    if (last.length >= LAST_CHUNK.length) return last.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
    return Buffer.concat(this.received.slice(-LAST_CHUNK.length)).subarray(-LAST_CHUNK.length).equals(LAST_CHUNK);
  }

  private complete(text: Buffer): void {
    const { settle } = this;
    this.settle = undefined;
    try {
      this.answered(this.status, text);
    } catch (error) {
      settle?.(error as Error);
      return;
    }
    settle?.(undefined);
  }

  private lost(socket: Socket, error: Error): void {
    if (this.socket !== socket) return;
    this.socket = undefined;
    if (this.settle === undefined) return;
    const endsByConnection = this.expected === Infinity && !this.chunked;
    if (endsByConnection) this.complete(Buffer.concat(this.received));
    else {
      const { settle } = this;
      this.settle = undefined;
      settle(error);
    }
  }
}

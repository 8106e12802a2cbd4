import { connect, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const READ_BUFFER = 64 * 1024;

/**
 * Keep-alive HTTP/1.1 connection with one request at a time. It is written by hand, since a load generator must cost
 * less than what it measures, and the servers are known. A body ends by its length, by its last chunk, or by the end of
 * the connection; in the last case the next request connects again.
 */
export class HttpExchange {
  private readonly host: string;
  private readonly port: number;
  private readonly answered: (status: number, text: Buffer) => void;
  private socket: Socket | undefined;
  private received: Buffer[] = [];
  private status = 0;
  /**
   * Number of bytes of the whole answer, head included; Infinity if its end is only marked by the last chunk or the end
   * of the connection.
   */
  private expected = Number.NaN;
  private chunked = false;
  private bytes = 0;
  private settle: ((outcome: Error | undefined) => void) | undefined;

  /** @param answered called with the whole text of every answer, head included, which is valid only during the call */
  constructor(host: string, port: number, answered: (status: number, text: Buffer) => void) {
    this.host = host;
    this.port = port;
    this.answered = answered;
  }

  /** Sends the bytes of a whole request. `done` is called when the answer has arrived, or with an error. */
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

  /** Reads the head of the answer. @returns true if it is complete */
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

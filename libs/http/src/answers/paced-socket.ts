import type { Socket } from 'node:net';
import type { PacedReader } from './reader-pace.js';

/** Node's internal state of a socket, by which Node itself tells a slow reader from a stalled one (net.js). */
interface SocketInternals {
  _bytesDispatched?: number;
  _handle?: { writeQueueSize?: number } | null;
}

/** Reader at the other end of a socket, independent of its protocol. */
export class PacedSocket implements PacedReader {
  constructor(private readonly socket: Socket) {}

  /** True while bytes wait for the reader. HTTP/2 bypasses the socket and writes to its handle. */
  hasPending(): boolean {
    const { _handle: handle } = this.socket as unknown as SocketInternals;
    return this.socket.writableLength > 0 || (handle?.writeQueueSize ?? 0) > 0;
  }

  /** Returns the number of bytes that have left. Without Node's internals a write counts once all of it has left. */
  bytesTaken(): number {
    const { socket } = this;
    const { _bytesDispatched: dispatched, _handle: handle } = socket as unknown as SocketInternals;
    const queued = handle?.writeQueueSize;
    return dispatched === undefined || queued === undefined
      ? socket.bytesWritten - socket.writableLength
      : dispatched - queued;
  }

  /** Resets the connection, which also frees what waits in the kernel. */
  cutReader(): void {
    this.socket.resetAndDestroy();
  }
}

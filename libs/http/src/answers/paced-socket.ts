import type { Socket } from 'node:net';
import type { PacedReader } from './reader-pace.js';

/** State that Node keeps of a socket, and uses itself to tell a slow reader from one that takes nothing (net.js). */
interface SocketInternals {
  _bytesDispatched?: number;
  _handle?: { writeQueueSize?: number } | null;
}

/** The reader at the other end of a socket, whatever is spoken there. */
export class PacedSocket implements PacedReader {
  constructor(private readonly socket: Socket) {}

  /** HTTP/2 writes past the socket, to its handle. */
  hasPending(): boolean {
    const { _handle: handle } = this.socket as unknown as SocketInternals;
    return this.socket.writableLength > 0 || (handle?.writeQueueSize ?? 0) > 0;
  }

  /** Without Node's internals a write counts once all of it has left. */
  bytesTaken(): number {
    const { socket } = this;
    const { _bytesDispatched: dispatched, _handle: handle } = socket as unknown as SocketInternals;
    const queued = handle?.writeQueueSize;
    return dispatched === undefined || queued === undefined
      ? socket.bytesWritten - socket.writableLength
      : dispatched - queued;
  }

  /** Resets the connection: what waits in the kernel is freed, too. */
  cut(): void {
    this.socket.resetAndDestroy();
  }
}

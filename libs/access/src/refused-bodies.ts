import type { IncomingMessage } from 'node:http';

/** So many are read at the same time. */
const AT_ONCE = 4;

/**
 * Reads the bodies of requests that were refused to their ends, and drops them: a caller that is still sending would see
 * a broken connection instead of its answer. A few at a time: of each connection Node reads megabytes before it looks at
 * the next, and hundreds of them at once would keep it from everything else.
 */
export class RefusedBodies {
  /** With what hears the end of their connections while they wait. */
  private readonly waiting = new Map<IncomingMessage, () => void>();
  private reading = 0;

  /** The answer may be sent already; what comes of the body waits in the connection until it is its turn. */
  drop(request: IncomingMessage): void {
    // What came with the head is dropped; after that nothing is read, nor kept, until it is this body's turn.
    request.once('data', () => {
      if (!this.waiting.has(request)) return;
      request.pause();
      request.socket.pause();
    });
    // The answer is sent, and nothing is read: that alone would be idleness to Node, which closes such a connection.
    request.on('timeout', () => undefined);
    const gone = (): void => void this.waiting.delete(request);
    this.waiting.set(request, gone);
    request.socket.once('close', gone);
    this.next();
  }

  private next(): void {
    for (const [request, gone] of this.waiting) {
      if (this.reading >= AT_ONCE) return;
      this.waiting.delete(request);
      const { socket } = request;
      // The connection may have many more requests.
      socket.off('close', gone);
      if (socket.destroyed) continue;
      this.reading += 1;
      let over = false;
      const done = (): void => {
        if (over) return;
        over = true;
        socket.off('close', done);
        this.reading -= 1;
        this.next();
      };
      // A request that was answered already hears no more of its connection.
      socket.once('close', done);
      request.once('end', done).once('error', done);
      request.resume();
      socket.resume();
    }
  }
}

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { InFlight } from '#libs/service';

/** Number of bodies that are read in large pieces at the same time. */
const AT_ONCE = 4;
/** Bytes that a body may bring without a place: so slow ones need none. */
const WITHOUT_PLACE = 64 * 1024;
/** Milliseconds after which a body that brings less than that gives its place up. */
const TURN_MS = 100;
/** Milliseconds that a connection which ends with its answer is still read. */
const LONGEST_END_MS = 30_000;

/**
 * Reads the bodies of requests that were refused to their ends, and drops them: a caller that is still sending would see
 * a broken connection instead of its answer.
 *
 * - A few are read at a time: of each connection Node reads megabytes before it looks at the next, and hundreds of them at
 *   once would keep it from everything else.
 * - A slow body holds no place: it delays another one by a tenth of a second at most.
 * - A connection that ends with the answer (`Connection: close`) stays open until its body is read, half a minute at most.
 */
export class RefusedBodies {
  private readonly waiting = new Set<RefusedBody>();
  private reading = 0;

  constructor(private readonly inFlight: Pick<InFlight, 'dropped'>) {}

  /** The answer may be sent already; what comes of the body waits in the connection until it is its turn. */
  drop(request: IncomingMessage): void {
    new RefusedBody(request, this).begin();
  }

  /** Has a body wait for a place. */
  queue(body: RefusedBody): void {
    this.waiting.add(body);
    this.next();
  }

  /** Bytes of a body were read and dropped. */
  dropped(bytes: number): void {
    this.inFlight.dropped(bytes);
  }

  /** A body needs no place any more. */
  leave(body: RefusedBody, hadPlace: boolean): void {
    this.waiting.delete(body);
    if (!hadPlace) return;
    this.reading -= 1;
    this.next();
  }

  private next(): void {
    for (const body of this.waiting) {
      if (this.reading >= AT_ONCE) return;
      this.waiting.delete(body);
      this.reading += 1;
      body.read();
    }
  }
}

/** A body, from its refusal to its end or that of its connection. */
class RefusedBody {
  private readonly socket: Socket;
  private turn: NodeJS.Timeout | undefined;
  private isWaiting = false;
  /** Bytes since the body was last given a place, or had one taken. */
  private bytes = 0;

  constructor(
    private readonly request: IncomingMessage,
    private readonly places: RefusedBodies,
  ) {
    this.socket = request.socket;
  }

  begin(): void {
    const { request, socket } = this;
    const count = (chunk: Buffer): void => this.take(chunk.length);
    const stayOpen = keepOpen(socket);
    const done = (): void => {
      // The connection may have many more requests.
      socket.off('close', done);
      request.off('data', count).off('end', done).off('error', done);
      clearTimeout(this.turn);
      this.places.leave(this, this.turn !== undefined);
      this.turn = undefined;
      stayOpen();
    };
    // A request that was answered already hears no more of its connection.
    socket.once('close', done);
    request.on('data', count).once('end', done).once('error', done);
    // The answer is sent, and nothing is read: that alone would be idleness to Node, which closes such a connection.
    request.on('timeout', () => undefined);
  }

  /** Reads as fast as it comes, as long as it comes fast. */
  read(): void {
    this.isWaiting = false;
    this.bytes = 0;
    this.turn = setTimeout(() => this.look(), TURN_MS).unref();
    this.request.resume();
    this.socket.resume();
  }

  private look(): void {
    const isSlow = this.bytes < WITHOUT_PLACE;
    this.bytes = 0;
    if (!isSlow) return void this.turn?.refresh();
    this.turn = undefined;
    this.places.leave(this, true);
  }

  private take(bytes: number): void {
    this.bytes += bytes;
    this.places.dropped(bytes);
    if (this.turn !== undefined || this.isWaiting || this.bytes < WITHOUT_PLACE) return;
    this.isWaiting = true;
    this.request.pause();
    this.socket.pause();
    this.places.queue(this);
  }
}

/**
 * Keeps a connection that ends with its answer open for reading: closed with something unread, it would be reset, and the
 * answer lost on its way. @returns what ends that; then the connection ends, if it was to
 */
function keepOpen(socket: Socket): () => void {
  let late: NodeJS.Timeout | undefined;
  // What Node calls once the last answer of a connection is written.
  socket.destroySoon = () => {
    socket.end();
    late ??= setTimeout(() => socket.destroy(), LONGEST_END_MS).unref();
  };
  return () => {
    delete (socket as Partial<Socket>).destroySoon;
    clearTimeout(late);
    if (late !== undefined) socket.destroySoon();
  };
}

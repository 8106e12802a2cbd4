import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { InFlight } from '#libs/service';

/**
 * Maximum number of bodies that are read fast at the same time. Each of these bodies has a place (one of AT_ONCE
 * permits).
 */
const AT_ONCE = 4;
/** Maximum bytes of a body that are read without one of the AT_ONCE places. */
const WITHOUT_PLACE = 64 * 1024;
/**
 * Milliseconds between checks of how fast a body arrives. A body that has delivered less than WITHOUT_PLACE since the
 * last check loses its place.
 */
const TURN_MS = 100;
/** Maximum milliseconds that a closing connection is still read. */
const LONGEST_END_MS = 30_000;

/**
 * Reads the bodies of refused requests to their ends, and drops the bytes: otherwise a caller that is still sending
 * would see a broken connection instead of the response.
 *
 * - At most four bodies are read fast at the same time, each in a "place". Node reads megabytes of one connection
 *   before it polls the next: hundreds of such bodies would block everything else.
 * - A slow body holds no place: it delays another body by at most a tenth of a second.
 * - A connection that closes after the response (`Connection: close`) stays open until its body is read, at most half a
 *   minute.
 */
export class RefusedBodies {
  private readonly waiting = new Set<RefusedBody>();
  private reading = 0;

  constructor(private readonly inFlight: Pick<InFlight, 'noteDropped'>) {}

  /** Drops the body of a request, which may be answered already. The body waits in the connection for its turn. */
  dropBody(request: IncomingMessage): void {
    new RefusedBody(request, this).startDropping();
  }

  /** Queues a body until one of the places (permits to read fast) is free. */
  queueBody(body: RefusedBody): void {
    this.waiting.add(body);
    this.readNext();
  }

  /** Counts bytes that were read and dropped, for a metric. */
  noteDropped(bytes: number): void {
    this.inFlight.noteDropped(bytes);
  }

  /**
   * Removes a body that is no longer read and no longer waits. If the body had a place, the next waiting body gets this
   * place.
   */
  leavePlace(body: RefusedBody, hadPlace: boolean): void {
    this.waiting.delete(body);
    if (!hadPlace) return;
    this.reading -= 1;
    this.readNext();
  }

  private readNext(): void {
    for (const body of this.waiting) {
      if (this.reading >= AT_ONCE) return;
      this.waiting.delete(body);
      this.reading += 1;
      body.readFast();
    }
  }
}

/** Body of a request that was refused, while it is read and dropped. */
class RefusedBody {
  private readonly socket: Socket;
  private turn: NodeJS.Timeout | undefined;
  private isWaiting = false;
  /**
   * Number of bytes since the body last got or lost its place (permit to read fast), or since its rate was last
   * checked.
   */
  private bytes = 0;

  constructor(
    private readonly request: IncomingMessage,
    private readonly places: RefusedBodies,
  ) {
    this.socket = request.socket;
  }

  startDropping(): void {
    const { request, socket } = this;
    const countChunk = (chunk: Buffer): void => this.takeBytes(chunk.length);
    const stayOpen = keepOpen(socket);
    const finishDropping = (): void => {
      // Remove all listeners: the connection may serve many more requests.
      socket.off('close', finishDropping);
      request.off('data', countChunk).off('end', finishDropping).off('error', finishDropping);
      clearTimeout(this.turn);
      this.places.leavePlace(this, this.turn !== undefined);
      this.turn = undefined;
      stayOpen();
    };
    // An answered request gets no more events of its connection.
    socket.once('close', finishDropping);
    request.on('data', countChunk).once('end', finishDropping).once('error', finishDropping);
    // The response is sent, and nothing is read: Node would close such a connection as idle.
    request.on('timeout', () => undefined);
  }

  /** Reads the body at full speed while it arrives fast; called when the body gets a place (permit to read fast). */
  readFast(): void {
    this.isWaiting = false;
    this.bytes = 0;
    this.turn = setTimeout(() => this.checkPace(), TURN_MS).unref();
    this.request.resume();
    this.socket.resume();
  }

  private checkPace(): void {
    const isSlow = this.bytes < WITHOUT_PLACE;
    this.bytes = 0;
    if (!isSlow) return void this.turn?.refresh();
    this.turn = undefined;
    this.places.leavePlace(this, true);
  }

  private takeBytes(bytes: number): void {
    this.bytes += bytes;
    this.places.noteDropped(bytes);
    if (this.turn !== undefined || this.isWaiting || this.bytes < WITHOUT_PLACE) return;
    this.isWaiting = true;
    this.request.pause();
    this.socket.pause();
    this.places.queueBody(this);
  }
}

/**
 * Keeps a closing connection open for reading: if the connection were closed with unread data, it would be reset, and
 * the response lost.
 * @returns the function that restores normal closing; a connection whose close was delayed then closes
 */
function keepOpen(socket: Socket): () => void {
  let late: NodeJS.Timeout | undefined;
  // Node calls this once the last response of a connection is written.
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

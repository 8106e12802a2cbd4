import { computeBackoff, pauseFor } from './backoff.js';
import { isForbidden } from './problem.js';
import { socketProtocols } from './socket-ticket.js';

/** A message of the event gateway: the event, its stream, and the cursor after it. */
export interface GatewayEventFrame {
  stream: string;
  cursor: string;
  [field: string]: unknown;
}

export interface GatewayFilter {
  /** Names of the followed streams. Default: all streams but `tool`. */
  streams?: readonly string[];
  runId?: string;
  conversationId?: string;
  taskId?: string;
  contextId?: string;
}

/** State of a subscription to the event gateway. `refused`: the caller may not read events, and no retry follows. */
export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

export interface GatewayReader {
  onFrame: (frame: GatewayEventFrame) => void;
  onConnection?: (connection: Connection) => void;
  /** Called when the service has deleted frames after the last received one: the page must fetch its data again. */
  onGap?: () => void;
}

/** The part of a WebSocket that this file uses. */
export type BrowserSocket = Pick<WebSocket, 'send' | 'close' | 'onmessage' | 'onclose'>;

interface Follower {
  query: GatewayFilter;
  reader: GatewayReader;
  /** Cursor of the subscription's last frame, used to resume; missing before the first frame. */
  cursor?: string;
  /** Number of consecutive refusals by the gateway; the backoff grows with it. */
  failures: number;
}

interface GatewayAnswer {
  type?: string;
  subscription?: string;
  cursor?: string;
  problem?: { status: number };
}

/** Milliseconds that a socket without a reader stays open, so that the next page can share it. */
const LINGER_MS = 1_000;

const [TAKEN, TOO_OLD] = [409, 410];

/**
 * The page's only socket to the event gateway; every reader is a subscription on it.
 * - The socket opens with the first reader, reopens when it is lost, and closes soon after the last reader.
 * - On a reopened socket, each reader gets the events after its own cursor. If the gateway has deleted some of them,
 *   the reader's `onGap` is called.
 */
export class GatewayConnection {
  private readonly followers = new Map<string, Follower>();
  /** The socket, once the gateway has sent `hello` on it. */
  private socket: BrowserSocket | undefined;
  private stop: AbortController | undefined;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private lastId = 0;

  /** @param open opens a socket that follows no streams yet, with the given subprotocols */
  constructor(
    private readonly open: (protocols: string[]) => BrowserSocket,
    private readonly protocols: () => Promise<string[]> = socketProtocols,
  ) {}

  /** Subscribes a reader to the events of a query, until the returned function is called. */
  followQuery(query: GatewayFilter, reader: GatewayReader): () => void {
    const id = String((this.lastId += 1));
    this.followers.set(id, { query, reader, failures: 0 });
    clearTimeout(this.idle);
    reader.onConnection?.('connecting');
    if (this.socket) this.sendSubscription(id);
    else if (!this.stop) this.openConnection();
    return () => this.removeFollower(id);
  }

  private removeFollower(id: string): void {
    if (!this.followers.delete(id)) return;
    this.sendCommand('unsubscribe', { id });
    if (this.followers.size === 0) this.idle = setTimeout(() => this.closeConnection(), LINGER_MS);
  }

  private openConnection(): void {
    const stop = new AbortController();
    this.stop = stop;
    void this.keepOpen(stop.signal).finally(() => {
      if (this.stop === stop) this.stop = undefined;
    });
  }

  private closeConnection(): void {
    this.stop?.abort();
    this.stop = undefined;
    this.socket = undefined;
  }

  /** Keeps a socket open until the signal aborts or the caller is refused. Never rejects. */
  private async keepOpen(signal: AbortSignal): Promise<void> {
    for (let failures = 1; !signal.aborted; failures += 1) {
      this.reportToAll('connecting');
      const protocols = await this.protocols().catch((error: unknown) => (isForbidden(error) ? undefined : []));
      if (signal.aborted) return;
      if (protocols === undefined) return this.refuseAll();
      if (await this.runSession(protocols, signal)) failures = 1;
      if (signal.aborted) return;
      this.reportToAll('lost');
      await pauseFor(computeBackoff(failures), signal);
    }
  }

  /** Uses one socket until it closes. Resolves with true if the gateway has sent `hello` on it. Never rejects. */
  private runSession(protocols: string[], signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = this.open(protocols);
      let greeted = false;
      const closeSocket = (): void => socket.close();
      signal.addEventListener('abort', closeSocket, { once: true });
      socket.onmessage = ({ data }) => {
        if (signal.aborted) return;
        const frame = JSON.parse(String(data)) as GatewayAnswer;
        if (frame.type !== 'hello') return this.handleFrame(frame);
        greeted = true;
        this.socket = socket;
        for (const id of this.followers.keys()) this.sendSubscription(id);
      };
      socket.onclose = () => {
        signal.removeEventListener('abort', closeSocket);
        if (this.socket === socket) this.socket = undefined;
        resolve(greeted);
      };
      if (signal.aborted) closeSocket();
    });
  }

  private handleFrame(frame: GatewayAnswer): void {
    const id = frame.subscription ?? '';
    const follower = this.followers.get(id);
    if (!follower || frame.type === 'unsubscribed') return;
    if (frame.type === 'error') return this.handleRefusal(id, follower, frame.problem?.status);
    follower.cursor = frame.cursor;
    follower.failures = 0;
    if (frame.type === 'subscribed') follower.reader.onConnection?.('live');
    else follower.reader.onFrame(frame as unknown as GatewayEventFrame);
  }

  /**
   * Retries a subscription that the gateway refused or ended: after a backoff, or at once without a cursor if the
   * cursor is too old (410). Does nothing if the subscription exists already (409).
   */
  private handleRefusal(id: string, follower: Follower, status: number | undefined): void {
    if (status === TAKEN) return;
    if (status === TOO_OLD) {
      follower.cursor = undefined;
      follower.reader.onGap?.();
      return this.sendSubscription(id);
    }
    follower.failures += 1;
    follower.reader.onConnection?.('lost');
    setTimeout(() => this.sendSubscription(id), computeBackoff(follower.failures));
  }

  private sendSubscription(id: string): void {
    const follower = this.followers.get(id);
    if (follower) this.sendCommand('subscribe', { id, ...follower.query, since: follower.cursor });
  }

  private sendCommand(event: string, data: object): void {
    this.socket?.send(JSON.stringify({ event, data }));
  }

  private reportToAll(connection: Connection): void {
    for (const { reader } of this.followers.values()) reader.onConnection?.(connection);
  }

  private refuseAll(): void {
    this.reportToAll('refused');
    this.followers.clear();
  }
}

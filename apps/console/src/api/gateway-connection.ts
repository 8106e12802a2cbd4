import { backoff, pause } from './backoff.js';
import { isForbidden } from './problem.js';
import { socketProtocols } from './socket-ticket.js';

/** A message of the event gateway: the event, its stream, and the cursor after it. */
export interface GatewayFrame {
  stream: string;
  cursor: string;
  [field: string]: unknown;
}

export interface GatewayQuery {
  /** Names of streams; without it, all but `tool`. */
  streams?: readonly string[];
  runId?: string;
  conversationId?: string;
  taskId?: string;
  contextId?: string;
}

/** State of a subscription. `refused`: the caller may not read events, and no retry follows. */
export type Connection = 'connecting' | 'live' | 'lost' | 'refused';

export interface GatewayReader {
  onFrame: (frame: GatewayFrame) => void;
  onConnection?: (connection: Connection) => void;
  /** Reports that the service has deleted frames after the last one: the page must fetch its data again. */
  onGap?: () => void;
}

/** The part of a WebSocket that this file uses. */
export type GatewaySocket = Pick<WebSocket, 'send' | 'close' | 'onmessage' | 'onclose'>;

interface Follower {
  query: GatewayQuery;
  reader: GatewayReader;
  /** Cursor of its last frame, after which it continues; missing before the first one. */
  cursor?: string;
  /** Number of consecutive refusals. */
  failures: number;
}

interface Answer {
  type?: string;
  subscription?: string;
  cursor?: string;
  problem?: { status: number };
}

/** Milliseconds for which a socket without a reader stays open, so that the next page can share it. */
const LINGER_MS = 1_000;

const [TAKEN, TOO_OLD] = [409, 410];

/**
 * The page's only socket to the event gateway; every reader is a subscription on it.
 * - The socket opens with the first reader, reopens when it is lost, and closes soon after the last reader.
 * - Each reader continues from its own cursor and misses no event.
 */
export class GatewayConnection {
  private readonly followers = new Map<string, Follower>();
  /** The socket, once the gateway has said hello on it. */
  private socket: GatewaySocket | undefined;
  private stop: AbortController | undefined;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private lastId = 0;

  /** @param open opens a socket without streams of its own, with the given subprotocols */
  constructor(
    private readonly open: (protocols: string[]) => GatewaySocket,
    private readonly protocols: () => Promise<string[]> = socketProtocols,
  ) {}

  /** Follows a query until the returned function is called. */
  follow(query: GatewayQuery, reader: GatewayReader): () => void {
    const id = String((this.lastId += 1));
    this.followers.set(id, { query, reader, failures: 0 });
    clearTimeout(this.idle);
    reader.onConnection?.('connecting');
    if (this.socket) this.subscribe(id);
    else if (!this.stop) this.start();
    return () => this.leave(id);
  }

  private leave(id: string): void {
    if (!this.followers.delete(id)) return;
    this.send('unsubscribe', { id });
    if (this.followers.size === 0) this.idle = setTimeout(() => this.end(), LINGER_MS);
  }

  private start(): void {
    const stop = new AbortController();
    this.stop = stop;
    void this.keepOpen(stop.signal).finally(() => {
      if (this.stop === stop) this.stop = undefined;
    });
  }

  private end(): void {
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
      if (await this.session(protocols, signal)) failures = 1;
      if (signal.aborted) return;
      this.reportToAll('lost');
      await pause(backoff(failures), signal);
    }
  }

  /** Uses a socket until it closes. Resolves with true if the gateway said hello on it. Never rejects. */
  private session(protocols: string[], signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = this.open(protocols);
      let greeted = false;
      const close = (): void => socket.close();
      signal.addEventListener('abort', close, { once: true });
      socket.onmessage = ({ data }) => {
        if (signal.aborted) return;
        const frame = JSON.parse(String(data)) as Answer;
        if (frame.type !== 'hello') return this.take(frame);
        greeted = true;
        this.socket = socket;
        for (const id of this.followers.keys()) this.subscribe(id);
      };
      socket.onclose = () => {
        signal.removeEventListener('abort', close);
        if (this.socket === socket) this.socket = undefined;
        resolve(greeted);
      };
      if (signal.aborted) close();
    });
  }

  private take(frame: Answer): void {
    const id = frame.subscription ?? '';
    const follower = this.followers.get(id);
    if (!follower || frame.type === 'unsubscribed') return;
    if (frame.type === 'error') return this.fail(id, follower, frame.problem?.status);
    follower.cursor = frame.cursor;
    follower.failures = 0;
    if (frame.type === 'subscribed') follower.reader.onConnection?.('live');
    else follower.reader.onFrame(frame as unknown as GatewayFrame);
  }

  /** Repeats a subscription that the gateway refused or ended. */
  private fail(id: string, follower: Follower, status: number | undefined): void {
    if (status === TAKEN) return;
    if (status === TOO_OLD) {
      follower.cursor = undefined;
      follower.reader.onGap?.();
      return this.subscribe(id);
    }
    follower.failures += 1;
    follower.reader.onConnection?.('lost');
    setTimeout(() => this.subscribe(id), backoff(follower.failures));
  }

  private subscribe(id: string): void {
    const follower = this.followers.get(id);
    if (follower) this.send('subscribe', { id, ...follower.query, since: follower.cursor });
  }

  private send(event: string, data: object): void {
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

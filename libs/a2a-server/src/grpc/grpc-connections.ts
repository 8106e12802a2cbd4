import type { Server } from '@grpc/grpc-js';
import {
  constants,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server as NetServer, Socket } from 'node:net';
import { PacedSocket, type ReaderPace } from '#libs/http-server';
import { addressOf } from './grpc-access.js';

/**
 * Function that may reject a call before grpc-js creates anything for it. Returns true after it has rejected the call;
 * false to pass the call on to grpc-js.
 */
export type EarlyRefusal = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  connection: GrpcConnection,
) => boolean;

export interface ConnectionLimits {
  /** Maximum milliseconds that a connection without credentials may have no call of the health service. */
  anonymousMs: number;
  /** Maximum number of connections without credentials from one address. */
  mostOfAddress: number;
}

const DEFAULT_LIMITS: ConnectionLimits = { anonymousMs: 30_000, mostOfAddress: 1_000 };
const LOOKS_PER_PERIOD = 6;

/**
 * Maximum number of concurrent calls on one connection after its first authenticated call; clients queue further calls.
 */
const MOST_STREAMS = 1_000;
/**
 * Maximum number of concurrent calls on one connection before its first authenticated call. One read of the socket
 * may start all of them. The number slightly exceeds the `Watch` calls that one address may have, so that the address
 * can still make a `Check` call beside them.
 */
export const MOST_ANONYMOUS_STREAMS = 128;
/** Number of rejected calls that closes a connection without credentials. */
const MOST_REFUSALS = 100;

/**
 * Connections of the gRPC port.
 *
 * - A connection that does not read is cut (ReaderPace). HTTP/2 alone would wait for it, even at shutdown.
 * - A connection with no authenticated call, and no call of the health service for half a minute, is cut: it is idle,
 *   sends incomplete headers, or calls unknown methods.
 * - A connection without credentials has at most 128 calls at a time, and is cut after a hundred rejected calls.
 * - An address has at most a thousand idle connections without credentials; beyond that the oldest idle one is cut for
 *   the newest connection.
 */
export class GrpcConnections {
  private readonly byPeer = new Map<string, GrpcConnection>();
  private readonly bySession = new WeakMap<Http2Session, GrpcConnection>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly pace: ReaderPace,
    private readonly limits: ConnectionLimits = DEFAULT_LIMITS,
  ) {
    this.timer = setInterval(() => this.cutIdle(), limits.anonymousMs / LOOKS_PER_PERIOD).unref();
  }

  /**
   * Watches the connections of a listening server.
   * @param refuse called for each call, before grpc-js handles the call
   */
  watchServer(server: Server, refuse: EarlyRefusal): void {
    for (const http2 of listenersOf(server)) {
      this.guardStreams(http2, refuse);
      // Runs before the listener of HTTP/2, which creates the session.
      http2.prependListener('connection', (socket: Socket) => this.addSocket(socket));
      http2.on('session', (session: ServerHttp2Session) => {
        const { remoteAddress, remotePort } = session.socket;
        const connection = this.byPeer.get(`${remoteAddress}:${remotePort}`);
        connection?.attachSession(session);
        if (connection) this.bySession.set(session, connection);
      });
    }
  }

  /**
   * Passes each call to the listeners of grpc-js, unless `refuse` rejects it. A call without a known connection is
   * passed on unchecked.
   */
  private guardStreams(http2: NetServer, refuse: EarlyRefusal): void {
    const listeners = http2.listeners('stream') as StreamListener[];
    http2.removeAllListeners('stream');
    http2.on('stream', (stream: ServerHttp2Stream, ...rest: [IncomingHttpHeaders, number]) => {
      const connection = stream.session && this.bySession.get(stream.session);
      if (connection && refuse(stream, rest[0], connection)) return;
      for (const listener of listeners) listener.call(http2, stream, ...rest);
    });
  }

  /**
   * Returns the connection of a peer (`address:port`); a new GrpcConnection without a socket if the peer has
   * disconnected.
   */
  connectionOf(peer: string): GrpcConnection {
    return this.byPeer.get(peer) ?? new GrpcConnection(addressOf(peer));
  }

  /** Ends the watch and cuts the remaining connections: HTTP/2 would wait for their readers. */
  close(): void {
    clearInterval(this.timer);
    for (const connection of this.byPeer.values()) connection.cutConnection();
  }

  private addSocket(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined || socket.destroyed) return;
    const peer = `${remoteAddress}:${remotePort}`;
    const connection = new GrpcConnection(remoteAddress, socket);
    this.makeRoom(remoteAddress);
    this.byPeer.set(peer, connection);
    const leave = this.pace.watchReader(new PacedSocket(socket));
    socket.once('close', () => {
      leave();
      this.byPeer.delete(peer);
    });
  }

  private makeRoom(address: string): void {
    if (this.byPeer.size < this.limits.mostOfAddress) return;
    const anonymous = this.byPeer.values().filter((it) => it.address === address && it.isIdle);
    const all = [...anonymous];
    if (all.length >= this.limits.mostOfAddress) all[0]?.cutConnection();
  }

  /**
   * Cuts connections that were idle at more than LOOKS_PER_PERIOD checks in a row. Counts checks instead of time: after
   * a pause of the whole process, time alone would make every connection look idle.
   */
  private cutIdle(): void {
    for (const connection of this.byPeer.values()) {
      if (connection.countIdleChecks() > LOOKS_PER_PERIOD) connection.cutConnection();
    }
  }
}

/** Connection of the gRPC port. It counts as a connection without credentials until its first authenticated call. */
export class GrpcConnection {
  private isKnown = false;
  private publicCalls = 0;
  private looks = 0;
  private refusals = 0;
  private session: ServerHttp2Session | undefined;

  constructor(
    readonly address: string,
    private readonly socket?: Socket,
  ) {}

  /** True if the connection has no authenticated caller and no open call of the health service. */
  get isIdle(): boolean {
    return !this.isKnown && this.publicCalls === 0;
  }

  /** Stores the HTTP/2 session of the connection. Called once the session exists. */
  attachSession(session: ServerHttp2Session): void {
    this.session = session;
  }

  /** Notes an authenticated call. The connection may then have MOST_STREAMS concurrent calls. */
  markKnown(): void {
    if (this.isKnown) return;
    this.isKnown = true;
    if (this.session?.destroyed === false) this.session.settings({ maxConcurrentStreams: MOST_STREAMS });
  }

  /** Notes a rejected call. A connection without credentials is cut after MOST_REFUSALS rejected calls. */
  countRefusal(): void {
    if (this.isKnown) return;
    this.refusals += 1;
    if (this.refusals !== MOST_REFUSALS || this.session?.destroyed !== false) return;
    this.session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    setImmediate(() => this.cutConnection());
  }

  /** Notes an open call of the health service. @returns the function to call when it has ended */
  beginPublicCall(): () => void {
    this.publicCalls += 1;
    return () => {
      this.publicCalls -= 1;
      this.looks = 0;
    };
  }

  /** Checks whether the connection is idle. @returns the number of consecutive checks that found it idle */
  countIdleChecks(): number {
    this.looks = this.isIdle ? this.looks + 1 : 0;
    return this.looks;
  }

  cutConnection(): void {
    this.socket?.destroy();
  }
}

type StreamListener = (this: NetServer, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number) => void;

/** Returns the HTTP/2 servers of a gRPC server, which are an internal member of grpc-js. */
function listenersOf(server: Server): Iterable<NetServer> {
  const { http2Servers } = server as unknown as { http2Servers?: Map<NetServer, unknown> };
  if (!http2Servers) throw new Error('This version of grpc-js keeps its servers elsewhere');
  return http2Servers.keys();
}

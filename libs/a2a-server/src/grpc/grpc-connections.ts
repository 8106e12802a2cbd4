import {
  constants,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Server as NetServer, Socket } from 'node:net';
import type { Server } from '@grpc/grpc-js';
import { PacedSocket, type ReaderPace } from '#libs/http';
import { addressOf } from './grpc-access.js';

/** Refuses a call before grpc-js makes anything for it. @returns false where it may go on to grpc-js */
export type EarlyRefusal = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  connection: GrpcConnection,
) => boolean;

export interface ConnectionLimits {
  /** Milliseconds that a connection without credentials may be open without a call of the health service. */
  anonymousMs: number;
  /** Connections without credentials of one address. */
  mostOfAddress: number;
}

const DEFAULT_LIMITS: ConnectionLimits = { anonymousMs: 30_000, mostOfAddress: 1_000 };
const LOOKS_PER_PERIOD = 6;

/** Calls under way on one connection; clients keep what is more to themselves until one is over. */
const MOST_STREAMS = 1_000;
/**
 * Calls under way until one with credentials has come. A read of the socket may hold all of them, and others wait: few
 * more than the watches that an address may have, so that a check finds room beside them.
 */
export const MOST_ANONYMOUS_STREAMS = 128;
/** Calls that are refused on a connection without credentials before it is cut. */
const MOST_REFUSALS = 100;

/**
 * The connections of the gRPC port.
 *
 * - One that does not read what is sent is cut (ReaderPace). HTTP/2 alone would wait for it, also at the shutdown.
 * - One that has made no call with credentials, and none of the health service for half a minute, is cut: it is idle, has
 *   sent half of its headers, or calls methods that do not exist.
 * - One without credentials has 128 calls at a time, and is cut once a hundred were refused.
 * - An address has at most a thousand of those; beyond that the one that was idle longest gives way to the newest.
 */
export class GrpcConnections {
  private readonly byPeer = new Map<string, GrpcConnection>();
  private readonly bySession = new WeakMap<Http2Session, GrpcConnection>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly pace: ReaderPace,
    private readonly limits: ConnectionLimits = DEFAULT_LIMITS,
  ) {
    this.timer = setInterval(() => this.look(), limits.anonymousMs / LOOKS_PER_PERIOD).unref();
  }

  /** Watches a server that listens already. @param refuse asked about each call before grpc-js */
  watch(server: Server, refuse: EarlyRefusal): void {
    for (const http2 of listenersOf(server)) {
      this.guardStreams(http2, refuse);
      // Before the listener of HTTP/2, which makes the session.
      http2.prependListener('connection', (socket: Socket) => this.add(socket));
      http2.on('session', (session: ServerHttp2Session) => {
        const { remoteAddress, remotePort } = session.socket;
        const connection = this.byPeer.get(`${remoteAddress}:${remotePort}`);
        connection?.opened(session);
        if (connection) this.bySession.set(session, connection);
      });
    }
  }

  /** Has each call go through a refusal to what listened for calls before. */
  private guardStreams(http2: NetServer, refuse: EarlyRefusal): void {
    const listeners = http2.listeners('stream') as StreamListener[];
    http2.removeAllListeners('stream');
    http2.on('stream', (stream: ServerHttp2Stream, ...rest: [IncomingHttpHeaders, number]) => {
      const connection = stream.session && this.bySession.get(stream.session);
      if (connection && refuse(stream, rest[0], connection)) return;
      for (const listener of listeners) listener.call(http2, stream, ...rest);
    });
  }

  /** The connection of a peer, which is an address and a port; that of a peer which has left is nobody's. */
  of(peer: string): GrpcConnection {
    return this.byPeer.get(peer) ?? new GrpcConnection(addressOf(peer));
  }

  /** Ends the watch, and what is left of the connections: HTTP/2 would wait for their readers. */
  close(): void {
    clearInterval(this.timer);
    for (const connection of this.byPeer.values()) connection.cut();
  }

  private add(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    if (remoteAddress === undefined || socket.destroyed) return;
    const peer = `${remoteAddress}:${remotePort}`;
    const connection = new GrpcConnection(remoteAddress, socket);
    this.makeRoom(remoteAddress);
    this.byPeer.set(peer, connection);
    const leave = this.pace.watch(new PacedSocket(socket));
    socket.once('close', () => {
      leave();
      this.byPeer.delete(peer);
    });
  }

  private makeRoom(address: string): void {
    if (this.byPeer.size < this.limits.mostOfAddress) return;
    const anonymous = this.byPeer.values().filter((it) => it.address === address && it.isIdle);
    const all = [...anonymous];
    if (all.length >= this.limits.mostOfAddress) all[0]?.cut();
  }

  /** Counts looks, not time: a process that stood still blames no connection. */
  private look(): void {
    for (const connection of this.byPeer.values()) {
      if (connection.idleLooks() > LOOKS_PER_PERIOD) connection.cut();
    }
  }
}

/** A connection on which no call with credentials has come yet. */
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

  /** True if the connection serves nobody at present. */
  get isIdle(): boolean {
    return !this.isKnown && this.publicCalls === 0;
  }

  /** Takes the HTTP/2 session, once it is there. */
  opened(session: ServerHttp2Session): void {
    this.session = session;
  }

  /** Notes that somebody with credentials has called: more calls are let in at a time from then on. */
  known(): void {
    if (this.isKnown) return;
    this.isKnown = true;
    if (this.session?.destroyed === false) this.session.settings({ maxConcurrentStreams: MOST_STREAMS });
  }

  /** Notes that a call was refused; a connection without credentials is cut after many. */
  refused(): void {
    if (this.isKnown) return;
    this.refusals += 1;
    if (this.refusals !== MOST_REFUSALS || this.session?.destroyed !== false) return;
    this.session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    setImmediate(() => this.cut());
  }

  /** Notes that a call of the health service is open. @returns what to call when it has ended */
  beginPublicCall(): () => void {
    this.publicCalls += 1;
    return () => {
      this.publicCalls -= 1;
      this.looks = 0;
    };
  }

  /** Looks at the connection. @returns how many looks in a row have found it idle */
  idleLooks(): number {
    this.looks = this.isIdle ? this.looks + 1 : 0;
    return this.looks;
  }

  cut(): void {
    this.socket?.destroy();
  }
}

type StreamListener = (this: NetServer, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number) => void;

/** The HTTP/2 servers of a server, which grpc-js keeps to itself. */
function listenersOf(server: Server): Iterable<NetServer> {
  const { http2Servers } = server as unknown as { http2Servers?: Map<NetServer, unknown> };
  if (!http2Servers) throw new Error('This version of grpc-js keeps its servers elsewhere');
  return http2Servers.keys();
}

import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import {
  type AddressGuard,
  addressRefusal,
  bareHost,
  connectFailure,
  defaultPort,
  guardedLookup,
  type StandstillWatch,
} from './guarded-agent.js';
import {
  OutboundConnectError,
  OutboundInterruptedError,
  OutboundOverloadedError,
  OutboundTimeoutError,
} from './outbound-errors.js';

/** Limits of the HTTP/2 connections of one client; tests shorten them. */
export interface SharedConnectionLimits {
  /** Maximum number of open connections, to all servers together. */
  mostConnections: number;
  /** Maximum number of open connections to one server. */
  mostOfServer: number;
  /** Milliseconds without a call before a connection is closed. */
  idleMs: number;
  /** Maximum milliseconds for name resolution, TCP, TLS and the server's settings together. */
  connectMs: number;
  /** Milliseconds between two pings of a connection with calls. */
  pingMs: number;
  /** Maximum milliseconds until the server answers a ping; after that, the connection is closed. */
  pingAnswerMs: number;
}

/**
 * Default limits. Servers close a connection that pings a silent stream more often than every five minutes (gRPC,
 * "Keepalive"); a host that is gone is also found by TCP keep-alive.
 */
const DEFAULT_LIMITS: Readonly<SharedConnectionLimits> = {
  mostConnections: 1_000,
  mostOfServer: 100,
  idleMs: 30_000,
  connectMs: 5_000,
  pingMs: 310_000,
  pingAnswerMs: 20_000,
};

/** Milliseconds of silence before the operating system begins to probe whether a peer is still there. */
const TCP_PROBE_MS = 30_000;
/** Maximum bytes of one answer that a server may send ahead of the reader. */
const MOST_UNREAD_BYTES = 128 * 1024;
/**
 * Memory, in megabytes, that one connection may take. The value is so large that it never applies: the memory of calls
 * is limited before they are made.
 */
const MOST_SESSION_MB = 4_096;
/** Maximum number of calls on one connection until the server has stated its own limit. */
const MOST_STREAMS = 100;

/** Call that runs on a connection. */
interface OpenCall {
  /** Called when the server has answered a ping. */
  alive?: (() => void) | undefined;
}

/** HTTP/2 connection with its calls. It closes itself when it has had no call for a while. */
class SharedConnection {
  private readonly calls = new Set<OpenCall>();
  private idle: NodeJS.Timeout | undefined;
  private pings: NodeJS.Timeout | undefined;
  private lastProcessed = Infinity;

  constructor(
    private readonly session: ClientHttp2Session,
    private readonly limits: SharedConnectionLimits,
    /** Number of standstills of this process before the connection was made. */
    readonly standstills: number,
  ) {
    session.on('goaway', (_code: number, lastProcessed: number) => (this.lastProcessed = lastProcessed));
    session.on('error', () => undefined);
    session.once('close', () => this.stopTimers());
    this.beginIdle();
  }

  get isIdle(): boolean {
    return this.calls.size === 0;
  }

  /** True if another call may begin on this connection. */
  get hasRoom(): boolean {
    const { closed, destroyed, remoteSettings } = this.session;
    return !closed && !destroyed && this.calls.size < (remoteSettings.maxConcurrentStreams ?? MOST_STREAMS);
  }

  /** Begins a call. @throws TypeError for headers that HTTP/2 cannot carry */
  openStream(headers: Record<string, string>, call: OpenCall): ClientHttp2Stream {
    const stream = this.session.request(headers, { endStream: false });
    if (this.isIdle) this.beginWork();
    this.calls.add(call);
    stream.once('close', () => {
      this.calls.delete(call);
      if (this.isIdle) this.beginIdle();
    });
    return stream;
  }

  /**
   * True if the server has certainly not processed a call: it refused the stream (REFUSED_STREAM), or its GOAWAY names
   * an earlier stream as the last that it processed.
   */
  isUnprocessed({ id, rstCode }: ClientHttp2Stream): boolean {
    return rstCode === constants.NGHTTP2_REFUSED_STREAM || (id !== undefined && id > this.lastProcessed);
  }

  /** Closes the connection as soon as its calls have ended. */
  closeWhenIdle(): void {
    if (!this.session.closed && !this.session.destroyed) this.session.close();
  }

  cutCalls(): void {
    this.session.destroy();
  }

  private beginWork(): void {
    clearTimeout(this.idle);
    this.session.ref();
    this.pings = setInterval(() => this.sendPing(), this.limits.pingMs).unref();
  }

  private beginIdle(): void {
    this.stopTimers();
    if (this.session.destroyed) return;
    this.session.unref();
    this.idle = setTimeout(() => this.closeWhenIdle(), this.limits.idleMs).unref();
  }

  private stopTimers(): void {
    clearTimeout(this.idle);
    clearInterval(this.pings);
  }

  private sendPing(): void {
    const { session } = this;
    if (session.destroyed) return;
    const late = setTimeout(() => {
      session.destroy(new OutboundInterruptedError('The server has not answered a ping'), constants.NGHTTP2_CANCEL);
    }, this.limits.pingAnswerMs).unref();
    session.ping((error) => {
      clearTimeout(late);
      if (error === null) for (const { alive } of this.calls) alive?.();
    });
  }
}

/** Stream of a call, and the connection that it runs on. */
export interface OpenedStream {
  stream: ClientHttp2Stream;
  /** True if the server has certainly not processed the call. */
  isUnprocessed: () => boolean;
}

/**
 * HTTP/2 connections to other machines, shared by all calls to the same scheme, host and port.
 *
 * - The guard checks the very IP addresses that a connection uses, so DNS rebinding has no effect. No proxy is used.
 * - A connection is ready when the server has sent its HTTP/2 settings: before that, no part of a call has left.
 * - Connections that were open while this process was suspended or its event loop was blocked for long
 *   (`StandstillWatch`) get no further calls.
 * - Another connection is made if all have as many calls as their server permits.
 */
export class SharedConnections {
  private readonly open = new Map<string, Set<SharedConnection>>();
  private readonly opening = new Map<string, Promise<SharedConnection>>();
  private readonly limits: SharedConnectionLimits;
  private count = 0;
  private isOver = false;

  constructor(
    private readonly guard: AddressGuard,
    private readonly standstills: StandstillWatch,
    limits: Partial<SharedConnectionLimits> = {},
  ) {
    this.limits = { ...DEFAULT_LIMITS, ...limits };
  }

  /** Number of connections, including those that are being made. */
  get size(): number {
    return this.count;
  }

  /**
   * Begins a call to the origin of a URL.
   * @throws OutboundRefusedError, OutboundConnectError, OutboundTimeoutError, OutboundOverloadedError; the signal's
   * reason
   */
  async openStream(
    url: URL,
    headers: Record<string, string>,
    { alive, signal }: OpenCall & { signal?: AbortSignal | undefined },
  ): Promise<OpenedStream> {
    for (;;) {
      signal?.throwIfAborted();
      const connection = this.findConnection(url.origin) ?? (await untilAborted(this.connectOnce(url), signal));
      if (!connection.hasRoom && connection.isIdle) throw new OutboundConnectError('The server permits no calls');
      if (!connection.hasRoom) continue;
      const stream = connection.openStream({ ...headers, ':authority': url.host }, { alive });
      return { stream, isUnprocessed: () => connection.isUnprocessed(stream) };
    }
  }

  /** Closes all connections at once; their calls fail. */
  close(): void {
    this.isOver = true;
    for (const connections of this.open.values()) for (const connection of connections) connection.cutCalls();
  }

  private findConnection(origin: string): SharedConnection | undefined {
    const standstills = this.standstills.countStandstills();
    for (const connection of this.open.get(origin) ?? []) {
      if (connection.standstills !== standstills) this.retireConnection(origin, connection);
      else if (connection.hasRoom) return connection;
    }
    return undefined;
  }

  private retireConnection(origin: string, connection: SharedConnection): void {
    this.forgetConnection(origin, connection);
    connection.closeWhenIdle();
  }

  private forgetConnection(origin: string, connection: SharedConnection): void {
    const connections = this.open.get(origin);
    connections?.delete(connection);
    if (connections?.size === 0) this.open.delete(origin);
  }

  private connectOnce(url: URL): Promise<SharedConnection> {
    const { origin } = url;
    const begun = this.opening.get(origin);
    if (begun) return begun;
    const opening = this.openConnection(url).finally(() => this.opening.delete(origin));
    this.opening.set(origin, opening);
    return opening;
  }

  private async openConnection(url: URL): Promise<SharedConnection> {
    const { origin } = url;
    this.makeRoom(origin);
    this.count += 1;
    const standstills = this.standstills.countStandstills();
    try {
      const session = await openSession(url, this.guard, this.limits.connectMs);
      const connection = new SharedConnection(session, this.limits, standstills);
      session.once('close', () => {
        this.count -= 1;
        this.forgetConnection(origin, connection);
      });
      if (this.isOver) connection.cutCalls();
      else this.open.set(origin, (this.open.get(origin) ?? new Set()).add(connection));
      return connection;
    } catch (error) {
      this.count -= 1;
      throw error;
    }
  }

  /**
   * Makes room for another connection to a server: closes an idle connection if `mostConnections` are open.
   * @throws OutboundOverloadedError if none of them is idle, or the server already has `mostOfServer` connections
   */
  private makeRoom(origin: string): void {
    if ((this.open.get(origin)?.size ?? 0) >= this.limits.mostOfServer)
      throw new OutboundOverloadedError(`${this.limits.mostOfServer} connections to one server are in use`);
    if (this.count < this.limits.mostConnections) return;
    for (const [other, connections] of this.open) {
      const idle = [...connections].find((it) => it.isIdle);
      if (idle) return this.retireConnection(other, idle);
    }
    throw new OutboundOverloadedError(`${this.limits.mostConnections} connections to other machines are in use`);
  }
}

/**
 * Waits for a connection, at most until the signal aborts. The connection is made even then, for later calls.
 * @throws the signal's reason as soon as it aborts
 */
function untilAborted<T>(outcome: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return outcome;
  return new Promise<T>((resolve, reject) => {
    const rejectWait = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', rejectWait, { once: true });
    outcome.then(resolve, reject).finally(() => signal.removeEventListener('abort', rejectWait));
  });
}

async function openSession(url: URL, guard: AddressGuard, connectMs: number): Promise<ClientHttp2Session> {
  const late = new OutboundTimeoutError('connect');
  const timer = AbortSignal.timeout(connectMs);
  const socket = openSocket(url, guard);
  const cutSocket = (): void => void socket.destroy(late);
  timer.addEventListener('abort', cutSocket, { once: true });
  try {
    await awaitConnected(socket, url.protocol === 'https:' ? 'secureConnect' : 'connect');
    return await settledSession(url, socket);
  } catch (error) {
    socket.destroy();
    throw timer.aborted ? late : connectFailure(error as Error);
  } finally {
    timer.removeEventListener('abort', cutSocket);
  }
}

/** Opens a socket to the address of a host that the guard permits. @throws OutboundRefusedError */
function openSocket({ protocol, hostname, port: given }: URL, guard: AddressGuard): Socket | TLSSocket {
  const host = bareHost(hostname);
  const port = Number(given || defaultPort(protocol));
  if (isIP(host) !== 0 && !guard.permitsAddress(host, port, host)) throw addressRefusal(host);
  const target = { host, port, lookup: guardedLookup(guard, port), autoSelectFamily: true, noDelay: true };
  const socket =
    protocol === 'https:'
      ? connectTls({ ...target, ALPNProtocols: ['h2'], ...(isIP(host) === 0 && { servername: host }) })
      : connectTcp(target);
  return socket.setKeepAlive(true, TCP_PROBE_MS);
}

function awaitConnected(socket: Socket, event: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('error', reject).once('close', () => reject(closedEarly()));
    socket.once(event, () => resolve());
  });
}

function closedEarly(): OutboundConnectError {
  return new OutboundConnectError('The server closed the connection at once');
}

/** Creates the session on a socket and waits for the server's settings. */
async function settledSession(url: URL, socket: Socket | TLSSocket): Promise<ClientHttp2Session> {
  if ('alpnProtocol' in socket && socket.alpnProtocol !== 'h2')
    throw new OutboundConnectError('The server does not speak HTTP/2 over TLS');
  const session = connectHttp2(url.origin, {
    createConnection: () => socket,
    settings: { enablePush: false, initialWindowSize: MOST_UNREAD_BYTES },
    maxSessionMemory: MOST_SESSION_MB,
  });
  await new Promise<void>((resolve, reject) => {
    session.once('remoteSettings', () => resolve());
    session.once('error', (cause) => reject(new OutboundConnectError('The server does not speak HTTP/2', { cause })));
    session.once('close', () => reject(closedEarly()));
  });
  return session;
}

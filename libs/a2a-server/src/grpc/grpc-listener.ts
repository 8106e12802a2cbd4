import { Server, ServerCredentials } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { constants, type OutgoingHttpHeaders } from 'node:http2';
import type { FrameRoom, ReaderPace } from '#libs/http-server';
import type { RequestHandler } from '../request-handler.js';
import { type GrpcAccess, isPublicMethod, tooManyPublicCalls } from './grpc-access.js';
import { grpcAuthGuard } from './grpc-auth-guard.js';
import { GrpcBinding } from './grpc-binding.js';
import {
  type ConnectionLimits,
  type EarlyRefusal,
  GrpcConnections,
  MOST_ANONYMOUS_STREAMS,
} from './grpc-connections.js';
import { LEGACY_SERVICE, LEGACY_SERVICE_NAME } from '../v0-3/grpc/legacy-definition.js';
import { GRPC_SERVICE } from './grpc-definition.js';
import { grpcError } from './grpc-status.js';

/**
 * Returns the function that rejects further calls of the health service from an address that has too many open. The
 * rejecting answer is built once, since grpc-js and the auth guard would cost ten times as much for each call, and a
 * flood of such calls needs no credentials.
 */
function refusePublicFlood(access: Pick<GrpcAccess, 'isPublicFull'>): EarlyRefusal {
  const answer = refusalHeaders();
  return (stream, headers, connection) => {
    const path = headers[':path'] as string | undefined;
    if (path === undefined || !isPublicMethod(path) || !access.isPublicFull(connection.address, path)) return false;
    stream.on('error', ignoreError);
    stream.respond(answer, { endStream: true });
    // The rest of the request is not read (RFC 9113, section 8.1).
    stream.close(constants.NGHTTP2_NO_ERROR);
    connection.countRefusal();
    return true;
  };
}

/** Returns the headers that form the whole answer to a rejected call ("Trailers-Only"). */
function refusalHeaders(): OutgoingHttpHeaders {
  const { code, details, metadata } = grpcError(tooManyPublicCalls());
  return {
    ':status': 200,
    'content-type': 'application/grpc+proto',
    'grpc-status': code,
    'grpc-message': encodeURI(details ?? ''),
    ...metadata?.toHttp2Headers(),
  };
}

function ignoreError(): void {}

export interface GrpcListenerOptions {
  handler: RequestHandler;
  access: GrpcAccess;
  pace: ReaderPace;
  /** Memory of this process for large items of streams (FrameRoom); absent: no item waits for memory. */
  frames?: FrameRoom;
  /** Base URL of the service, without a trailing slash. */
  baseUrl: () => string;
  /** Target of gRPC that cards name (GRPC_PUBLIC_URL); absent: the address of the server. */
  publicTarget?: string | undefined;
  /** Maximum number of bytes of a request. */
  messageLimit: number;
  /** Maximum number of members of the JSON in one request. */
  jsonMembers: number;
  /** Limits of connections in tests; absent: the defaults. */
  connections?: ConnectionLimits;
}

/**
 * Milliseconds without calls before a connection is closed gracefully; clients open another one for their next call.
 */
const LONGEST_IDLE_MS = 5 * 60_000;

/** Names of the server and of its services of 1.0 and 0.3, for health checks. */
const SERVICE_NAMES = ['', 'lf.a2a.v1.A2AService', LEGACY_SERVICE_NAME] as const;

/** gRPC server for A2A and the standard health service. It has no TLS; a proxy adds TLS. */
export class GrpcListener {
  private readonly binding: GrpcBinding;
  private readonly health = new HealthImplementation(
    Object.fromEntries(SERVICE_NAMES.map((name) => [name, 'SERVING'])),
  );
  private readonly connections: GrpcConnections;
  private readonly refuse: EarlyRefusal;
  private readonly server: Server;

  constructor(options: GrpcListenerOptions) {
    const { handler, access, pace, frames, baseUrl, publicTarget, messageLimit, jsonMembers, connections } = options;
    this.connections = new GrpcConnections(pace, connections);
    this.refuse = refusePublicFlood(access);
    this.binding = new GrpcBinding({ handler, access, frames, baseUrl, publicTarget, jsonMembers });
    this.server = new Server({
      interceptors: [grpcAuthGuard(access, pace, this.connections)],
      // channelz statistics of connections and calls are not used.
      'grpc.enable_channelz': 0,
      'grpc.max_receive_message_length': messageLimit,
      'grpc.max_send_message_length': -1,
      'grpc.max_concurrent_streams': MOST_ANONYMOUS_STREAMS,
      'grpc.keepalive_time_ms': 30_000,
      'grpc.keepalive_timeout_ms': 10_000,
      'grpc.max_connection_idle_ms': LONGEST_IDLE_MS,
    });
    this.server.addService(GRPC_SERVICE, this.binding.createHandlers());
    this.server.addService(LEGACY_SERVICE, this.binding.createLegacyHandlers());
    this.health.addToServer(this.server);
  }

  /** Starts to listen. @returns the port; rejects if the port is taken */
  listen(host: string, port: number): Promise<number> {
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    return new Promise((resolve, reject) => {
      this.server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) => {
        if (error) return reject(error);
        this.connections.watchServer(this.server, this.refuse);
        resolve(bound);
      });
    });
  }

  /** Reports NOT_SERVING to health checks. */
  reportNotServing(): void {
    for (const name of SERVICE_NAMES) this.health.setStatus(name, 'NOT_SERVING');
  }

  endStreams(): void {
    this.binding.endAll();
  }

  /**
   * Stops the server. Resolves when the calls in progress have been answered. When the signal aborts, cuts the
   * remaining calls.
   */
  async close(signal: AbortSignal): Promise<void> {
    const cutCalls = (): void => {
      this.server.forceShutdown();
      this.connections.close();
    };
    const closed = new Promise<void>((resolve) => this.server.tryShutdown(() => resolve()));
    if (signal.aborted) cutCalls();
    else signal.addEventListener('abort', cutCalls, { once: true });
    await closed;
    this.connections.close();
  }
}

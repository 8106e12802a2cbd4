import { Server, ServerCredentials } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import type { FrameRoom, ReaderPace } from '#libs/http';
import type { RequestHandler } from '../request-handler.js';
import type { GrpcAccess } from './grpc-access.js';
import { GrpcBinding } from './grpc-binding.js';
import { refusePublicFlood } from './early-refusal.js';
import { GRPC_SERVICE } from './grpc-definition.js';
import { grpcAuthGuard } from './grpc-auth-guard.js';
import {
  type ConnectionLimits,
  type EarlyRefusal,
  GrpcConnections,
  MOST_ANONYMOUS_STREAMS,
} from './grpc-connections.js';

export interface GrpcListenerOptions {
  handler: RequestHandler;
  access: GrpcAccess;
  pace: ReaderPace;
  /** Room for large items of streams; absent: no item waits. */
  frames?: FrameRoom;
  /** Base URL of the service, without a trailing slash. */
  baseUrl: () => string;
  /** Maximum number of bytes of a request. */
  messageLimit: number;
  /** Maximum number of members of the JSON in one request. */
  jsonMembers: number;
  /** Limits in tests; absent: the defaults. */
  connections?: ConnectionLimits;
}

/**
 * Time in milliseconds after which a connection without calls is closed gracefully; clients open another one for their
 * next call.
 */
const LONGEST_IDLE_MS = 5 * 60_000;

/** Name of the service in `a2a.proto`, for health checks. */
const SERVICE_NAME = 'lf.a2a.v1.A2AService';

/** gRPC server for A2A and the standard health service, without TLS, which a proxy adds. */
export class GrpcListener {
  private readonly binding: GrpcBinding;
  private readonly health = new HealthImplementation({ '': 'SERVING', [SERVICE_NAME]: 'SERVING' });
  private readonly connections: GrpcConnections;
  private readonly refuse: EarlyRefusal;
  private readonly server: Server;

  constructor(options: GrpcListenerOptions) {
    const { handler, access, pace, frames, baseUrl, messageLimit, jsonMembers, connections } = options;
    this.connections = new GrpcConnections(pace, connections);
    this.refuse = refusePublicFlood(access);
    this.binding = new GrpcBinding({ handler, access, frames, baseUrl, jsonMembers });
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
    this.health.addToServer(this.server);
  }

  /** Listens. @returns the port; rejects if it is taken */
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
    this.health.setStatus('', 'NOT_SERVING');
    this.health.setStatus(SERVICE_NAME, 'NOT_SERVING');
  }

  endStreams(): void {
    this.binding.endAll();
  }

  /** Resolves when the calls in progress are answered; remaining ones are cut when the signal aborts. */
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

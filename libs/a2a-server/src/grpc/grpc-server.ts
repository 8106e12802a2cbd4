import { Injectable } from '@nestjs/common';
import { Authentication, CallerLimits, OpenCalls } from '#libs/access';
import { FrameRoom, ReaderPace, ServiceAddress } from '#libs/http-server';
import { AppConfig, InFlight, Readiness, Shutdown } from '#libs/service';
import { RequestHandler } from '../request-handler.js';
import { GrpcAccess } from './grpc-access.js';

/**
 * gRPC server as part of the service: listens on `GRPC_PORT`, counts toward the readiness of the service, and lets
 * its calls finish at shutdown. Without `GRPC_PORT` the code of the server is not even loaded.
 */
@Injectable()
export class GrpcServer {
  constructor(
    private readonly handler: RequestHandler,
    private readonly authentication: Authentication,
    private readonly openCalls: OpenCalls,
    private readonly limits: CallerLimits,
    private readonly inFlight: InFlight,
    private readonly pace: ReaderPace,
    private readonly frames: FrameRoom,
    private readonly config: AppConfig,
    private readonly address: ServiceAddress,
    private readonly readiness: Readiness,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * Listens if gRPC is configured.
   * @returns the port, or `undefined` if gRPC is off
   * @throws Error if the port is taken
   */
  async listenIfConfigured(): Promise<number | undefined> {
    const { grpcPort, grpcPublicUrl, host, bodyLimit, content } = this.config;
    if (grpcPort === undefined) return undefined;
    const { GrpcListener } = await import('./grpc-listener.js');
    const baseUrl = (): string => this.address.publicBaseUrl();
    const listener = new GrpcListener({
      handler: this.handler,
      access: new GrpcAccess(this.authentication, this.openCalls, this.limits, this.inFlight, this.config),
      pace: this.pace,
      frames: this.frames,
      baseUrl,
      publicTarget: grpcPublicUrl === 'none' ? undefined : grpcPublicUrl,
      messageLimit: bodyLimit,
      jsonMembers: content.jsonMembers,
    });
    const port = await listener.listen(host, grpcPort).catch((error: unknown) => {
      throw new Error('GRPC_PORT: the server cannot listen on this port', { cause: error });
    });
    this.address.grpcListening(port);
    let listening = true;
    this.readiness.add('grpc', () => listening);
    this.shutdown.registerStep('readiness', () => listener.reportNotServing());
    this.shutdown.registerStep('streams', () => listener.endStreams());
    this.shutdown.registerStep('connections', async ({ signal }) => {
      await listener.close(signal);
      listening = false;
    });
    return port;
  }
}

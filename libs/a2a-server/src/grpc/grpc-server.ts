import { Injectable } from '@nestjs/common';
import { AppConfig, Readiness, ServiceAddress, Shutdown } from '#libs/platform';
import { ANONYMOUS_SCOPE } from '#libs/tasks';
import { RequestHandler } from '../request-handler.js';
import type { CallerScope } from './grpc-binding.js';

/**
 * The gRPC binding as a part of the service: listens on `GRPC_PORT`, is one of the readiness checks, and drains with the
 * shutdown. Without the variable nothing of it is even loaded.
 */
@Injectable()
export class GrpcServer {
  constructor(
    private readonly handler: RequestHandler,
    private readonly config: AppConfig,
    private readonly address: ServiceAddress,
    private readonly readiness: Readiness,
    private readonly shutdown: Shutdown,
  ) {}

  /**
   * @param scope who a caller is; everybody is the same unless told otherwise
   * @returns the port, or `undefined` where gRPC is off
   */
  async listen(scope: CallerScope = () => ANONYMOUS_SCOPE): Promise<number | undefined> {
    const { grpcPort, host, bodyLimit } = this.config;
    if (grpcPort === undefined) return undefined;
    const { GrpcListener } = await import('./grpc-listener.js');
    const baseUrl = (): string => this.address.publicBaseUrl();
    const listener = new GrpcListener({ handler: this.handler, scope, baseUrl, messageLimit: bodyLimit });
    const port = await listener.listen(host, grpcPort);
    this.address.grpcListening(port);
    let listening = true;
    this.readiness.add('grpc', () => listening);
    this.shutdown.register('readiness', () => listener.drain());
    this.shutdown.register('streams', () => listener.endStreams());
    this.shutdown.register('connections', async ({ signal }) => {
      await listener.close(signal);
      listening = false;
    });
    return port;
  }
}

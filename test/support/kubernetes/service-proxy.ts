import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * What a Service of Kubernetes does: each connection goes to one of the endpoints, in turn. It knows nothing of HTTP,
 * asks nobody how he is, and tries nothing twice.
 */
export class ServiceProxy {
  private endpoints: readonly string[] = [];
  private turn = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.forward(socket));
  }

  static async start(): Promise<ServiceProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ServiceProxy(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The URLs that new connections go to; those that exist stay where they are. */
  serve(urls: readonly string[]): void {
    this.endpoints = urls;
  }

  async stop(): Promise<void> {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await once(this.server, 'close');
  }

  private forward(socket: Socket): void {
    const endpoint = this.endpoints[this.turn++ % this.endpoints.length];
    if (endpoint === undefined) return void socket.destroy();
    const { hostname, port } = new URL(endpoint);
    const other = connect(Number(port), hostname);
    for (const [one, two] of [[socket, other] as const, [other, socket] as const]) {
      this.sockets.add(one);
      one.pipe(two);
      one.on('error', () => two.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        two.destroy();
      });
    }
  }
}

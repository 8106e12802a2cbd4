import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Proxy that behaves like a Service of Kubernetes: each connection goes to the next endpoint. It does not understand
 * HTTP, checks no health and retries nothing.
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

  /** Sets the URLs to which new connections go. Existing connections stay where they are. */
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

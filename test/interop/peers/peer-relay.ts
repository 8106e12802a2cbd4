import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Relay of bytes in front of a port of this machine: breaks connections, and shows what was sent through it. */
export class PeerRelay {
  /** Everything that callers sent, in the order of its arrival, as text. */
  sent = '';
  readonly #sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  static async start(target: number): Promise<PeerRelay> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const relay = new PeerRelay(server, (server.address() as AddressInfo).port);
    server.on('connection', (caller) => relay.#join(caller, connect(target, '127.0.0.1')));
    return relay;
  }

  /** Breaks all connections. Later ones are relayed again. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  #join(caller: Socket, callee: Socket): void {
    caller.on('data', (chunk: Buffer) => (this.sent = (this.sent + chunk.toString('latin1')).slice(-1_000_000)));
    for (const [one, other] of [
      [caller, callee],
      [callee, caller],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}

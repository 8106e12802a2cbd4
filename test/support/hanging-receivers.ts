import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';

/**
 * Behavior of a faulty webhook receiver:
 * - `silent`: accepts the request and never answers.
 * - `closed`: refuses the connection.
 * - `drips`: answers one byte a second.
 * - `redirects`: answers with a redirect to itself.
 * - `late`: answers 500 after nine seconds.
 */
export type BadReceiver = 'silent' | 'closed' | 'drips' | 'redirects' | 'late';

/** Faulty webhook receivers at many origins, each a port of this machine. */
export class HangingReceivers {
  readonly urls: string[] = [];
  /** Number of received connections. */
  connections = 0;
  private readonly servers: Server[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly timers = new Set<NodeJS.Timeout>();

  static async start(count: number, kind: BadReceiver): Promise<HangingReceivers> {
    const receivers = new HangingReceivers();
    for (let index = 0; index < count; index += 1) await receivers.listen(kind);
    return receivers;
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    for (const socket of this.sockets) socket.destroy();
    await Promise.all(this.servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  private async listen(kind: BadReceiver): Promise<void> {
    const server = createServer((socket) => this.take(socket, kind));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    this.urls.push(`http://127.0.0.1:${port}/hook`);
    if (kind === 'closed') await new Promise((resolve) => server.close(resolve));
    else this.servers.push(server);
  }

  private take(socket: Socket, kind: BadReceiver): void {
    this.connections += 1;
    this.sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => this.sockets.delete(socket));
    socket.once('data', () => {
      if (kind === 'redirects') socket.end('HTTP/1.1 302 Found\r\nLocation: /hook\r\nContent-Length: 0\r\n\r\n');
      if (kind === 'late') this.later(9_000, () => socket.end('HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n'));
      if (kind === 'drips') this.drip(socket, [...'HTTP/1.1 200 OK\r\nX-Slow: yes, very slow indeed\r\n\r\n']);
    });
  }

  private drip(socket: Socket, letters: string[]): void {
    const letter = letters.shift();
    if (letter === undefined || socket.destroyed) return;
    socket.write(letter);
    this.later(1_000, () => this.drip(socket, letters));
  }

  private later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      act();
    }, ms);
    this.timers.add(timer);
  }
}

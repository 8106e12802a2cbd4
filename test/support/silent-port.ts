import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { endChild } from './end-child.js';

/** Number of connections that exceeds the backlog: Linux queues one more than the backlog and drops the rest. */
const FILLING = 4;
const FORWARD = `
  const net = require('node:net');
  const [, port, target] = process.argv.map(Number);
  const server = net.createServer((socket) => {
    const other = net.connect(target, '127.0.0.1');
    for (const it of [socket, other]) it.on('error', () => { socket.destroy(); other.destroy(); });
    socket.pipe(other).pipe(socket);
  });
  server.listen({ port, host: '127.0.0.1', backlog: 1 }, () => process.send(server.address().port));`;

/**
 * Port of 127.0.0.1 that forwards to another one, and can become silent: it then neither accepts nor refuses
 * connections.
 */
export class SilentPort {
  private sockets: Socket[] = [];

  private constructor(
    private readonly forwarder: ChildProcess,
    readonly port: number,
  ) {}

  /** @param target port to which connections are forwarded @param port port to listen on; default: any */
  static async open(target: number, port = 0): Promise<SilentPort> {
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    const forwarder = spawn(process.execPath, ['-e', FORWARD, String(port), String(target)], { stdio: [...stdio] });
    const [found] = (await once(forwarder, 'message')) as [number];
    return new SilentPort(forwarder, found);
  }

  /** Stops accepting connections. */
  async fallSilent(): Promise<void> {
    this.forwarder.kill('SIGSTOP');
    this.sockets = Array.from({ length: FILLING }, () => connect(this.port, '127.0.0.1').on('error', () => undefined));
    await once(this.sockets[0]!, 'connect');
  }

  /** Accepts connections again, including those that wait. */
  thaw(): void {
    for (const socket of this.sockets) socket.destroy();
    this.forwarder.kill('SIGCONT');
  }

  /** Stops listening, so that connections are refused. */
  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await endChild(this.forwarder, 'SIGKILL');
  }
}

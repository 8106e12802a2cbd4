import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { endChild } from './end-child.js';

/** More connections than the backlog has: Linux queues one more than it says, and drops the rest. */
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

/** A port of 127.0.0.1 that leads to another one, and may fall silent: connections are neither made nor refused then. */
export class SilentPort {
  private sockets: Socket[] = [];

  private constructor(
    private readonly forwarder: ChildProcess,
    readonly port: number,
  ) {}

  /** @param target port to which it leads @param port its own port; by default any */
  static async open(target: number, port = 0): Promise<SilentPort> {
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
    const forwarder = spawn(process.execPath, ['-e', FORWARD, String(port), String(target)], { stdio: [...stdio] });
    const [found] = (await once(forwarder, 'message')) as [number];
    return new SilentPort(forwarder, found);
  }

  /** Makes no further connections. */
  async fallSilent(): Promise<void> {
    this.forwarder.kill('SIGSTOP');
    this.sockets = Array.from({ length: FILLING }, () => connect(this.port, '127.0.0.1').on('error', () => undefined));
    await once(this.sockets[0]!, 'connect');
  }

  /** Makes connections again, also those that wait for it. */
  thaw(): void {
    for (const socket of this.sockets) socket.destroy();
    this.forwarder.kill('SIGCONT');
  }

  /** Refuses connections from now on. */
  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await endChild(this.forwarder, 'SIGKILL');
  }
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { Balancer } from '../support/balancer.js';
import { before } from '../support/until.js';

/** Server that answers with its name and the received body, and accepts upgrades. */
class Named {
  ready = true;
  private constructor(
    readonly server: Server,
    readonly url: string,
  ) {}

  static async start(name: string): Promise<Named> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const named = new Named(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (incoming, response) => {
      if (incoming.url === '/health/ready') return void response.writeHead(named.ready ? 200 : 503).end();
      response.write(name);
      incoming.pipe(response);
    });
    server.on('upgrade', (_request: IncomingMessage, socket: Duplex) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
      socket.end(name);
    });
    return named;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

describe('the balancer of these tests', () => {
  let balancer: Balancer;
  let a: Named;
  let b: Named;
  const post = async (body: string): Promise<string> => (await fetch(balancer.url, { method: 'POST', body })).text();

  beforeAll(async () => {
    balancer = await Balancer.start();
    [a, b] = await Promise.all([Named.start('a'), Named.start('b')]);
    await balancer.serve(a.url, b.url);
  });

  afterAll(async () => {
    await balancer?.stop();
    await a?.stop();
  });

  it('is not sticky: requests go round', async () => {
    const names = [];
    for (let n = 0; n < 6; n += 1) names.push(await post(''));
    expect(names.join('')).toMatch(/^(ab){3}$|^(ba){3}$/);
  });

  it('passes an upgrade to WebSocket', async () => {
    const { hostname, port } = new URL(balancer.url);
    const upgrade = request({
      hostname,
      port,
      headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': 'x' },
    });
    upgrade.end();
    const upgraded = once(upgrade, 'upgrade') as Promise<[IncomingMessage, Duplex, Buffer]>;
    const [, socket, head] = await before(upgraded, { what: 'the upgrade' });
    socket.unshift(head);
    const said = (await socket.toArray()) as Buffer[];
    expect(['a', 'b']).toContain(Buffer.concat(said).toString());
  });

  it('passes over a replica that is not ready, and hands a refused request with its body to the next', async () => {
    await b.stop();
    const names = await Promise.all([1, 2, 3, 4].map((n) => post(`:${n}`)));
    expect(names).toEqual(['a:1', 'a:2', 'a:3', 'a:4']);
  });
});

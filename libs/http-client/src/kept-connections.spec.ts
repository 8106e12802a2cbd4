import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '#libs/service';
import { until } from '../../../test/support/until.js';
import { withoutStandstill } from '../../../test/support/without-standstill.js';
import { OutboundHttp } from './outbound-http.js';

/** Milliseconds after which the peer closes a silent connection; no header announces this time. */
const PEER_IDLE_MS = 1_600;
/** Milliseconds that each byte takes from one side to the other. */
const DISTANCE_MS = 300;
/** Milliseconds of silence before a Message is sent, so that it arrives after the peer has closed the connection. */
const SILENCE_MS = 1_450;
const CALLS = 24;
/** Milliseconds of a simulated standstill: longer than any pause of a busy process. */
const STANDSTILL_MS = 1_500;

/**
 * HTTP server with a slow network, which may close silent connections. Bytes that arrive on a closed connection are
 * lost.
 */
class DistantPeer {
  readonly received: string[] = [];
  connections = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly headers: string,
    private readonly idleMs: number | undefined,
  ) {}

  /** @param idleMs milliseconds after which the peer closes a silent connection; absent: never */
  static async start({ headers = '', idleMs }: { headers?: string; idleMs?: number }): Promise<DistantPeer> {
    const server = createServer();
    const peer = new DistantPeer(server, headers, idleMs);
    server.on('connection', (socket) => peer.serve(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return peer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(socket: Socket): void {
    this.connections += 1;
    this.sockets.add(socket);
    let isClosed = false;
    let idle: NodeJS.Timeout | undefined;
    const close = (): void => {
      isClosed = true;
      setTimeout(() => socket.end(), DISTANCE_MS);
    };
    socket.on('error', () => undefined).on('close', () => clearTimeout(idle));
    socket.on('data', (data) =>
      setTimeout(() => {
        if (isClosed) return void socket.destroy();
        clearTimeout(idle);
        this.received.push(/x-id: (\S+)/.exec(data.toString())?.[1] ?? '');
        socket.write(`HTTP/1.1 200 OK\r\n${this.headers}content-length: 2\r\n\r\nok`);
        if (this.idleMs !== undefined) idle = setTimeout(close, this.idleMs);
      }, DISTANCE_MS),
    );
  }
}

describe('a connection that is kept', () => {
  const http = new OutboundHttp(loadConfig({ HOST: '127.0.0.1', LOG_LEVEL: 'silent' }));
  let peer: DistantPeer;

  afterEach(() => peer.stop());
  afterAll(() => http.close());

  async function callAll(from: number): Promise<string[]> {
    const ids = Array.from({ length: CALLS }, (_, index) => String(from + index));
    return Promise.all(ids.map(callOne));
  }

  async function callOne(id: string): Promise<string> {
    const call = { url: new URL(peer.url), method: 'POST', headers: { 'x-id': id }, body: '{}' } as const;
    return (await http.request(call)).readText(1_000);
  }

  it('is not used again when its peer may be about to close it', async () => {
    peer = await DistantPeer.start({ idleMs: PEER_IDLE_MS });
    await callAll(0);
    await delay(SILENCE_MS);
    expect(await callAll(CALLS)).toEqual(Array(CALLS).fill('ok'));
    expect(peer.received.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 2 * CALLS }, (_, index) => String(index)),
    );
  });

  it('is used again for as long as its peer says that it keeps it', async () => {
    peer = await DistantPeer.start({ headers: 'keep-alive: timeout=60\r\n' });
    const added = await withoutStandstill(http['standstills'], async () => {
      await callOne('0');
      const opened = peer.connections;
      await delay(SILENCE_MS - DISTANCE_MS);
      await callOne('1');
      return peer.connections - opened;
    });
    expect(added).toBe(0);
  });

  it('is not used again after the process stood still', async () => {
    peer = await DistantPeer.start({ headers: 'keep-alive: timeout=60\r\n' });
    await callOne('0');
    standStill(STANDSTILL_MS);
    await callOne('1');
    expect(peer.connections).toBe(2);
  });

  it('answers what was under way when the process stood still', async () => {
    peer = await DistantPeer.start({});
    const slow = callOne('0');
    await until(() => peer.connections === 1, { what: 'the call to be under way' });
    standStill(STANDSTILL_MS);
    expect(await Promise.all([slow, callOne('1')])).toEqual(['ok', 'ok']);
  });
});

/** Blocks the event loop, so that this process seems frozen: no timer runs, and no answer is read. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

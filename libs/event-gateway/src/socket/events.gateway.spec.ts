import { APP_PIPE } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { type Authentication, type Caller, CallerLimits, OpenCalls } from '#libs/access';
import { ApiValidationPipe } from '#libs/http-server';
import { AppConfig, LoopShares, Metrics, WorkTurns } from '#libs/service';
import type { CommitFeed } from '#libs/tasks';
import { EventGateway } from '../event-gateway.js';
import { GrowingLog } from '../testing/growing-log.js';
import { EventsGateway, type SubscriptionBody } from './events.gateway.js';
import { GatewayAdapter } from './gateway-adapter.js';
import { GatewayClient } from './gateway-client.js';
import { GatewaySocket } from './gateway-socket.js';

const CALLER: Caller = { tenant: '', owner: 'ann', permissions: new Set(['agents']) };

interface Frame {
  type?: string;
  subscription?: string;
  cursor?: string;
  taskId?: string;
  problem?: { status: number; errors?: { path: string }[]; requestId: string };
  retryAfterSeconds?: number;
}

/** WebSocket that records the frames that it is sent. */
class Client {
  readonly frames: Frame[] = [];
  readonly closed: Promise<number>;
  private arrived = Promise.withResolvers<void>();

  private constructor(readonly socket: WebSocket) {
    this.closed = once(socket, 'close').then(([code]) => code as number);
    socket.on('message', (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()) as Frame);
      this.arrived.resolve();
      this.arrived = Promise.withResolvers();
    });
  }

  static async open(query: Record<string, string> = { streams: 'none' }): Promise<Client> {
    const address = `ws://127.0.0.1:${port}/events?${new URLSearchParams(query).toString()}`;
    const client = new Client(new WebSocket(address));
    await client.frame(({ type }) => type === 'hello');
    return client;
  }

  send(event: string, data: object): void {
    this.socket.send(JSON.stringify({ event, data }));
  }

  /** Resolves with the first frame that passes. */
  async frame(test: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(test);
      if (found) return found;
      await this.arrived.promise;
    }
  }

  async subscribed(id: string, query: object = {}): Promise<Frame> {
    this.send('subscribe', { id, ...query });
    return this.frame((it) => it.type === 'subscribed' && it.subscription === id);
  }

  async unsubscribed(id: string): Promise<void> {
    this.send('unsubscribe', { id });
    await this.frame((it) => it.type === 'unsubscribed' && it.subscription === id);
  }

  error(): Promise<Frame> {
    return this.frame(({ type }) => type === 'error');
  }

  tasksOf(subscription: string | undefined): (string | undefined)[] {
    return this.frames.filter((it) => it.taskId && it.subscription === subscription).map(({ taskId }) => taskId);
  }
}

/** Resolves when the pong with a text has arrived. */
function ponged(socket: WebSocket, text: string): Promise<void> {
  return new Promise((resolve) => {
    socket.on('pong', (data) => {
      if (data.toString() === text) resolve();
    });
  });
}

/** Returns the server's side of a socket that is not open. The library's types know only the client's constructor. */
function unconnectedClient(): GatewayClient {
  const client = Reflect.construct(GatewayClient, [null, undefined, {}]) as GatewayClient;
  client.admission = { scope: { tenant: '', owner: 'ann' }, who: 'ann', follow: async function* () {} };
  return client;
}

let app: NestFastifyApplication;
let log: GrowingLog;
let limits: { streams?: number };
let gauges: Map<string, () => number>;
let errors: unknown[][];
let end: () => void;
let port: number;

beforeEach(async () => {
  log = new GrowingLog();
  limits = {};
  gauges = new Map();
  errors = [];
  const metrics = {
    counter: () => ({ inc: () => undefined }),
    gauge: (name: string, _help: string, _labels: string[], read: () => number) => gauges.set(name, read),
  } as never;
  const gateway = new EventGateway(
    log as unknown as CommitFeed,
    { names: ['run'], projections: [] },
    new WorkTurns(new LoopShares(new Metrics())),
  );
  const callers = new CallerLimits({ limits } as never, metrics);
  const openCalls = new OpenCalls({} as Authentication);
  openCalls.onModuleDestroy();
  const sockets = new GatewaySocket(
    gateway,
    {
      registerStep: (_phase: string, stop: () => void) => (end = stop),
      started: new AbortController().signal,
    } as never,
    { findRefusal: () => undefined } as never,
    { identifyCaller: async () => CALLER } as unknown as Authentication,
    openCalls,
    callers,
    metrics,
  );
  const module = await Test.createTestingModule({
    providers: [
      EventsGateway,
      { provide: EventGateway, useValue: gateway },
      { provide: CallerLimits, useValue: callers },
      { provide: AppConfig, useValue: { subscriptionLimit: 4 } },
      { provide: Metrics, useValue: metrics },
      { provide: APP_PIPE, useClass: ApiValidationPipe },
    ],
  }).compile();
  app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
  const ignore = (): void => undefined;
  app.useLogger({ log: ignore, warn: ignore, error: (...said: unknown[]) => errors.push(said) });
  app.useWebSocketAdapter(new GatewayAdapter(sockets));
  const server = app.getHttpServer() as Server;
  sockets.attachTo(server);
  await app.listen(0, '127.0.0.1');
  ({ port } = server.address() as AddressInfo);
});

afterEach(async () => {
  end();
  await app.close();
});

describe('EventsGateway', () => {
  it('serves several subscriptions of one socket, each with its id, beside the query of the address', async () => {
    const client = await Client.open({ taskId: '1' });
    await client.subscribed('a', { taskId: '2' });
    await client.subscribed('b', { streams: ['task', 'run'], taskId: '3' });
    for (const taskId of ['1', '2', '3', '4']) log.add(taskId);
    await Promise.all(['1', '2', '3'].map((id) => client.frame(({ taskId }) => taskId === id)));
    expect([undefined, 'a', 'b'].map((id) => client.tasksOf(id))).toEqual([['1'], ['2'], ['3']]);
    expect(client.frames[0]).toEqual({ type: 'hello', cursor: expect.any(String) });
    expect(client.frames.find(({ taskId }) => taskId === '1')).not.toHaveProperty('subscription');
  });

  it('shows nothing on a silent socket that no subscription wants, and goes on from a cursor', async () => {
    const client = await Client.open();
    log.add('1');
    const { cursor } = await client.subscribed('a');
    log.add('2');
    await client.frame(({ taskId }) => taskId === '2');
    await client.unsubscribed('a');
    log.add('3');
    await client.subscribed('b', { since: cursor });
    await client.frame(({ taskId }) => taskId === '3');
    expect([undefined, 'a', 'b'].map((id) => client.tasksOf(id))).toEqual([[], ['2'], ['2', '3']]);
  });

  it('lets one subscription go on while another one of the socket is slow', async () => {
    const client = await Client.open();
    const slow = Promise.withResolvers<void>();
    log.held = slow.promise;
    await client.subscribed('slow');
    await client.subscribed('quick');
    for (const id of ['a', 'b']) log.add(id);
    const last = (name: string) => client.frame((it) => it.subscription === name && it.taskId === 'b');
    await last('quick');
    expect(client.tasksOf('slow')).toEqual([]);
    slow.resolve();
    await last('slow');
    expect([client.tasksOf('slow'), client.tasksOf('quick')]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });

  it('takes an id once, however close two messages follow each other', async () => {
    const client = await Client.open();
    client.send('subscribe', { id: 'a', taskId: '1' });
    client.send('subscribe', { id: 'a', taskId: '2' });
    expect(await client.error()).toMatchObject({ subscription: 'a', problem: { status: 409 } });
    await client.frame(({ type }) => type === 'subscribed');
    log.add('2');
    log.add('1');
    await client.frame(({ taskId }) => taskId === '1');
    expect(client.tasksOf('a')).toEqual(['1']);
  });

  it('frees an id of which the opening failed, or was given up', async () => {
    const client = await Client.open();
    client.send('subscribe', { id: 'a', since: 'nothing' });
    expect(await client.error()).toMatchObject({ subscription: 'a', problem: { status: 400 } });
    client.send('subscribe', { id: 'b' });
    await client.unsubscribed('b');
    await client.subscribed('a');
    expect(gauges.get('parley_gateway_subscriptions')!()).toBe(1);
    expect(gauges.get('parley_gateway_sockets')!()).toBe(1);
  });

  it.each([
    ['{', ''],
    ['[]', ''],
    ['{}', 'event'],
    ['{"event":7}', 'event'],
    ['{"event":"speak"}', 'event'],
    ['{"event":"subscribe"}', ''],
    ['{"event":"subscribe","data":{}}', 'id'],
    ['{"event":"subscribe","data":{"id":""}}', 'id'],
    ['{"event":"subscribe","data":{"id":7}}', 'id'],
    [`{"event":"subscribe","data":{"id":"${'x'.repeat(65)}"}}`, 'id'],
    ['{"event":"subscribe","data":{"id":"b","streams":"none"}}', 'streams'],
    ['{"event":"subscribe","data":{"id":"b","streams":"x"}}', 'streams'],
    ['{"event":"subscribe","data":{"id":"b","since":"x"}}', 'since'],
    ['{"event":"subscribe","data":{"id":"b","runId":7}}', 'runId'],
    ['{"event":"subscribe","data":{"id":"b","runid":"7"}}', 'runid'],
    ['{"event":"unsubscribe","data":{}}', 'id'],
  ])('refuses the message %s by the member %j, and goes on with other subscriptions', async (text, path) => {
    const client = await Client.open();
    await client.subscribed('a');
    client.socket.send(text);
    expect((await client.error()).problem).toMatchObject({ status: 400, errors: [{ path }] });
    log.add('1');
    await client.frame(({ taskId }) => taskId === '1');
  });

  it('tells who ends a subscription that is not open', async () => {
    const client = await Client.open();
    client.send('unsubscribe', { id: 'a' });
    expect(await client.error()).toMatchObject({ subscription: 'a', problem: { status: 404 } });
  });

  it('tells who sends a cursor that is too old, with the status of any request', async () => {
    const client = await Client.open();
    client.send('subscribe', { id: 'a', since: (Date.now() - 72 * 3_600_000).toString(36) });
    expect(await client.error()).toMatchObject({ subscription: 'a', problem: { status: 410 } });
  });

  it('counts a subscription as a stream of its caller until it ends', async () => {
    limits.streams = 2;
    const client = await Client.open();
    await client.subscribed('a');
    client.send('subscribe', { id: 'b' });
    const refused = await client.error();
    expect(refused).toMatchObject({ subscription: 'b', retryAfterSeconds: 5, problem: { status: 429 } });
    await client.unsubscribed('a');
    await client.subscribed('b');
  });

  it('tells of too many subscriptions of one socket, and closes it', async () => {
    const client = await Client.open();
    for (const id of ['a', 'b', 'c', 'd']) await client.subscribed(id);
    client.send('subscribe', { id: 'e' });
    expect(await client.closed).toBe(1008);
    expect(client.frames.at(-1)).toMatchObject({ type: 'error', subscription: 'e', problem: { status: 429 } });
  });

  it('tells of too many messages on one socket, and closes it', async () => {
    const client = await Client.open();
    for (let sent = 0; sent < 500; sent += 1) client.send('unsubscribe', { id: 'a' });
    expect(await client.closed).toBe(1008);
    expect(client.frames.at(-1)).toMatchObject({ type: 'error', problem: { status: 429 } });
  });

  it('closes a socket whose message is larger than any query, and serves other sockets', async () => {
    const [client, other] = [await Client.open(), await Client.open()];
    await other.subscribed('a');
    // The service does not read the rest: the client may be cut while it still sends.
    const gone = client.closed.catch(() => undefined);
    client.socket.send('x'.repeat(10 * 1024 * 1024));
    await gone;
    log.add('1');
    await other.frame(({ taskId }) => taskId === '1');
  });

  it('shows nothing of a Task of another owner, whoever names it', async () => {
    const client = await Client.open();
    await client.subscribed('a', { taskId: '1' });
    await client.subscribed('b');
    log.add('1', 'bob');
    log.add('2');
    await client.frame(({ taskId }) => taskId === '2');
    expect([client.tasksOf('a'), client.tasksOf('b')]).toEqual([[], ['2']]);
  });

  it('closes a socket that sends too many pings', async () => {
    const client = await Client.open();
    // No more at once than the socket's library answers before it cuts.
    while (client.socket.readyState === WebSocket.OPEN) {
      for (let sent = 0; sent < 50; sent += 1) client.socket.ping(String(sent));
      await Promise.race([client.closed, ponged(client.socket, '49')]);
    }
    expect(await client.closed).toBe(1008);
  });

  it('ends a subscription alone whose log cannot be read, and logs why under the id that it tells', async () => {
    const client = await Client.open();
    await client.subscribed('a');
    log.fail(new Error('a secret of the house'));
    const { problem } = await client.error();
    expect(problem).toMatchObject({ status: 500, detail: 'Internal error' });
    await client.frame(({ type }) => type === 'unsubscribed');
    expect(errors.flat()).toContainEqual(expect.objectContaining({ requestId: problem!.requestId }));
    await client.subscribed('b');
    log.add('1');
    await client.frame(({ taskId }) => taskId === '1');
    expect(client.tasksOf('a')).toEqual([]);
  });

  it('closes with 1001 at the shutdown, and nothing is open then', async () => {
    const client = await Client.open();
    await client.subscribed('a');
    end();
    expect(await client.closed).toBe(1001);
    while (gauges.get('parley_gateway_subscriptions')!() > 0) await setImmediate();
  });

  it('begins nothing for a client that has left meanwhile', async () => {
    const [gateway, client] = [app.get(EventsGateway), unconnectedClient()];
    gateway.handleDisconnect(client);
    await expect(gateway.beginSubscription(client, { id: 'a' } as SubscriptionBody)).rejects.toMatchObject({
      status: 410,
    });
    expect(gauges.get('parley_gateway_subscriptions')!()).toBe(0);
  });

  it('leaves no listener of a thousand subscriptions at the socket', async () => {
    const gateway = app.get(EventsGateway);
    const client = unconnectedClient();
    const listeners = (): number => client.eventNames().reduce((sum, name) => sum + client.listenerCount(name), 0);
    const before = listeners();
    for (let cycle = 0; cycle < 1_000; cycle += 1) {
      await gateway.beginSubscription(client, { id: 'a' } as SubscriptionBody);
      await gateway.endSubscription(client, { id: 'a' });
    }
    const open = gauges.get('parley_gateway_subscriptions')!();
    expect([listeners(), client.subscriptions.size, open]).toEqual([before, 0, 0]);
  });
});

import { GatewayConnection, type GatewayFilter, type BrowserSocket } from './gateway-connection.js';

class FakeSocket implements BrowserSocket {
  readonly sent: { event: string; data: Record<string, unknown> }[] = [];
  closed = false;
  onmessage: BrowserSocket['onmessage'] = null;
  onclose: BrowserSocket['onclose'] = null;

  send(text: string): void {
    this.sent.push(JSON.parse(text) as FakeSocket['sent'][number]);
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.onclose?.call(this as unknown as WebSocket, {} as CloseEvent);
  }

  says(frame: object): void {
    this.onmessage?.call(this as unknown as WebSocket, { data: JSON.stringify(frame) } as MessageEvent);
  }
}

let sockets: FakeSocket[];
let opened: PromiseWithResolvers<FakeSocket>;
let connection: GatewayConnection;

beforeEach(() => {
  sockets = [];
  opened = Promise.withResolvers();
  const open = (): FakeSocket => {
    const socket = new FakeSocket();
    sockets.push(socket);
    opened.resolve(socket);
    opened = Promise.withResolvers();
    return socket;
  };
  connection = new GatewayConnection(open, async () => []);
});

function follow(query: GatewayFilter): { seen: unknown[]; leave: () => void } {
  const seen: unknown[] = [];
  const leave = connection.followQuery(query, {
    onFrame: ({ cursor }) => seen.push(cursor),
    onConnection: (how) => seen.push(how),
    onGap: () => seen.push('gap'),
  });
  return { seen, leave };
}

it('serves every reader of a page over one socket, each with its own frames', async () => {
  const next = opened.promise;
  const [one, two] = [follow({ runId: '1' }), follow({ streams: ['task'] })];
  const socket = await next;
  socket.says({ type: 'hello', cursor: 'h' });
  expect(socket.sent).toEqual([
    { event: 'subscribe', data: { id: '1', runId: '1' } },
    { event: 'subscribe', data: { id: '2', streams: ['task'] } },
  ]);
  socket.says({ type: 'subscribed', subscription: '1', cursor: 'a' });
  socket.says({ stream: 'run', subscription: '1', cursor: 'b' });
  one.leave();
  socket.says({ stream: 'run', subscription: '1', cursor: 'c' });
  two.leave();
  expect(socket.sent.slice(2).map(({ event, data }) => [event, data.id])).toEqual([
    ['unsubscribe', '1'],
    ['unsubscribe', '2'],
  ]);
  expect(one.seen).toEqual(['connecting', 'connecting', 'live', 'b']);
  expect(sockets).toHaveLength(1);
});

it('continues after the last frame of each reader when a socket was lost', async () => {
  const first = opened.promise;
  const { seen, leave } = follow({});
  const lost = await first;
  lost.says({ type: 'hello', cursor: 'h' });
  lost.says({ type: 'subscribed', subscription: '1', cursor: 'a' });
  const second = opened.promise;
  lost.close();
  const socket = await second;
  socket.says({ type: 'hello', cursor: 'h2' });
  expect(socket.sent).toEqual([{ event: 'subscribe', data: { id: '1', since: 'a' } }]);
  expect(seen.slice(-3)).toEqual(['live', 'lost', 'connecting']);
  leave();
});

it('tells a reader of a gap where its cursor is too old, and follows from now on', async () => {
  const next = opened.promise;
  const { seen, leave } = follow({});
  const socket = await next;
  socket.says({ type: 'hello', cursor: 'h' });
  socket.says({ type: 'error', subscription: '1', problem: { status: 410 } });
  expect(seen.at(-1)).toBe('gap');
  expect(socket.sent.at(-1)).toEqual({ event: 'subscribe', data: { id: '1' } });
  leave();
});

it('begins a subscription again that failed, and leaves one alone that is open', async () => {
  const next = opened.promise;
  const { seen, leave } = follow({});
  const socket = await next;
  socket.says({ type: 'hello', cursor: 'h' });
  socket.says({ type: 'error', subscription: '1', problem: { status: 409 } });
  expect(seen.at(-1)).toBe('connecting');
  const sentAgain = Promise.withResolvers<unknown>();
  socket.send = (text) => sentAgain.resolve(JSON.parse(text));
  socket.says({ type: 'error', subscription: '1', problem: { status: 503 } });
  expect(seen.at(-1)).toBe('lost');
  expect(await sentAgain.promise).toEqual({ event: 'subscribe', data: { id: '1' } });
  leave();
});

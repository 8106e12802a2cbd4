import { status } from '@grpc/grpc-js';
import { jest } from '@jest/globals';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type Settings,
} from 'node:http2';
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import type { Caller } from '#libs/access';
import type { CallContext } from '#libs/agents';
import { ReaderPace, ResponseBudget } from '#libs/http-server';
import type { Task } from '#libs/protocol';
import { InFlight, Metrics } from '#libs/service';
import { OPERATIONS } from '../operations.js';
import type { RequestHandler } from '../request-handler.js';
import { echo, FakeExecutor, servedAgent } from '../testing/fake-agents.js';
import { GrpcAccess } from './grpc-access.js';
import type { ConnectionLimits } from './grpc-connections.js';
import { GrpcListener } from './grpc-listener.js';

const ANN: Caller = { tenant: '', owner: 'ann', permissions: new Set(['agents']) };
const MEBIBYTE = 1024 ** 2;
const BODY_LIMIT = 4 * MEBIBYTE;
/**
 * Bytes of an answer that exceeds the flow-control window of a stream. LARGER also exceeds the buffers of the kernel.
 */
const LARGE = MEBIBYTE;
const LARGER = 32 * MEBIBYTE;
const A2A = '/lf.a2a.v1.A2AService';
const HEALTH = '/grpc.health.v1.Health';

let listener: GrpcListener;
let inFlight: InFlight;
let pace: ReaderPace;
let room: ResponseBudget;
let metrics: Metrics;
let calls: string[];
let target: string;
let size: number;
const sessions: ClientHttp2Session[] = [];

beforeEach(() => listen({ anonymousMs: 60_000, mostOfAddress: 1_000 }));

async function listen(connections: ConnectionLimits): Promise<void> {
  calls = [];
  size = LARGE;
  metrics = new Metrics();
  const memory = { inFlightBytes: 64 * MEBIBYTE, callerInFlightBytes: 32 * MEBIBYTE, answerBytes: 1024 * MEBIBYTE };
  inFlight = new InFlight({ memory } as never, metrics);
  room = new ResponseBudget({ memory } as never, metrics);
  pace = new ReaderPace(metrics, { bytesPerSecond: 16_000, windowMs: 1_000 });
  const authentication = { identifyCaller: async () => ANN };
  const limits = { enterRequest: () => () => undefined, enterStream: () => () => undefined };
  const openCalls = { watchStream: () => () => undefined };
  const config = { bodyLimit: BODY_LIMIT, requestTimeoutMs: 60_000 };
  listener = new GrpcListener({
    handler: new LargeAnswers() as unknown as RequestHandler,
    access: new GrpcAccess(authentication as never, openCalls as never, limits as never, inFlight, config),
    pace,
    baseUrl: () => 'http://parley.test',
    messageLimit: BODY_LIMIT,
    jsonMembers: 1_000,
    connections,
  });
  target = `http://127.0.0.1:${await listener.listen('127.0.0.1', 0)}`;
}

afterEach(close);

async function close(): Promise<void> {
  for (const session of sessions.splice(0)) session.destroy();
  await listener.close(AbortSignal.abort());
  pace.onModuleDestroy();
}

/** Restarts the listener with other limits of connections. */
async function limitConnections(connections: ConnectionLimits): Promise<void> {
  await close();
  await listen(connections);
}

/**
 * Answers every operation with a large Task, for which it takes memory from the ResponseBudget, and records the called
 * operations.
 */
class LargeAnswers {
  resolveAgent = async () => servedAgent('', new FakeExecutor(echo));
  agentOfTasks = this.resolveAgent;
  agentOfTenant = async (agent: unknown) => agent;
  getTask = (_agent: unknown, _request: unknown, call: CallContext) => this.answer('GetTask', call);
  cancelTask = (_agent: unknown, _request: unknown, call: CallContext) => this.answer('CancelTask', call);

  async sendMessage(_agent: unknown, _request: unknown, call: CallContext) {
    return { task: await this.answer('SendMessage', call) };
  }

  async *subscribeToTask(_agent: unknown, _request: unknown, call: CallContext) {
    const response = { task: await this.answer('SubscribeToTask', call) };
    yield { response, json: JSON.stringify(response) };
  }

  private async answer(operation: string, { scope, whenAnswered }: CallContext): Promise<Task> {
    calls.push(operation);
    const leave = await room.enterAnswer(size, scope);
    if (!whenAnswered?.(leave)) leave();
    const artifacts = [{ artifactId: 'a', parts: [{ text: 'x'.repeat(size) }] }];
    return { id: 't', contextId: 'c', status: { state: 'TASK_STATE_COMPLETED' }, artifacts } as Task;
  }
}

function session(settings: Settings = {}, at = target): ClientHttp2Session {
  const made = connect(at, { settings }).on('error', () => undefined);
  sessions.push(made);
  return made;
}

/** Begins a call of a gRPC method, and sends these bytes as its message. */
function begin(
  client: ClientHttp2Session,
  path: string,
  bytes: Uint8Array = Buffer.alloc(0),
  { encoding, marked = encoding !== undefined }: { encoding?: string; marked?: boolean } = {},
): ClientHttp2Stream {
  const stream = client.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    'a2a-version': '1.0',
    ...(encoding !== undefined && { 'grpc-encoding': encoding }),
  });
  stream.on('error', () => undefined);
  const head = Buffer.alloc(5);
  head.writeUInt8(marked ? 1 : 0);
  head.writeUInt32BE(bytes.length, 1);
  stream.end(Buffer.concat([head, bytes]));
  return stream;
}

/** Returns the headers or trailers that contain the status of a call. */
async function ending(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  const trailers = new Promise<IncomingHttpHeaders>((resolve) => stream.once('trailers', resolve));
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  stream.resume();
  return headers['grpc-status'] === undefined ? { ...headers, ...(await trailers) } : headers;
}

function whenClosed(stream: ClientHttp2Stream): Promise<number> {
  return new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode)));
}

async function answerBytes(): Promise<number> {
  return Number(/^parley_answer_bytes (\d+)$/m.exec(await metrics.readExposition())?.[1]);
}

/** Field `id` with the value `t`, as encoded in the requests of A2A. */
const NAMED_T = Buffer.from([0x12, 0x01, 0x74]);
const ZEROS = Buffer.alloc(BODY_LIMIT - 100);

describe('a compressed gRPC message', () => {
  const methods = [...Object.keys(OPERATIONS).map((it) => `${A2A}/${it}`), `${HEALTH}/Check`, `${HEALTH}/Watch`];

  it.each(methods)('is refused unread by %s, whatever the encoding, and says what is taken', async (path) => {
    const client = session();
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(ZEROS)],
      ['deflate', deflateSync(ZEROS)],
      ['identity, gzip', gzipSync(ZEROS)],
      ['br', ZEROS.subarray(0, 1000)],
    ] as const) {
      const { 'grpc-status': code, 'grpc-accept-encoding': taken } = await ending(
        begin(client, path, bytes, { encoding }),
      );
      expect([encoding, Number(code), taken]).toEqual([encoding, status.UNIMPLEMENTED, 'identity']);
    }
    expect([calls, inFlight.total]).toEqual([[], 0]);
  });

  it('is not decompressed where no encoding was announced', async () => {
    const answer = await ending(begin(session(), `${A2A}/GetTask`, gzipSync(ZEROS), { marked: true }));
    expect(Number(answer['grpc-status'])).toBe(status.INVALID_ARGUMENT);
  });

  it('is kept by nobody, whether sixty come on one connection or on sixty', async () => {
    const bytes = gzipSync(ZEROS);
    const one = session();
    const clients = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? one : session()));
    const answers = await Promise.all(
      clients.map((client) => ending(begin(client, `${A2A}/SendMessage`, bytes, { encoding: 'gzip' }))),
    );
    expect(new Set(answers.map((it) => Number(it['grpc-status'])))).toEqual(new Set([status.UNIMPLEMENTED]));
    expect([calls, inFlight.total]).toEqual([[], 0]);
  });

  it('does not stand in the way of one that is not compressed', async () => {
    const { 'grpc-status': code, 'grpc-accept-encoding': taken } = await ending(
      begin(session(), `${A2A}/CancelTask`, NAMED_T, { encoding: 'identity', marked: false }),
    );
    expect([Number(code), taken, calls]).toEqual([status.OK, 'identity', ['CancelTask']]);
  });
});

describe('an answer over gRPC that nobody reads', () => {
  it.each(['GetTask', 'CancelTask'])('of %s holds its room until its stream is cut, and no longer', async (method) => {
    const client = session({ initialWindowSize: 0 });
    const streams = [1, 2, 3].map(() => begin(client, `${A2A}/${method}`, NAMED_T));
    const closed = streams.map(whenClosed);
    await Promise.all(streams.map((it) => once(it, 'response')));
    expect(await answerBytes()).toBe(3 * LARGE);
    expect(await Promise.all(closed)).toEqual(closed.map(() => constants.NGHTTP2_ENHANCE_YOUR_CALM));
    await until(async () => (await answerBytes()) === 0);
    expect(client.destroyed).toBe(false);
  });

  it('ends a stream, too', async () => {
    const stream = begin(session({ initialWindowSize: 0 }), `${A2A}/SubscribeToTask`, NAMED_T);
    expect(await whenClosed(stream)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it('is cut beside one that is read on the same connection', async () => {
    const client = session();
    await once(client, 'connect');
    client.setLocalWindowSize(4 * LARGE);
    const [unread, read] = [begin(client, `${A2A}/GetTask`, NAMED_T), begin(client, `${A2A}/GetTask`, NAMED_T)];
    unread.pause();
    const [cut, done] = [whenClosed(unread), ending(read)];
    expect([Number((await done)['grpc-status']), await cut]).toEqual([status.OK, constants.NGHTTP2_ENHANCE_YOUR_CALM]);
  });

  it('is freed where its connection does not even take the reset, and holds no shutdown', async () => {
    size = LARGER;
    const { port } = new URL(target);
    const relay = createServer((near) => {
      const far = connectSocket(Number(port), '127.0.0.1').on('error', () => undefined);
      near.on('error', () => undefined).pipe(far);
      far.on('data', (bytes: Buffer) => void (taken < MEBIBYTE ? near.write(bytes) : far.pause()));
      far.on('data', (bytes: Buffer) => (taken += bytes.length));
    });
    let taken = 0;
    await once(relay.listen(0, '127.0.0.1'), 'listening');
    try {
      const client = session({}, `http://127.0.0.1:${(relay.address() as AddressInfo).port}`);
      await once(client, 'connect');
      client.setLocalWindowSize(2 * LARGER);
      client.settings({ initialWindowSize: 2 * LARGER });
      begin(client, `${A2A}/GetTask`, NAMED_T);
      await until(async () => calls.length > 0);
      await until(async () => (await answerBytes()) === 0);
    } finally {
      relay.close();
    }
  });
});

describe('a call of the health service', () => {
  it('is one of a hundred of its address at most, and leaves room for checks', async () => {
    const client = session();
    const watches = Array.from({ length: 100 }, () => begin(client, `${HEALTH}/Watch`));
    await Promise.all(watches.map((it) => once(it, 'response')));
    const refused = await ending(begin(session(), `${HEALTH}/Watch`));
    expect(Number(refused['grpc-status'])).toBe(status.RESOURCE_EXHAUSTED);
    expect(Number((await ending(begin(client, `${HEALTH}/Check`)))['grpc-status'])).toBe(status.OK);
    watches[0]!.close(constants.NGHTTP2_CANCEL);
    await until(async () => {
      const stream = begin(client, `${HEALTH}/Watch`);
      const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
      return headers['grpc-status'] === undefined;
    });
  });

  it('is refused in a flood before anything is made for it', async () => {
    const entered = jest.spyOn(GrpcAccess.prototype, 'enterPublic');
    const [client, hasty] = [session(), session()];
    const watches = Array.from({ length: 100 }, () => begin(client, `${HEALTH}/Watch`));
    await Promise.all(watches.map((it) => once(it, 'response')));
    const flood = await Promise.all(Array.from({ length: 50 }, () => ending(begin(hasty, `${HEALTH}/Watch`))));
    for (const refused of flood) {
      expect(Number(refused['grpc-status'])).toBe(status.RESOURCE_EXHAUSTED);
      expect(refused['grpc-message']).toContain('100');
      expect(refused['grpc-status-details-bin']).toBeDefined();
    }
    expect(entered).toHaveBeenCalledTimes(100);
    entered.mockRestore();
  });

  it('has a message of a few kilobytes at most', async () => {
    const answer = await ending(begin(session(), `${HEALTH}/Check`, Buffer.alloc(5 * 1024)));
    expect(Number(answer['grpc-status'])).toBe(status.RESOURCE_EXHAUSTED);
  });
});

describe('a gRPC connection without credentials', () => {
  const isClosed = (client: ClientHttp2Session): Promise<true> =>
    new Promise((resolve) => client.once('close', () => resolve(true)));

  it('ends where nothing is asked on it, or nothing that exists', async () => {
    await limitConnections({ anonymousMs: 100, mostOfAddress: 1_000 });
    const [idle, strange] = [session(), session()];
    const closed = [idle, strange].map(isClosed);
    const stream = strange.request({ ':method': 'POST', ':path': '/no/such', 'content-type': 'application/grpc' });
    stream.on('error', () => undefined);
    expect(await Promise.all(closed)).toEqual([true, true]);
  });

  it('stays while a health watch is open, and once somebody has called on it', async () => {
    await limitConnections({ anonymousMs: 4_000, mostOfAddress: 1_000 });
    const [watching, known, idle] = [session(), session(), session()];
    const ended = isClosed(idle);
    const answered = ending(begin(known, `${A2A}/GetTask`, NAMED_T));
    const watch = begin(watching, `${HEALTH}/Watch`);
    await Promise.all([once(watch, 'response'), answered, ended]);
    await isClosed(session());
    expect([watching.closed, known.closed]).toEqual([false, false]);
  });

  it('ends where hundreds of its calls are refused; one of a caller has room for more calls then', async () => {
    const [hasty, known] = [session(), session()];
    const closed = isClosed(hasty);
    for (let call = 0; call < 1_000; call += 1) begin(hasty, `${HEALTH}/Watch`);
    await closed;
    await until(async () => known.remoteSettings?.maxConcurrentStreams === 128);
    await ending(begin(known, `${A2A}/GetTask`, NAMED_T));
    await until(async () => known.remoteSettings.maxConcurrentStreams === 1_000);
    expect(Number((await ending(begin(known, `${HEALTH}/Check`)))['grpc-status'])).toBe(status.OK);
  });

  it('gives way to a newer one where its address has too many', async () => {
    await limitConnections({ anonymousMs: 60_000, mostOfAddress: 20 });
    const oldest = session();
    const closed = isClosed(oldest);
    await once(oldest, 'remoteSettings');
    const clients = Array.from({ length: 20 }, () => session());
    await Promise.all([...clients.map((it) => once(it, 'connect')), closed]);
    expect(Number((await ending(begin(clients.at(-1)!, `${HEALTH}/Check`)))['grpc-status'])).toBe(status.OK);
  });
});

/** Calls a function until it resolves to true. Each attempt takes at least one cycle of the event loop. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { status } from '@grpc/grpc-js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { GrpcWire } from '../../support/grpc-wire.js';
import { useStage } from '../../support/stage.js';
import { before, until } from '../../support/until.js';
import { Api } from '../../support/workflow.js';

const ann = testCaller('ann');
const LIMIT = 100_000;
const stage = useStage({
  env: { ...apiKeyEnv(ann), GRPC_PORT: '0', CONCURRENCY_LIMIT: '1', BODY_LIMIT: String(LIMIT) },
});
let grpc = '';
let session: ClientHttp2Session;
let reader: Record<string, string>;

beforeAll(async () => {
  const card = (await (await fetch(`${stage.parley.url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[];
  };
  grpc = card.supportedInterfaces.find((it) => it.protocolBinding === 'GRPC')!.url;
  session = connect(`http://${grpc}`).on('error', () => undefined);
  const api = new Api(stage.parley.url, ann.headers);
  const { body } = await api.call<{ key: string }>('POST', '/keys', { name: 'reader', scopes: ['workflows'] });
  reader = { authorization: `Bearer ${body.key}` };
});

afterAll(() => session?.destroy());

const NOBODY = {};
const STRANGER = { authorization: 'Bearer no-key-of-anybody' };

describe('over HTTP', () => {
  const places: [method: string, path: string][] = [
    ['POST', '/a2a'],
    ['POST', '/a2a/message:send'],
    ['POST', '/a2a/message:stream'],
    ['POST', '/a2a/workflows/any'],
    ['POST', '/a2a/workflows/any/nodes/one'],
    ['POST', '/a2a/nodes/one/send-message'],
    ['POST', '/api/workflows'],
    ['PUT', '/api/workflows/any'],
    ['POST', '/api/workflows/any/runs'],
    ['POST', '/api/conversations'],
    ['POST', '/api/tickets'],
    ['POST', '/api/credentials'],
    ['POST', '/no/such/place'],
  ];

  it.each(places)('%s %s answers nobody and strangers before their body has ended', async (method, path) => {
    for (const headers of [NOBODY, STRANGER]) {
      const { response, sent } = endless(method, path, headers);
      const { statusCode } = await before(response, { what: `an answer to ${path}` });
      sent.destroy();
      expect(statusCode).toBe(401);
    }
  });

  it('answers whoever lacks the scope, too', async () => {
    const { response, sent } = endless('POST', '/a2a', reader);
    const { statusCode } = await before(response, { what: 'an answer' });
    sent.destroy();
    expect(statusCode).toBe(403);
  });

  it('refuses an upgrade before it happens', async () => {
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const { response, sent } = endless('GET', '/events', { ...headers, 'sec-websocket-key': 'x'.repeat(24) });
    const { statusCode } = await before(response, { what: 'an answer' });
    sent.destroy();
    expect(statusCode).toBe(401);
  });
});

describe('over gRPC', () => {
  it.each(['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'SubscribeToTask'])(
    '%s answers nobody, strangers and whoever lacks the scope before their message has ended',
    async (method) => {
      for (const [headers, code] of [
        [NOBODY, status.UNAUTHENTICATED],
        [STRANGER, status.UNAUTHENTICATED],
        [reader, status.PERMISSION_DENIED],
      ] as const) {
        const { answer, stream } = begun(method, headers, LIMIT);
        expect(Number((await before(answer, { what: method }))['grpc-status'])).toBe(code);
        stream.destroy();
      }
    },
  );

  it('stops a stranger who goes on sending', async () => {
    const { answer, stream } = begun('SendMessage', STRANGER, LIMIT);
    const closed = once(stream, 'close');
    await before(answer, { what: 'an answer' });
    await before(closed, { what: 'the stream to be closed' });
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });

  it('reads no message of a stranger, however it is encoded', async () => {
    const { answer, stream } = begun('SendMessage', STRANGER, 10);
    // The whole message, of bytes that are no protobuf: a known caller is told so, a stranger is told nothing of it.
    stream.end(Buffer.alloc(9, 0xff));
    expect(Number((await before(answer, { what: 'an answer' }))['grpc-status'])).toBe(status.UNAUTHENTICATED);
    const known = begun('SendMessage', ann.headers, 10);
    known.stream.end(Buffer.alloc(9, 0xff));
    expect(Number((await before(known.answer, { what: 'an answer' }))['grpc-status'])).toBe(status.INVALID_ARGUMENT);
  });

  it('takes no message beyond BODY_LIMIT, and says so when its length is there', async () => {
    const { answer, stream } = begun('SendMessage', ann.headers, LIMIT + 1);
    expect(Number((await before(answer, { what: 'an answer' }))['grpc-status'])).toBe(status.RESOURCE_EXHAUSTED);
    stream.destroy();
  });

  it('counts a call from its metadata on, and no longer than it lasts', async () => {
    const wire = new GrpcWire(() => ({ url: stage.parley.url, grpc }));
    const list = async () => (await wire.refusal('', 'ListTasks', {}, ann.headers)).code;
    await until(async () => (await list()) === status.OK, { what: 'a free place' });
    const { stream } = begun('SendMessage', ann.headers, LIMIT);
    await until(async () => (await list()) === status.RESOURCE_EXHAUSTED, { what: 'the limit' });
    stream.destroy();
    await until(async () => (await list()) === status.OK, { what: 'the place to be free again' });
  });

  it('tells everybody of its health', async () => {
    const { answer, stream } = begun('Check', NOBODY, 0, '/grpc.health.v1.Health');
    stream.end();
    expect((await before(answer, { what: 'an answer' }))['grpc-status']).toBe('0');
  });
});

/** A request whose body begins and never ends. */
function endless(
  method: string,
  path: string,
  headers: Record<string, string>,
): { response: Promise<IncomingMessage>; sent: ClientRequest } {
  const sent = request(`${stage.parley.url}${path}`, {
    method,
    headers: { 'a2a-version': '1.0', 'content-type': 'application/json', ...headers },
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', (answer) => resolve(answer.resume()));
    sent.once('error', reject);
  });
  response.then(() => sent.on('error', () => undefined)).catch(() => undefined);
  if (method === 'GET') sent.end();
  else sent.write('{"name":"');
  return { response, sent };
}

/** A call whose message says how long it is, and of which one byte comes. */
function begun(
  method: string,
  headers: Record<string, string>,
  length: number,
  service = '/lf.a2a.v1.A2AService',
): { answer: Promise<IncomingHttpHeaders>; stream: ClientHttp2Stream } {
  const stream = session.request({
    ':method': 'POST',
    ':path': `${service}/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    'a2a-version': '1.0',
    ...headers,
  });
  stream.on('error', () => undefined);
  const answer = ending(stream);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  stream.write(length === 0 ? head : Buffer.concat([head, Buffer.of(10)]));
  return { answer, stream };
}

/** Where the status stands: in the headers, or in the trailers. */
async function ending(stream: ClientHttp2Stream): Promise<IncomingHttpHeaders> {
  const trailers = once(stream, 'trailers').then(([it]) => it as IncomingHttpHeaders);
  trailers.catch(() => undefined);
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  stream.resume();
  return headers['grpc-status'] === undefined ? trailers : headers;
}

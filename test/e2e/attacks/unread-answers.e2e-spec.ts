import { once } from 'node:events';
import { type ClientHttp2Stream, connect as connectHttp2, constants } from 'node:http2';
import { connect, type Socket } from 'node:net';
import type { Task } from '#libs/protocol';
import { rpc, sendTask, VERSION } from '../../support/a2a.js';
import { apiKeyEnv, type TestCaller, testCaller } from '../../support/callers.js';
import { metric } from '../../support/service-metrics.js';
import { useStage } from '../../support/stage.js';
import { takeTurns } from '../../support/turns.js';
import { until } from '../../support/until.js';
import { Api, echo, linear, unique } from '../../support/workflow.js';

takeTurns();

const [mallory, carl, bob] = [testCaller('mallory'), testCaller('carl'), testCaller('bob')];
/** An answer has it twice: in the Message, and in the Artifact that repeats it. */
const TEXT = 'x'.repeat(3_900_000);
const stage = useStage({
  env: {
    ...apiKeyEnv(mallory, carl, bob),
    GRPC_PORT: '0',
    ANSWER_LIMIT: '36mb',
    NODE_OPTIONS: '--max-old-space-size=512',
  },
});
let base: string;
let path: string;

beforeAll(async () => {
  const api = new Api(stage.parley.url, bob.headers);
  const { name } = await api.save(linear(unique('echo'), echo('echo')));
  base = api.base(name, 'echo');
  path = `workflows/${name}/nodes/echo`;
});

/** Sends a request over a connection of its own, and never reads. */
async function unread(lines: readonly string[], body = ''): Promise<{ socket: Socket; gone: Promise<void> }> {
  const { hostname, port, host } = new URL(stage.parley.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await once(socket, 'connect');
  socket.pause();
  const head = [...lines, `Host: ${host}`, `Authorization: Bearer ${mallory.key}`, 'A2A-Version: 1.0'];
  const typed = body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  socket.write(`${[...head, ...typed].join('\r\n')}\r\n\r\n${body}`);
  return { socket, gone };
}

/** Asks over gRPC and opens no window for the answer. @returns with what the stream is reset */
async function unreadOverGrpc(id: string): Promise<number> {
  const card = (await (await fetch(`${stage.parley.url}/.well-known/agent-card.json`)).json()) as {
    supportedInterfaces: { url: string; protocolBinding: string }[];
  };
  const target = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === 'GRPC')!.url;
  const session = connectHttp2(`http://${target}`, { settings: { initialWindowSize: 0 } }).on('error', () => undefined);
  stage.defer(() => session.destroy());
  const stream: ClientHttp2Stream = session.request({
    ':method': 'POST',
    ':path': '/lf.a2a.v1.A2AService/GetTask',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...VERSION,
    ...carl.headers,
  });
  stream.on('error', () => undefined);
  const field = (tag: number, text: string): Buffer => Buffer.concat([Buffer.of(tag, text.length), Buffer.from(text)]);
  const message = Buffer.concat([field(0x0a, path), field(0x12, id)]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([head, message]));
  await once(stream, 'response');
  return new Promise((resolve) => stream.once('close', () => resolve(stream.rstCode)));
}

const taskOf = async ({ headers }: TestCaller): Promise<string> => (await sendTask(base, TEXT, { headers })).id;

describe('callers that do not read their answers', () => {
  it('have half of the room each at most, over HTTP and gRPC, while another one reads, and are cut', async () => {
    const [hers, carls, his] = [await taskOf(mallory), await taskOf(carl), await taskOf(bob)];
    const closed = unreadOverGrpc(carls);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: hers } });
    const target = new URL(base).pathname;
    const readers = await Promise.all([
      ...Array.from({ length: 10 }, () => unread([`POST ${target} HTTP/1.1`], body)),
      ...Array.from({ length: 5 }, () => unread([`GET ${target}/tasks/${hers} HTTP/1.1`])),
      ...Array.from({ length: 5 }, () => unread([`GET ${target}/tasks?includeArtifacts=true HTTP/1.1`])),
    ]);
    await until(async () => (await metric(stage.parley, 'parley_answers_waiting')) > 0, { what: 'a full share' });
    expect(await metric(stage.parley, 'parley_answer_bytes')).toBeLessThan(28 * 1024 * 1024);
    const { body: read } = await rpc<Task>(base, 'GetTask', { id: his }, { headers: bob.headers });
    expect(read.result?.artifacts?.[0]?.parts[0]?.text).toHaveLength(TEXT.length);
    await until(async () => (await metric(stage.parley, 'parley_slow_readers_cut_total')) > 0, { what: 'a cut' });
    expect(await closed).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    readers.forEach(({ socket }) => socket.resume());
    await until(async () => (await metric(stage.parley, 'parley_answer_bytes')) === 0, { what: 'an empty room' });
    readers.forEach(({ socket }) => socket.destroy());
    await Promise.all(readers.map(({ gone }) => gone));
  });
});

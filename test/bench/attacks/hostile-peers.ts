import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createListener, type AddressInfo } from 'node:net';
import { costlyAnswer, costlyCard, type Document } from './costly-shapes.ts';
import { answerAsModel, MODEL } from './hostile-model.ts';

const PAGE = 15_000_000;
const ORIGINS = 30;
const MEBIBYTE = 1024 ** 2;
/** Number of mebibytes of one answer. */
const LARGE_ANSWER = 60;

/** Starts the attacker's servers: agents and MCP servers at the paths of one address. @returns their base URL */
export async function startHostilePeers(): Promise<string> {
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return addressOf(server.address());
}

/** Starts webhooks that accept a connection and never answer. @returns their URLs, each of a different origin */
export async function startHangingHooks(): Promise<string[]> {
  const hooks = Array.from({ length: ORIGINS }, async () => {
    const server = createListener((socket) => socket.on('error', () => undefined).resume());
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `${addressOf(server.address())}/hook`;
  });
  return Promise.all(hooks);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const own = `http://${request.headers.host}`;
  const path = request.url ?? '';
  const text = Buffer.concat((await request.toArray()) as Buffer[]).toString();
  if (path.startsWith(MODEL)) return answerAsModel(request, text, response);
  const call = text.startsWith('{') ? (JSON.parse(text) as Call) : { method: '' };
  if (path.endsWith('agent-card.json')) return sendCard(path, own, response);
  const answered = placeIn(path, 'answer');
  if (answered !== undefined) return write(response, costlyAnswer(answered, call.id));
  if (path.startsWith('/large')) return stream(response, call, largeAnswer());
  if (path.startsWith('/chatty')) return stream(response, call, chatter());
  if (path.startsWith('/mcp-')) return mcp(path, request.method ?? '', call, response);
  response.writeHead(404).end();
}

interface Call {
  id?: number | string;
  method: string;
}

/** Returns the index in a path such as `/card-3/x`; `undefined` for other paths. */
function placeIn(path: string, kind: 'card' | 'answer'): number | undefined {
  const place = new RegExp(`^/${kind}-(\\d+)(?:/|$)`).exec(path)?.[1];
  return place === undefined ? undefined : Number(place);
}

async function write(response: ServerResponse, document: Document): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  for (const piece of document) if (!response.write(piece)) await once(response, 'drain', { signal: closed.signal });
  response.end();
}

async function sendCard(path: string, own: string, response: ServerResponse): Promise<void> {
  const costly = placeIn(path, 'card');
  if (costly !== undefined) return write(response, costlyCard(costly, own));
  const place = ['large', 'chatty'].find((it) => path.startsWith(`/${it}`));
  const url = `${own}/${place ?? path.split('/')[1] ?? ''}`;
  const card = {
    ...{
      name: 'peer',
      description: 'A peer',
      version: '1',
      skills: [],
      capabilities: { streaming: place !== undefined },
    },
    ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
  };
  json(response, card);
}

/** Sends events until no event is left, or the reader has disconnected. */
async function stream(response: ServerResponse, { id, method }: Call, events: Iterable<object>): Promise<void> {
  if (!method.endsWith('StreamingMessage')) return send(response, { id: id ?? 0, method }, { task: TASK });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  for (const event of events) {
    const isRoom = response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: event })}\n\n`);
    if (!isRoom) await once(response, 'drain', { signal: closed.signal });
  }
}

const IDS = { taskId: 'task', contextId: 'context' };
const TASK = { id: 'task', contextId: 'context', status: { state: 'TASK_STATE_WORKING' } };

/** Yields events of the maximum size of one answer, without an end of the Task. */
function* largeAnswer(): Generator<object> {
  yield { task: TASK };
  const text = 'x'.repeat(MEBIBYTE);
  for (let mebibyte = 0; mebibyte < LARGE_ANSWER; mebibyte += 1)
    yield {
      artifactUpdate: { ...IDS, append: mebibyte % 20 > 0, artifact: artifactOf(Math.floor(mebibyte / 20), text) },
    };
}

/** Yields small events without content, without a pause. */
function* chatter(): Generator<object> {
  yield { task: TASK };
  for (let said = 0; ; said += 1) {
    const message = { messageId: `m-${said}`, role: 'ROLE_AGENT', parts: [{ text: `step ${said}` }] };
    yield { statusUpdate: { ...IDS, status: { state: 'TASK_STATE_WORKING', message } } };
  }
}

function artifactOf(index: number, text: string): object {
  return { artifactId: `artifact-${index}`, parts: [{ text }] };
}

function mcp(path: string, method: string, call: Call, response: ServerResponse): void {
  if (method === 'GET') {
    if (!path.startsWith('/mcp-hasty')) return void response.writeHead(405).end();
    return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 0\ndata: \n\n');
  }
  if (call.id === undefined) return void response.writeHead(202).end();
  const serverInfo = { name: 'peer', version: '1' };
  if (call.method === 'initialize')
    return send(response, call, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo });
  if (call.method !== 'tools/list') return send(response, call, {});
  const endless = path.startsWith('/mcp-endless');
  const description = endless ? 'd'.repeat(PAGE) : 'A tool';
  const tool = { name: `tool-${call.id}`, description, inputSchema: { type: 'object' } };
  send(response, call, { tools: [tool], ...(endless && { nextCursor: `after-${call.id}` }) });
}

function send(response: ServerResponse, { id }: Call, result: object): void {
  json(response, { jsonrpc: '2.0', id, result });
}

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function addressOf(address: AddressInfo | string | null): string {
  return `http://127.0.0.1:${(address as AddressInfo).port}`;
}

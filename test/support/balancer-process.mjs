// A balancer in a process of its own: round robin over the replicas that are ready, nothing sticky. It is told its
// replicas over IPC, answers with its port, and ends with its parent.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { createProxyServer } from 'httpxy';

const HEALTH_MS = 200;
/**
 * Number of rounds of health checks in which a ready replica is checked once, since each check costs it milliseconds.
 */
const READY_LOOKS = 5;
/**
 * Time limit of a health check. On a busy machine a healthy replica may answer late, whereas a replica that has ended
 * refuses the connection at once.
 */
const HEALTH_TIMEOUT_MS = 3_000;

const proxy = createProxyServer({ xfwd: true, proxyTimeout: 120_000 });
const server = createServer((request, response) => void forward(request, response));
// Who stood still for long finds no connection that was closed meanwhile.
server.keepAliveTimeout = 600_000;
const sockets = new Set();
/** Readiness of each replica at its last check, by URL. */
let replicas = new Map();
let turn = 0;
let looks = 0;

server.on('connection', (socket) => {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});
server.on('upgrade', (request, socket, head) => {
  socket.on('error', () => undefined);
  const [target] = inTurn();
  if (target === undefined) socket.destroy();
  else proxy.ws(request, socket, { target }, head).catch(() => socket.destroy());
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));

process.on('message', ({ targets, cut }) => {
  if (targets !== undefined) replicas = new Map(targets.map((url) => [url, replicas.get(url) ?? false]));
  if (cut !== undefined) for (const socket of sockets) if (Math.random() < cut) socket.destroy();
});
process.on('disconnect', () => process.exit());
setInterval(() => {
  looks += 1;
  for (const [url, ready] of replicas) if (!ready || looks % READY_LOOKS === 0) void look(url);
}, HEALTH_MS);

/**
 * Forwards a request. A refused connection has delivered nothing, so the next replica gets the request. After any other
 * failure the outcome is unknown, and the caller gets 502.
 */
async function forward(request, response) {
  response.on('error', () => undefined);
  const body = await readAll(request).catch(() => undefined);
  if (body === undefined) return;
  for (const target of inTurn()) {
    try {
      await proxy.web(request, response, { target, buffer: Readable.from(body.length > 0 ? [body] : []) });
      return;
    } catch (error) {
      if (error.code !== 'ECONNREFUSED') return answer(response, 502, `no answer from ${target}: ${error.code}`);
      replicas.set(target, false);
    }
  }
  answer(response, 503, 'no replica is ready');
}

/** Returns the ready replicas, beginning with the next one in turn; all replicas if none is ready. */
function inTurn() {
  const ready = [...replicas].filter(([, isReady]) => isReady).map(([url]) => url);
  const urls = ready.length > 0 ? ready : [...replicas.keys()];
  turn += 1;
  return urls.map((_, index) => urls[(turn + index) % urls.length]);
}

async function look(url) {
  const ready = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
    .then(async (reply) => {
      await reply.body?.cancel();
      return reply.ok;
    })
    .catch(() => false);
  if (!replicas.has(url)) return;
  if (replicas.get(url) !== ready) process.send({ url, ready });
  replicas.set(url, ready);
}

async function readAll(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function answer(response, status, text) {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
}

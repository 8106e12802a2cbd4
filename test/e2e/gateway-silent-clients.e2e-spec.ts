import { connect, type Socket } from 'node:net';
import { startParley } from '../support/parley.js';
import { useSharedStage } from '../support/shared-stage.js';
import { before, until } from '../support/until.js';

const stage = useSharedStage();

/** Asks for a WebSocket, says something at once, and never closes. */
function silentClient(url: string, path: string): { socket: Socket; text(): string } {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const head = [
    `GET ${path} HTTP/1.1`,
    `Host: ${hostname}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
  socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), ping]));
  return { socket, text: () => text };
}

it.each([
  ['an unknown address', '/elsewhere', 404],
  ['a bad parameter', '/events?streams=nope', 400],
])('a client that asks for %s, and stays, is cut', async (_what, path, status) => {
  const { socket, text } = silentClient(stage.parley.url, path);
  // Only what it sends after the cut tells a client of it.
  const talking = setInterval(() => socket.writable && socket.write(' '), 50);
  await before(new Promise((resolve) => socket.on('close', resolve)), { what: 'the service to cut it' });
  clearInterval(talking);
  expect(text()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

it('clients that never say goodbye do not hold the end of the service up', async () => {
  const parley = await startParley({ databaseUrl: stage.database.url, env: { SHUTDOWN_GRACE: '1' } });
  const clients = [silentClient(parley.url, '/events'), silentClient(parley.url, '/elsewhere')];
  await until(() => clients.every((it) => it.text().startsWith('HTTP/1.1')), { what: 'the answers' });
  expect(await before(parley.stop(), { what: 'Parley to end' })).toBe(0);
  for (const { socket } of clients) socket.destroy();
});

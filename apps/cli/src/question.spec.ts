import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import type { JsonObject } from '#libs/protocol';
import { parley } from './parley.js';
import { Terminal } from './terminal.js';

/** A service with one run, `r`, that asks what a test says. */
let server: Server;
let open: JsonObject[];
let status: string;
let answers: number;

beforeAll(async () => {
  server = createServer(({ url = '', method }, response) => {
    if (url.startsWith('/api/inbox')) json(response, { items: open, nextPageToken: '' });
    else if (!url.startsWith('/api/runs/r')) json(response, { status: 404, detail: 'run not found' }, 404);
    else json(response, { runId: 'r', status }, method === 'POST' ? 202 : 200);
    if (method === 'POST') answers += 1;
  });
  server.keepAliveTimeout = 600_000;
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  open = [];
  status = 'input-required';
  answers = 0;
});

function json(response: ServerResponse, value: unknown, code = 200): void {
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Gives the command `answer`. */
async function answer(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const seen = { out: '', err: '' };
  const terminal = new Terminal({
    out: { write: (text) => (seen.out += text) },
    err: { write: (text) => (seen.err += text) },
    input: new PassThrough(),
    env: { PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  });
  return { code: await parley(['answer', ...args], terminal), ...seen };
}

describe('parley answer', () => {
  it.each([
    [[], 'parley: Nothing in the run asks anything; the run is completed\n'],
    [['--node', 'q2'], 'parley: Node "q2" of the run asks nothing; the run is completed\n'],
  ])('to what nobody asks is refused, with how the run is: %j', async (named, err) => {
    status = 'completed';
    expect(await answer('r', 'yes', ...named)).toEqual({ code: 1, out: '', err });
    expect(answers).toBe(0);
  });
});

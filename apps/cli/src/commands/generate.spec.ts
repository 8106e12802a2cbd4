import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCommand } from '../parley.js';
import { Terminal } from '../terminal.js';

const workflow = { name: 'summary', nodes: [{ id: 'text', type: 'input', config: {} }], edges: [] };
const written = { workflow, attempts: 1, model: 'm', usage: { inputTokens: 1, outputTokens: 1 } };
const asked: unknown[] = [];

let server: Server;
let folder: string;
/** Status and body of the service's answer to the next request. */
let reply: [status: number, body: object];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      asked.push([request.url, JSON.parse(Buffer.concat(chunks).toString())]);
      const [status, body] = reply;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-generate-'));
  asked.length = 0;
  reply = [200, { ...written, problems: [] }];
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Runs the command `generate` in this process. @returns its exit code and output */
async function generate(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const seen = { out: '', err: '' };
  const terminal = new Terminal({
    out: { write: (text) => (seen.out += text) },
    err: { write: (text) => (seen.err += text) },
    input: new PassThrough().end(),
    env: { PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  });
  const code = await runCommand(['generate', ...args], terminal);
  return { code, ...seen };
}

describe('a workflow that a model writes', () => {
  it('is printed as YAML or JSON, and nothing else is', async () => {
    const yaml = await generate('Summarize', '--name', 'summary', '-m', 'large');
    expect(yaml).toEqual({ code: 0, err: '', out: expect.stringMatching(/^name: summary\nnodes:\n/) });
    expect(asked).toEqual([['/api/generate', { description: 'Summarize', name: 'summary', model: 'large' }]]);
    const { out } = await generate('Summarize', '--format', 'json');
    expect(JSON.parse(out)).toEqual(workflow);
  });

  it('changes the workflow of a file', async () => {
    const file = join(folder, 'summary.json');
    writeFileSync(file, JSON.stringify(workflow));
    await generate('Ask first', '-c', file);
    expect(asked).toEqual([['/api/generate', { description: 'Ask first', current: workflow }]]);
  });

  it('is printed with its errors beside it, and the exit code 2', async () => {
    const problem = { severity: 'error', code: 'CYCLE', path: 'edges[0]', detail: 'cycle detected' };
    reply = [200, { ...written, problems: [problem] }];
    const { code, out, err } = await generate('Summarize');
    expect({ code, err }).toEqual({ code: 2, err: 'edges[0]: cycle detected\n' });
    expect(out).toContain('name: summary');
  });

  it('is not there where the service has no model, and the command says what is missing', async () => {
    reply = [422, { status: 422, reason: 'NO_MODEL', detail: 'Set LLM_BASE_URL.' }];
    const { code, out, err } = await generate('Summarize');
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: 'parley: Set LLM_BASE_URL.\n' });
  });

  it('is not asked for in a format that is none', async () => {
    expect(await generate('x', '--format', 'toml')).toMatchObject({ code: 2, out: '' });
    expect(asked).toEqual([]);
  });
});

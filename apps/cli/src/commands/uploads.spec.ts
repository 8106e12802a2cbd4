import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCommand } from '../parley.js';
import { Terminal } from '../terminal.js';

const file = (name: string): object => ({
  name,
  size: 3,
  mediaType: 'text/plain',
  url: `http://parley/api/files/${name}`,
});
const asked: { url: string; body: string }[] = [];
let folder: string;
let server: Server;
/** Status and body of the service's answers, in order. */
let replies: [status: number, body: object][];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parley-uploads-'));
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      asked.push({ url: `${request.method} ${request.url}`, body: Buffer.concat(chunks).toString() });
      const [status, body] = replies.shift()!;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
beforeEach(() => void (asked.length = 0));
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command of `parley` in this process. @returns its exit code and output */
async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const seen = { out: '', err: '' };
  const terminal = new Terminal({
    out: { write: (text) => (seen.out += text) },
    err: { write: (text) => (seen.err += text) },
    input: new PassThrough().end(),
    env: { PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  });
  const code = await runCommand(args, terminal);
  return { code, ...seen };
}

describe('files of a caller', () => {
  it('are uploaded in one form, and their URLs are printed', async () => {
    const paths = ['a.txt', 'b.txt'].map((name) => join(folder, name));
    for (const path of paths) writeFileSync(path, `content of ${path}`);
    replies = [[201, { files: [file('a.txt'), file('b.txt')] }]];
    const { code, out } = await run('upload', ...paths);
    expect([code, out]).toEqual([0, 'http://parley/api/files/a.txt\nhttp://parley/api/files/b.txt\n']);
    expect(asked[0]?.url).toBe('POST /api/upload');
    for (const path of paths) expect(asked[0]?.body).toContain(`content of ${path}`);
    expect(asked[0]?.body).toMatch(/name="file"; filename="a.txt"\r\nContent-Type: text\/plain\r\n/);
  });

  it('are not uploaded where one cannot be read', async () => {
    for (const path of [join(folder, 'nothing'), folder]) {
      const { code, err } = await run('upload', path);
      expect([code, asked]).toEqual([2, []]);
      expect(err).toContain(`${path}: cannot be read as a file`);
    }
  });

  it('are listed over several pages, up to a limit', async () => {
    replies = [
      [200, { files: [file('a.txt')], nextPageToken: 'next' }],
      [200, { files: [file('b.txt')], nextPageToken: 'more' }],
    ];
    const { code, out } = await run('files', 'txt', '-n', '2');
    expect(code).toBe(0);
    expect(out).toMatch(/^NAME +BYTES +TYPE +URL\na\.txt +3 +text\/plain +http:.*\nb\.txt/);
    expect(asked.map(({ url }) => url)).toEqual([
      'GET /api/files?q=txt&pageSize=2',
      'GET /api/files?q=txt&pageSize=1&pageToken=next',
    ]);
  });

  it('are reported as none', async () => {
    replies = [[200, { files: [], nextPageToken: '' }]];
    expect(await run('files')).toMatchObject({ code: 0, out: 'There are no files.\n' });
  });
});

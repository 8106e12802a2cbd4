import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { json } from 'node:stream/consumers';
import { keepApplied, WrongFiles } from './dev.js';
import { Session } from './session.js';
import { Terminal } from './terminal.js';

interface Sent {
  workflows: { definition: { name: string } }[];
  mark: string;
  prune: boolean;
}

let server: Server;
let sent: Sent[];
/** Names of the workflows that the service has from this folder. */
let there: string[];
/** Number of apply requests that are still to be answered with 503. */
let away: number;
let folder: string;
let session: Session;
let said: string;

beforeEach(async () => {
  [sent, there, said, away] = [[], [], '', 0];
  folder = mkdtempSync(join(tmpdir(), 'parley-folder-'));
  server = createServer((request, response) => {
    const answer = (value: object): void => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (request.method === 'GET') answer(there.map((name) => ({ name })));
    else if (away-- > 0) response.writeHead(503).end();
    else void json(request).then((body) => answer(take(body as Sent)));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const out = { write: (text: string) => (said += text) };
  session = new Session(new Terminal({ out, err: out, input: new PassThrough(), env: {} }));
  session.targetService(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Answers an apply request as a service does that has only the workflows of this folder. */
function take(body: Sent): object {
  sent.push(body);
  const names = body.workflows.map(({ definition }) => definition.name);
  const gone = there.filter((name) => !names.includes(name)).map((name) => ({ name, action: 'deleted' }));
  const kept = names.map((name) => ({ name, action: there.includes(name) ? 'unchanged' : 'created', revision: '1' }));
  there = names;
  return { workflows: [...kept, ...gone] };
}

function file(name: string): string {
  return join(folder, `${name}.json`);
}

describe('keepApplied', () => {
  it('deletes the last workflow with the last file, and tells so once', async () => {
    writeFileSync(file('one'), '{"name":"one","nodes":[]}');
    await keepApplied(session, folder);
    rmSync(file('one'));
    await keepApplied(session, folder);
    await keepApplied(session, folder);
    expect(there).toEqual([]);
    expect(said).toBe('one created\none deleted\n');
    expect(new Set(sent.map(({ mark, prune }) => `${mark} ${prune}`)).size).toBe(1);
  });

  it('leaves a folder alone of which nothing was ever applied', async () => {
    await keepApplied(session, folder);
    expect(sent).toEqual([]);
    expect(existsSync(join(folder, '.parley'))).toBe(false);
  });

  it('applies again what the service could not take at the moment', async () => {
    writeFileSync(file('one'), '{"name":"one","nodes":[]}');
    away = 1;
    await keepApplied(session, folder);
    expect(there).toEqual(['one']);
    expect(said).toBe(`${session.url} is unreachable; waiting for it …\n${session.url} answers again.\none created\n`);
  });

  it('says what is wrong, and deletes nothing', async () => {
    writeFileSync(file('one'), '{"name":"one","nodes":[]}');
    await keepApplied(session, folder);
    writeFileSync(file('one'), '{"name":');
    await keepApplied(session, folder);
    expect(there).toEqual(['one']);
    expect(said).toContain('one.json: ');
  });

  it('reports a file once when it is repaired, also if nothing changes then', async () => {
    const wrong = new WrongFiles();
    writeFileSync(file('one'), '{"name":"one","nodes":[]}');
    await keepApplied(session, folder, wrong);
    writeFileSync(file('one'), '{"name":');
    await keepApplied(session, folder, wrong);
    said = '';
    writeFileSync(file('one'), '{"name":"one","nodes":[]}');
    await keepApplied(session, folder, wrong);
    await keepApplied(session, folder, wrong);
    expect(said).toMatch(/^\S*one\.json: ok again\n$/);
  });
});

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import type { JsonObject } from '#libs/protocol';
import { runCommand } from '../parley.js';
import { Terminal } from '../terminal.js';

/** Fake service with one run `r`, whose open questions a test sets. */
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

/** Runs the command `answer` in this process. @returns its exit code and output */
async function answer(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const seen = { out: '', err: '' };
  const terminal = new Terminal({
    out: { write: (text) => (seen.out += text) },
    err: { write: (text) => (seen.err += text) },
    input: new PassThrough(),
    env: { PARLEY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
  });
  return { code: await runCommand(['answer', ...args], terminal), ...seen };
}

const GATE = {
  runId: 'r',
  workflow: 'w',
  node: 'gate',
  instance: 'gate',
  text: 'Shall it?',
  form: { type: 'object', required: ['decision'], properties: { decision: { enum: ['yes', 'no'] } } },
  assignee: 'editors',
  deadline: '2026-02-02T09:30:00.000Z',
  since: '2026-01-31T09:30:00.000Z',
};
const NAME = { runId: 'r', workflow: 'w', node: 'name', instance: 'name[1]', text: 'What is it called?', since: '' };
const OTHER = { ...NAME, runId: 'other' };

describe('parley answer', () => {
  it('without an answer shows what is asked, on standard output', async () => {
    open = [GATE, OTHER, NAME];
    const gate = `gate asks: Shall it?
    decision: yes | no
    for editors
    until 2026-02-02T09:30:00.000Z
`;
    const { code, out } = await answer('r');
    expect([code, out]).toEqual([0, `${gate}name[1] asks: What is it called?\n`]);
    const one = await answer('r', '--node', 'gate');
    expect(one).toEqual({
      code: 0,
      out: gate,
      err: 'It has a form: answer it with -i decision=yes, or with --data.\n',
    });
    expect(answers).toBe(0);
  });

  it('without an answer gives programs one document', async () => {
    open = [GATE, OTHER, NAME];
    const { code, out, err } = await answer('r', '--json');
    expect([code, JSON.parse(out), err]).toEqual([0, [GATE, NAME], '']);
    open = [];
    expect(await answer('r', '--json')).toEqual({ code: 0, out: '[]\n', err: '' });
    expect((await answer('r')).out).toBe('The run has no open question; the run is input-required\n');
    expect((await answer('unknown', '--json')).code).toBe(1);
  });

  it('has to say which of several questions it is for, and to be one', async () => {
    open = [GATE, NAME];
    const several = await answer('r', 'yes');
    expect([several.code, several.err]).toEqual([2, expect.stringContaining('name[1] asks: What is it called?')]);
    const twice = await answer('r', 'yes', '--data', '{}', '--node', 'gate');
    expect([twice.code, twice.err]).toEqual([2, expect.stringContaining('a text, -i or --data')]);
    expect(answers).toBe(0);
    expect((await answer('r', 'yes', '--node', 'gate')).code).toBe(0);
    expect(answers).toBe(1);
  });

  it.each([
    [[], 'parley: The run has no open question; the run is completed\n'],
    [['--node', 'q2'], 'parley: Node "q2" of the run has no open question; the run is completed\n'],
  ])('to what nobody asks is refused, with how the run is: %j', async (named, err) => {
    status = 'completed';
    expect(await answer('r', 'yes', ...named)).toEqual({ code: 1, out: '', err });
    expect(answers).toBe(0);
  });
});

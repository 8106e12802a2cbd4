import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runCommand } from './parley.js';
import { Terminal } from './terminal.js';

let server: Server;
let url: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let folder: string;

beforeAll(async () => {
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-command-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Seen {
  code: number;
  out: string;
  err: string;
}

/** Runs a command of `parley` in this process. @returns its exit code and output */
async function command(args: string[], env: Record<string, string> = {}, gone?: AbortSignal): Promise<Seen> {
  const seen = { out: '', err: '' };
  const terminal = new Terminal({
    out: { write: (text) => (seen.out += text) },
    err: { write: (text) => (seen.err += text) },
    input: new PassThrough().end(),
    env: { PARLEY_URL: url, ...env },
    ...(gone && { gone }),
  });
  const code = await runCommand(args, terminal);
  return { code, ...seen };
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function frames(...sequences: number[]): string {
  const event = (sequence: number): object => ({
    sequence,
    type: 'node.progress',
    runId: 'r',
    timestamp: '2026-01-31T09:30:00.000Z',
    payload: {},
  });
  return sequences.map((it) => `id: ${it}\ndata: ${JSON.stringify(event(it))}\n\n`).join('');
}

const STREAM = { 'content-type': 'text/event-stream' };

describe('a command and the service', () => {
  it('does not wait for a service that was never there, and says why it cannot be reached', async () => {
    const other = createServer();
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const { port } = other.address() as AddressInfo;
    await new Promise((closed) => other.close(closed));
    const { code, err } = await command(['runs', '--url', `http://127.0.0.1:${port}`]);
    expect({ code, lines: err.trim().split('\n') }).toEqual({
      code: 1,
      lines: [
        `parley: http://127.0.0.1:${port} cannot be reached (ECONNREFUSED)`,
        'Start a service with `parley dev`, or name another with --url or PARLEY_URL.',
      ],
    });
  });

  it('writes an export piece by piece, as it arrives', async () => {
    const written = Promise.withResolvers<void>();
    answer = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' }).write('"ä"\r\n');
      void written.promise.then(() => response.end('"b"\r\n'));
    };
    let out = '';
    const write = (text: string): void => {
      out += text;
      if (out.includes('"ä"')) written.resolve();
    };
    const input = new PassThrough().end();
    const terminal = new Terminal({ out: { write }, err: { write: () => true }, input, env: { PARLEY_URL: url } });
    expect(await runCommand(['runs', '--csv'], terminal)).toBe(0);
    expect(out).toBe('"ä"\r\n"b"\r\n');
  });

  it('says when a service goes away in the middle, and goes on when it is back', async () => {
    let asks = 0;
    answer = ({ url: path }, response) => {
      asks += 1;
      if (path?.includes('/events') !== true) json(response, { runId: 'r', status: 'completed', result: [] });
      else if (asks === 1) response.writeHead(200, STREAM).write(frames(1), () => response.destroy());
      else if (asks === 2) response.destroy();
      else
        response
          .writeHead(200, STREAM)
          .end(frames(2, 3).replace('"sequence":3,"type":"node.progress"', '"sequence":3,"type":"done"'));
    };
    const { code, out, err } = await command(['logs', '-f', 'r', '--json']);
    expect([
      code,
      err,
      out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { sequence: number }).sequence),
    ]).toEqual([0, '', [1, 2, 3]]);
    asks = 0;
    const reported = await command(['logs', '-f', 'r']);
    expect(reported.err).toBe(`Run r\n${url} is unreachable; waiting for it …\n${url} answers again.\n`);
  });

  it('refuses an input that is given twice', async () => {
    answer = (_request, response) => json(response, { runId: 'r' }, 202);
    const { code, err } = await command(['run', 'wf', '-i', 'a=1', '-i', 'b=1', '-i', 'a:=[2]']);
    expect([code, err]).toEqual([2, expect.stringContaining('-i a is given twice')]);
  });

  it.each<[string, string[], Record<string, string>]>([
    ['an address that is none', ['--url', 'parley.example'], {}],
    ['an address with a password', ['--url', 'http://me:hush@127.0.0.1:3000'], {}],
    ['a key that no header takes', [], { PARLEY_API_KEY: 'hush\n' }],
  ])('refuses %s without saying it', async (_, args, env) => {
    const { code, err } = await command(['runs', ...args], env);
    expect([code, err]).toEqual([2, expect.stringMatching(/^parley: (the service's URL|PARLEY_API_KEY)/)]);
    expect(err).not.toContain('hush');
  });

  it('says so where something else than a service answers', async () => {
    answer = (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
    for (const args of [['runs'], ['logs', 'r'], ['logs', '-f', 'r']]) {
      expect(await command(args)).toMatchObject({
        code: 1,
        err: expect.stringContaining('is there a Parley at this URL?'),
      });
    }
  });

  it('ends quietly when nobody reads any more', async () => {
    const reader = new AbortController();
    answer = (_, response) => response.writeHead(200, STREAM).write(frames(1), () => reader.abort());
    expect(await command(['logs', '-f', 'r'], {}, reader.signal)).toMatchObject({ code: 0, err: 'Run r\n' });
  });
});

describe('talking with an agent', () => {
  it.each([
    ['to an agent of the service', '', 'Bearer secret'],
    ['to no other agent', 'http://127.0.0.1:3000', undefined],
  ])('shows the key %s', async (_, service, expected) => {
    const shown = new Set<string | undefined>();
    answer = ({ headers, method }, response) => {
      if (method === 'POST') shown.add(headers.authorization);
      json(response, {}, method === 'POST' ? 401 : 404);
    };
    const env = { PARLEY_API_KEY: 'secret', ...(service !== '' && { PARLEY_URL: service }) };
    expect(await command(['send', `${url}/a2a/`, 'hi'], env)).toMatchObject({ code: 1 });
    expect([...shown]).toEqual([expected]);
  });

  it.each(['send', 'chat', 'card'])(
    '%s refuses a key that no header takes, before anything is called',
    async (name) => {
      let asked = 0;
      answer = (_, response) => {
        asked += 1;
        json(response, {}, 404);
      };
      const args = (agent: string): string[] => [name, agent, ...(name === 'send' ? ['hi'] : [])];
      const env = { PARLEY_API_KEY: '“hush”' };
      const own = await command(args(`${url}/a2a/`), env);
      expect([own.code, own.err, asked]).toEqual([2, expect.stringMatching(/^parley: PARLEY_API_KEY has/), 0]);
      const elsewhere = await command(args(`${url}/a2a/`), { ...env, PARLEY_URL: 'http://127.0.0.1:3000' });
      expect(`${own.err}${elsewhere.err}`).not.toContain('hush');
      expect(elsewhere.err).not.toContain('PARLEY_API_KEY');
      expect(asked).toBeGreaterThan(0);
    },
  );

  it.each(['send', 'chat', 'card'])('%s asks for a URL', async (name) => {
    const { code, err } = await command([name, 'greeting', ...(name === 'send' ? ['hi'] : [])]);
    expect([code, err]).toEqual([2, expect.stringContaining('must be an http or https URL')]);
  });
});

describe("an agent's card", () => {
  const CARD = {
    name: 'service',
    description: '',
    version: '1',
    capabilities: {},
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 's', name: 's', description: '', tags: ['s'] }],
  };
  const atHost = (path: string): void => {
    const supportedInterfaces = [{ url: `${url}${path}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
    answer = ({ url: asked }, response) =>
      asked === '/.well-known/agent-card.json'
        ? json(response, { ...CARD, supportedInterfaces })
        : json(response, {}, 404);
  };

  it('is not that of another agent of the host', async () => {
    atHost('/a2a/');
    const [own, host] = ['/a2a/workflows/typo', ''].map((path) => `${url}${path}/.well-known/agent-card.json`);
    const { code, out, err } = await command(['card', `${url}/a2a/workflows/typo`]);
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(`there is no card at ${own} (HTTP 404)\nthe card at ${host} belongs to another agent`);
  });

  it('may be at its host, and is told with where it was found', async () => {
    atHost('/rpc');
    const { code, out } = await command(['card', `${url}/rpc`]);
    expect([code, out]).toEqual([0, expect.stringContaining(`The card at ${url}/.well-known/agent-card.json has all`)]);
  });
});

describe('what is exported', () => {
  const exported = async (...args: string[]): Promise<[Seen, (name: string) => string]> => {
    const views = ['kept', 'fresh'].map((name) => ({ name, nodes: [], edges: [], revision: 'r1' }));
    answer = (_, response) => json(response, views);
    const seen = await command(['export', '-f', folder, ...args]);
    return [seen, (name) => readFileSync(join(folder, name), 'utf8')];
  };

  it('stays in the file that it is in, which a format says nothing of', async () => {
    writeFileSync(join(folder, 'kept.yaml'), 'name: kept\nnodes: []\n');
    const [{ code, err }, text] = await exported('--format', 'json');
    expect([code, text('kept.yaml'), JSON.parse(text('fresh.json'))]).toEqual([
      0,
      'name: kept\nnodes: []\nedges: []\n',
      { name: 'fresh', nodes: [], edges: [] },
    ]);
    expect(err).toMatch(/kept\.yaml: kept stays in its file, as yaml\n$/);
    expect(err).not.toContain('fresh');
  });

  it('is YAML, or the JSON that it was, where no format is named', async () => {
    writeFileSync(join(folder, 'kept.JSON'), '{"name":"kept","nodes":[]}');
    const [{ code, err }, text] = await exported();
    expect([code, err, text('fresh.yaml')]).toEqual([0, '', 'name: fresh\nnodes: []\nedges: []\n']);
    expect(JSON.parse(text('kept.JSON'))).toEqual({ name: 'kept', nodes: [], edges: [] });
  });
});

describe('what a command prints', () => {
  it('is one JSON document, unless something is followed', async () => {
    answer = (_, response) => response.writeHead(200, STREAM).end(frames(1, 2));
    const { code, out } = await command(['logs', 'r', '--json']);
    expect([code, JSON.parse(out)]).toMatchObject([0, [{ sequence: 1 }, { sequence: 2 }]]);
  });

  it('is the log of a Task, page by page, with --task', async () => {
    const asked: string[] = [];
    const status = { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'which\n\u001b[2Jone?' }] } };
    const events = [
      { task: { status: { state: 'TASK_STATE_SUBMITTED' }, history: [{ parts: [{ text: 'go' }] }] } },
      { artifactUpdate: { artifact: { artifactId: 'a', name: 'draft', parts: [{ data: { n: 1 } }] } } },
      { statusUpdate: { status } },
    ].map((event, index) => ({ sequence: index + 1, recordedAt: '2026-01-31T09:30:00.000Z', event }));
    answer = (request, response) => {
      asked.push(request.url ?? '');
      const after = Number(new URL(request.url ?? '', url).searchParams.get('after'));
      json(response, after === 0 ? { events: events.slice(0, 2), next: 2 } : { events: events.slice(2) });
    };
    const { code, out } = await command(['logs', '--task', 't/1']);
    expect([code, out]).toEqual([
      0,
      [
        '2026-01-31 09:30:00.000     1 submitted go',
        '2026-01-31 09:30:00.000     2 artifact draft {"n":1}',
        '2026-01-31 09:30:00.000     3 input-required which [2Jone?',
        '',
      ].join('\n'),
    ]);
    expect(asked).toEqual(['/api/tasks/t%2F1/events?after=0&limit=200', '/api/tasks/t%2F1/events?after=2&limit=200']);
    for (const args of [['logs'], ['logs', 'r', '--task', 't'], ['logs', '--task', 't', '-f']])
      expect(await command(args)).toMatchObject({ code: 2, err: expect.stringMatching(/--task/) });
    expect(await command(['logs', 'r', '--prompts', '-f'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--prompts/),
    });
  });

  it('is as many runs as were asked for, however many the service gives at once', async () => {
    const asked: string[] = [];
    answer = (request, response) => {
      const query = new URL(request.url ?? '', url).searchParams;
      asked.push(`${query.get('pageToken')}:${query.get('pageSize')}`);
      const [from, size] = [Number(query.get('pageToken')), Number(query.get('pageSize'))];
      const runs = Array.from({ length: size }, (_, it) => ({
        runId: `r${from + it}`,
        workflow: 'w',
        status: 'failed',
      }));
      json(response, { runs, nextPageToken: String(from + size) });
    };
    const { out } = await command(['runs', '-n', '150', '--json']);
    expect((JSON.parse(out) as { runId: string }[]).map(({ runId }) => runId)).toEqual(
      Array.from({ length: 150 }, (_, it) => `r${it}`),
    );
    expect(asked).toEqual([':100', '100:50']);
  });

  it('names what a service refuses of files by file and line, for programs as well', async () => {
    await command(['init', 'approval', '-f', folder]);
    const errors = [{ path: 'workflows[0].definition.nodes[1].type', detail: 'is odd', code: 'UNKNOWN_TYPE' }];
    answer = (_, response) =>
      json(response, { status: 422, detail: 'is odd', reason: 'INVALID_WORKFLOW', errors }, 422);
    const { code, err } = await command(['apply', '-f', folder, '--json']);
    expect([code, JSON.parse(err)]).toMatchObject([
      2,
      {
        error: {
          status: 422,
          reason: 'INVALID_WORKFLOW',
          errors: [
            {
              file: expect.stringMatching(/approval\.json$/),
              line: expect.any(Number),
              path: 'nodes[1].type',
              detail: 'is odd',
            },
          ],
        },
      },
    ]);
  });

  it('goes on naming variables in the files that workflows are written into', async () => {
    const file = join(folder, 'flow.yaml');
    writeFileSync(
      file,
      'name: flow\nnodes:\n  - { id: a, type: agent, config: { model: "${env:MODEL}", prompt: old } }\n',
    );
    const config = { model: 'small', prompt: 'new' };
    answer = (_, response) =>
      json(response, [{ name: 'flow', revision: '2', nodes: [{ id: 'a', type: 'agent', config }], edges: [] }]);
    expect(await command(['export', '-f', folder], { MODEL: 'small' })).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(file, 'utf8')).toMatch(/model: \$\{env:MODEL\}\n +prompt: new\n/);
    const other = await command(['export', '-f', folder], { MODEL: 'large' });
    expect(other.err).toMatch(/flow\.yaml:\d+ nodes\[0\]\.config\.model: the value at the service differs/);
    expect(readFileSync(file, 'utf8')).toContain('model: small\n');
  });

  it('deletes nothing because one file was named', async () => {
    await command(['init', 'approval', '-f', folder]);
    const { code, err } = await command(['apply', '--prune', '-f', join(folder, 'approval.json')]);
    expect([code, err]).toEqual([2, expect.stringContaining('--prune needs the whole folder')]);
  });
});

describe('parley init', () => {
  it('writes templates beside one another, and the scripts of their agents beside them', async () => {
    const { out } = await command(['init']);
    expect(out).not.toContain('github-actions');
    for (const template of ['briefing', 'critic']) {
      expect(await command(['init', template, '-f', folder])).toMatchObject({ code: 0 });
    }
    expect(readdirSync(folder).toSorted()).toEqual(['agents', 'briefing.json', 'critic.json']);
    expect(existsSync(join(folder, 'agents/critic.json'))).toBe(true);
    expect(await command(['init', 'critic', '-f', folder])).toMatchObject({ code: 0 });
    writeFileSync(join(folder, 'critic.json'), '{}');
    expect(await command(['init', 'critic', '-f', folder])).toMatchObject({ code: 2 });
    expect(readFileSync(join(folder, 'critic.json'), 'utf8')).toBe('{}');
  });

  it('lists the templates with a sentence each, and writes nothing with --list', async () => {
    const listed = await command(['init', '--list']);
    expect(listed).toEqual(await command(['init']));
    expect(await command(['init', 'approval', '--list', '-f', folder])).toEqual(listed);
    expect(existsSync(join(folder, 'approval.json'))).toBe(false);
    const { templates } = JSON.parse((await command(['init', '--list', '--json'])).out) as {
      templates: { name: string; description: string }[];
    };
    expect(templates.map(({ name }) => name)).toEqual(expect.arrayContaining(['approval', 'briefing', 'critic']));
    expect(templates.filter(({ description }) => description.length < 20)).toEqual([]);
  });

  it('says what to do next, with the inputs that are needed', async () => {
    const { out } = await command(['init', 'approval', '-f', folder]);
    expect(out).toContain(`parley dev -f ${folder}\n  parley run approval -i change:='{…}' --follow`);
  });
});

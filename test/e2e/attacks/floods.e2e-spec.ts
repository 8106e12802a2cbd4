import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { cpuMicroseconds } from '../../bench/measure/processes.js';
import { rpc, sendParams, sendTask, VERSION } from '../../support/a2a.js';
import { useStage } from '../../support/stage.js';
import { takeTurns } from '../../support/turns.js';
import { until } from '../../support/until.js';
import { Api, echo, external, linear, ruled, unique } from '../../support/workflow.js';

takeTurns();

/** Half of what an attack would take, were it let. */
const stage = useStage({ env: { NODE_OPTIONS: '--max-old-space-size=512' } });
const WITHIN = 180_000;
const MEGABYTE = 1024 * 1024;
/** 1 GB of zeros in 1 MB: members of gzip follow one another. */
const BOMB_MEMBER = gzipSync(Buffer.alloc(16 * MEGABYTE));
const BOMB = Buffer.concat(Array.from({ length: 64 }, () => BOMB_MEMBER));
const MOST_GROWTH = 400 * MEGABYTE;

let api: Api;
let bystander: string;
let agent: Server;
/** What the hostile agent answers; its card, unless that is the attack. */
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  api = stage.api;
  const { name } = await api.save({ name: unique('by'), nodes: [echo('echo')], edges: [] });
  bystander = api.base(name, 'echo');
  agent = createServer((request, response) => {
    request.resume();
    response.on('error', () => undefined);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(agent, 'listening');
});

afterAll(() => agent?.close().closeAllConnections());

const url = (): string => `http://127.0.0.1:${(agent.address() as AddressInfo).port}`;

/** The most memory that the service has ever had, in bytes; 0 where the system does not tell. */
function peak(): number {
  const file = `/proc/${stage.parley.pid}/status`;
  return existsSync(file) ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? 0) * 1024 : 0;
}

/** Does something to the service, which must neither end nor grow, and has to answer somebody else afterwards. */
async function survives<T>(attack: () => Promise<T>): Promise<T> {
  const before = peak();
  const result = await attack();
  expect(peak() - before).toBeLessThan(MOST_GROWTH);
  expect((await sendTask(bystander, 'still there?')).status.state).toBe('TASK_STATE_COMPLETED');
  expect(stage.parley.running()).toBe(true);
  return result;
}

describe('a compressed request', () => {
  const zeros = Buffer.alloc(8 * MEGABYTE, ' ');

  it.each([
    ['gzip', gzipSync(zeros)],
    ['deflate', deflateSync(zeros)],
    ['br', brotliCompressSync(zeros)],
    ['gzip, gzip', gzipSync(gzipSync(zeros))],
    ['zstd', Buffer.from('x')],
  ])('%s: is refused unread, everywhere', async (coding, body) => {
    const statuses = await survives(() =>
      Promise.all(
        ['/a2a', '/a2a/message:send', '/api/workflows', '/api/conversations'].map(async (path) => {
          const headers = { ...VERSION, 'content-type': 'application/json', 'content-encoding': coding };
          const reply = await fetch(`${stage.parley.url}${path}`, { method: 'POST', headers, body });
          return [reply.status, reply.headers.get('accept-encoding'), (await reply.text()).includes('compressed')];
        }),
      ),
    );
    expect(statuses).toEqual(Array.from({ length: 4 }, () => [415, 'identity', true]));
  });
});

it('a body that says it is as it is, is read', async () => {
  const headers = { 'content-encoding': 'identity' };
  expect((await sendTask(bystander, 'hi', { headers })).status.state).toBe('TASK_STATE_COMPLETED');
});

describe('a gzip bomb', () => {
  const bomb = (response: ServerResponse, type: string): void => {
    response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(BOMB);
  };
  const failing = async (...nodes: Parameters<typeof linear>[1][]): Promise<void> => {
    const run = await survives(() => api.finish(linear(unique('bomb'), ...nodes), {}, WITHIN));
    expect(run.status).toBe('failed');
    expect(JSON.stringify(run).length).toBeLessThan(10_000);
  };

  it(
    'for a card is given up',
    async () => {
      answer = (_request, response) => bomb(response, 'application/json');
      await failing(external('x', `${url()}/${unique('a')}`));
    },
    WITHIN,
  );

  it.each([false, true])(
    'for an answer is given up, streaming: %s',
    async (streaming) => {
      answer = (request, response) => {
        if (request.method === 'GET') tellCard(request, response, streaming);
        else bomb(response, streaming ? 'text/event-stream' : 'application/json');
      };
      await failing(external('x', `${url()}/${unique('a')}`, { timeout: 5 }));
    },
    WITHIN,
  );

  it(
    'for what a tool fetches is given up',
    async () => {
      answer = (_request, response) => bomb(response, 'text/plain');
      await failing({ id: 't', type: 'tool', config: { tool: 'http_get', args: { url: `${url()}/x` } } });
    },
    WITHIN,
  );
});

describe('a stream without an end', () => {
  it.each<[string, string, string]>([
    ['comments', ': still here\n\n', ': '],
    ['one line', 'data: ', 'x'],
    ['one event of many lines', '', 'data: x\n'],
    ['events that are none', '', 'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'],
    ['empty lines', '', '\n'],
  ])(
    'of %s is given up when its time is over, or before',
    async (_what, begin, more) => {
      const closed = Promise.withResolvers<void>();
      let isCalled = false;
      answer = (request, response) => {
        if (request.method === 'GET') return tellCard(request, response, true);
        isCalled = true;
        response.on('close', () => closed.resolve());
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(begin);
        pour(response, more.repeat(Math.ceil(65_536 / more.length)));
      };
      const attempt = () =>
        api.finish(linear(unique('endless'), external('x', `${url()}/${unique('a')}`, { timeout: 1 })), {}, WITHIN);
      const run = await survives(async () => {
        let ended = await attempt();
        // On a busy machine the second may be over before anybody is called.
        while (!isCalled) ended = await attempt();
        await closed.promise;
        return ended;
      });
      expect(run.status).toBe('failed');
    },
    WITHIN,
  );
});

describe('a batch of 60,000 calls', () => {
  it.each([
    ['of an operation', '{"jsonrpc":"2.0","id":1,"method":"ListTasks"}'],
    ['of nothing', '{}'],
    ['of numbers', '1'],
    ['of batches', '[]'],
  ])(
    '%s gets one short answer, and nothing is done',
    async (_what, call) => {
      const body = `[${Array.from({ length: 60_000 }, () => call).join(',')}]`;
      const before = await stage.database.counts();
      const replies = await survives(() =>
        Promise.all(Array.from({ length: 8 }, () => rpc(`${stage.parley.url}/a2a`, '', undefined, { body }))),
      );
      for (const reply of replies) {
        // Too much in flight on a busy machine: the caller is sent away for a while.
        const status = reply.headers.has('retry-after') ? 'later' : reply.status;
        expect(['later', 200, 400, 413]).toContain(status);
        expect(JSON.stringify(reply.body).length).toBeLessThan(2_000);
        expect(reply.body.error?.code).toBeLessThan(0);
      }
      const { task, ...others } = await stage.database.counts();
      // The bystander's.
      expect([task, others.workflow]).toEqual([Number(before['task']) + 1, before['workflow']]);
    },
    WITHIN,
  );
});

describe('a regular expression that others would never be done with', () => {
  it.each(['^(a+)+$', '^(a|aa)+$', '^(a|a?)+$', '(.*)*x$', '([a-z]+)*[0-9]', '^(([a-z])+.)+[A-Z]([a-z])+$', '(a*)*b'])(
    '%s reads 3 MB in linear time',
    async (text) => {
      const node = ruled('r', [{ when: { text }, steps: [{ complete: 'matched' }] }], [{ complete: 'read it all' }]);
      const { name } = await api.save({ name: unique('re'), nodes: [node], edges: [] });
      const cpu = cpuMicroseconds(stage.parley.pid);
      const params = sendParams(`${'a'.repeat(60_000)}!${'a'.repeat(3_000_000)}`, {
        configuration: { historyLength: 0 },
      });
      const { body } = await survives(() => rpc(api.base(name, 'r'), 'SendMessage', params));
      expect(JSON.stringify(body.result ?? body.error)).toContain('read it all');
      // Backtracking takes longer than anybody lives; a safety net for what is merely dear.
      expect((cpuMicroseconds(stage.parley.pid) - cpu) / 1e6).toBeLessThan(30);
    },
    WITHIN,
  );
});

it('at the end it is ready, and has logged no fault', async () => {
  await until(async () => (await fetch(`${stage.parley.url}/health/ready`)).status === 200, { what: 'readiness' });
  const faults = stage.parley
    .logs()
    .split('\n')
    .filter((line) => /"level":"(error|fatal)"/.test(line));
  expect(faults).toEqual([]);
});

/** Writes as fast as it is read, until the other side has gone. */
function pour(response: ServerResponse, text: string): void {
  const write = (): void => {
    while (!response.destroyed && response.write(text));
  };
  response.on('drain', write);
  write();
}

function tellCard({ url: path = '' }: IncomingMessage, response: ServerResponse, streaming: boolean): void {
  const endpoint = `${url()}${path.replace(/\/\.well-known.*/, '')}/rpc`;
  const card = {
    name: 'hostile',
    description: 'An agent that never has enough.',
    version: '1',
    supportedInterfaces: [{ url: endpoint, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(card));
}

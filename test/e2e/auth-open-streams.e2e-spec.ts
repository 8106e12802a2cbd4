import { SendMessageRequest } from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { message } from '../support/a2a.js';
import { ANN, KNOWS_CALLERS } from '../support/callers.js';
import { useSharedStage } from '../support/shared-stage.js';
import { SseReader } from '../support/sse.js';
import { until } from '../support/until.js';
import { Api, linear, script, unique } from '../support/workflow.js';

const stage = useSharedStage(KNOWS_CALLERS);
const slow = unique('slow');
let ann: Api;

beforeAll(async () => {
  ann = new Api(stage.parley.url, ANN.headers);
  await ann.save(linear(slow, script('s', { status: 'working' }, { sleep: 600_000 }, { complete: 'done' })));
});

type Headers = Record<string, string>;

/** Something that is open for a caller, and has said something. */
interface Open {
  over(): boolean;
  leave(): void;
}

async function openSse(path: string, headers: Headers, body?: object): Promise<Open> {
  const request = body === undefined ? { headers } : { method: 'POST', headers, body };
  const reader = await SseReader.open(`${stage.parley.url}${path}`, request);
  await reader.next();
  let isOver = false;
  void (async () => {
    while ((await reader.next()) !== undefined);
    isOver = true;
  })();
  return { over: () => isOver, leave: () => reader.abort() };
}

/** By the official SDK's client, which begins a Task. */
async function openBySdk(transport: 'JSONRPC' | 'HTTP+JSON', headers: Headers): Promise<Open> {
  const control = new AbortController();
  const fetchImpl: typeof fetch = (url, init) => {
    const own = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) own.set(name, value);
    return fetch(url, { ...init, headers: own, signal: control.signal });
  };
  const client = await new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
    preferredTransports: [transport],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  }).createFromUrl(`${ann.base(slow, 's')}/`, '.well-known/agent-card.json');
  const events = client
    .sendMessageStream(SendMessageRequest.fromJSON({ message: message('go') }))
    [Symbol.asyncIterator]();
  await events.next();
  let isOver = false;
  const drained = async (): Promise<void> => {
    while (!(await events.next()).done);
  };
  void drained().then(
    () => (isOver = true),
    () => (isOver = true),
  );
  return { over: () => isOver, leave: () => control.abort() };
}

const MCP = 'io.modelcontextprotocol/';

function openTool(headers: Headers): Promise<Open> {
  const _meta = {
    progressToken: 1,
    [`${MCP}protocolVersion`]: '2026-07-28',
    [`${MCP}clientInfo`]: { name: 'test', version: '1' },
    [`${MCP}clientCapabilities`]: {},
  };
  const said = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': slow };
  const accept = 'application/json, text/event-stream';
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: slow, arguments: {}, _meta } };
  return openSse('/mcp', { ...headers, ...said, accept }, call);
}

const KINDS: Record<string, (headers: Headers) => Promise<Open>> = {
  "a Task's over JSON-RPC": (headers) => openBySdk('JSONRPC', headers),
  "a Task's over HTTP+JSON": (headers) => openBySdk('HTTP+JSON', headers),
  "a run's that the call begins": (headers) => openSse(`/api/workflows/${slow}/run`, headers, { inputs: {} }),
  "a run's events": async (headers) => {
    const runId = await new Api(stage.parley.url, headers).start(slow);
    return openSse(`/api/runs/${runId}/events`, headers);
  },
  "a tool's over MCP": openTool,
};

it.each(Object.entries(KINDS))('a stream ends when its key is revoked, its work does not: %s', async (_kind, open) => {
  const name = unique('jane');
  const { body: key } = await ann.call<{ id: string; key: string }>('POST', '/keys', { name, scopes: ['agents'] });
  const [hers, mine] = await Promise.all([open({ authorization: `Bearer ${key.key}` }), open(ANN.headers)]);
  expect([hers.over(), mine.over()]).toEqual([false, false]);
  expect((await ann.call('DELETE', `/keys/${key.id}`)).status).toBe(204);
  await until(hers.over, { what: 'the stream to end' });
  expect(mine.over()).toBe(false);
  const states = async (): Promise<string> => {
    const rows = await stage.database.query<{ state: string }>('SELECT state FROM task WHERE owner = $1', [name]);
    return [...new Set(rows.map(({ state }) => state))].join();
  };
  // A stream may have begun before the work has.
  await until(async () => (await states()) === 'TASK_STATE_WORKING', { what: 'the work to go on' });
  mine.leave();
});

import { randomBytes } from 'node:crypto';
import type { JsonObject, Task } from '#libs/protocol';
import { rpc, sendParams } from '../support/a2a.js';
import { FakeAgent } from '../support/fake-agent.js';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { keepMcpServer, McpHttpServer } from '../support/mcp-http-server.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { TraceCollector } from '../support/trace-collector.js';
import { WireAgent } from '../support/wire-agent.js';
import { Api, echo, external, linear, unique } from '../support/workflow.js';

/** Of whoever calls the service. */
const SPAN = '00f067aa0ba902b7';
const STATE = 'vendor=1';

let collector: TraceCollector;
let llm: FakeLlm;
let tools: McpHttpServer;
let rest: WireAgent;
let current: FakeAgent;
let earlier: FakeAgent;

beforeAll(async () => {
  [collector, llm, tools, rest, current, earlier] = await Promise.all([
    TraceCollector.start(),
    FakeLlm.start(),
    McpHttpServer.start(),
    WireAgent.start({ binding: 'HTTP+JSON' }, (response) => {
      const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'done' }] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ message }));
    }),
    FakeAgent.start(),
    FakeAgent.start(),
  ]);
  llm.answer = calling;
  earlier.options.card = {
    supportedInterfaces: [],
    protocolVersion: '0.3.0',
    url: `${earlier.url}/rpc`,
    preferredTransport: 'JSONRPC',
  };
  earlier.always(({ body }) => {
    const result = { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'done' }] };
    return { body: JSON.stringify({ jsonrpc: '2.0', id: body?.id, result }) };
  });
});

afterAll(async () => {
  for (const it of [collector, llm, tools, rest, current, earlier]) await it?.stop();
});

/** Calls the one tool that it is offered, then answers. */
function calling({ messages, tools: offered }: JsonObject): FakeAnswer {
  if ((messages as { role: string }[]).at(-1)?.role === 'tool') return { text: 'done' };
  const [{ function: tool }] = offered as unknown as [{ function: { name: string } }];
  return { toolCalls: [{ id: 'c1', name: tool.name, args: {} }] };
}

/** Headers, or `_meta` of MCP. */
type Carried = Readonly<Record<string, unknown>>;

/** What each call carried that the service made for its one run, by the name of the span that it stands for. */
function carried(server: string): Record<string, Carried[]> {
  const sent = ({ calls }: FakeAgent): Carried[] =>
    calls.filter(({ httpMethod }) => httpMethod === 'POST').map(({ headers }) => headers);
  return {
    'chat house': llm.calls.map(({ headers }) => headers),
    [`execute_tool ${server}/echo`]: tools.calls.map(({ meta }) => meta),
    'invoke_agent json-rpc': sent(current),
    'invoke_agent rest': rest.requests.map(({ headers }) => headers),
    'invoke_agent earlier': sent(earlier),
  };
}

describe.each([
  ['that tells a collector of its spans', true, {}],
  [
    'that calls its own nodes over HTTP, and writes its spans in the binary encoding',
    true,
    { NODE_DISPATCH: 'http', OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' },
  ],
  ['without a collector', false, {}],
])('a service %s', (_what, makesSpans, more) => {
  let database: TestDatabase;
  let parley: Parley;
  let api: Api;

  beforeAll(async () => {
    for (const { calls } of [llm, tools, current, earlier]) calls.length = 0;
    rest.requests.length = 0;
    database = await freshDatabase();
    const model = { LLM_BASE_URL: llm.url, LLM_MODEL: 'house' };
    const env = { ...model, ...(makesSpans && { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }), ...more };
    parley = await startParley({ databaseUrl: database.url, env });
    api = new Api(parley.url);
  });

  afterAll(async () => {
    await parley?.stop();
    await database?.drop();
  });

  it('hands its caller’s trace on to models, to tools of MCP servers and to agents, each below the span of its call', async () => {
    const server = await keepMcpServer(api, { url: tools.url });
    const agents: [string, { url: string }][] = [
      ['json-rpc', current],
      ['rest', rest],
      ['earlier', earlier],
    ];
    const { name } = await api.save(
      linear(
        unique('hops'),
        echo('thinks', { prompt: 'Look', tools: [`${server}/*`] }),
        { id: 'looks', type: 'tool', config: { tool: `${server}/echo` } },
        ...agents.map(([id, { url }]) => external(id, url, { prompt: 'go on' })),
      ),
    );
    const traceId = randomBytes(16).toString('hex');
    const headers = { traceparent: `00-${traceId}-${SPAN}-01`, tracestate: STATE };
    const reply = await rpc<{ task: Task }>(api.base(name), 'SendMessage', sendParams('x'), { headers });
    expect(reply.body.result?.task.status.state).toBe('TASK_STATE_COMPLETED');

    const calls = carried(server);
    expect(Object.values(calls).map(({ length }) => length)).toEqual([2, 2, 1, 1, 1]);
    const spans = makesSpans ? await collector.until(traceId, [...Object.keys(calls), `invoke_workflow ${name}`]) : [];
    for (const [call, found] of Object.entries(calls)) {
      const own = spans.filter((span) => span.name === call).map(({ spanId }) => spanId);
      const below = makesSpans ? own : found.map(() => SPAN);
      const expected = below.map((spanId) => [`00-${traceId}-${spanId}-01`, STATE]);
      const told = found.map(({ traceparent, tracestate }) => [traceparent, tracestate]);
      expect([call, told.toSorted()]).toEqual([call, expected.toSorted()]);
    }
  });
});

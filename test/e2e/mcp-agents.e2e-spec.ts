import type { JsonObject } from '#libs/protocol';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { keepMcpServer, McpHttpServer } from '../support/mcp-http-server.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import type { SseFrame } from '../support/sse.js';
import { Api, echo, linear, type RunEvent, unique } from '../support/workflow.js';

const AWAY = 'no connection (ECONNREFUSED)';

let database: TestDatabase;
let llm: FakeLlm;
let parley: Parley;
let api: Api;

beforeAll(async () => {
  database = await freshDatabase();
  llm = await FakeLlm.start();
  const env = { LLM_BASE_URL: llm.url, LLM_API_KEY: 'k', LLM_MODEL: 'house' };
  parley = await startParley({ databaseUrl: database.url, env });
  api = new Api(parley.url);
});

beforeEach(() => void llm.calls.splice(0));

afterAll(async () => {
  await parley?.stop();
  await llm?.stop();
  await database?.drop();
});

const payloads = (frames: SseFrame<RunEvent>[], type: string): unknown[] =>
  frames.filter(({ event }) => event === type).map(({ data }) => data.payload);

/** Calls the one tool that it is offered, then quotes what that gave. */
function calling({ messages, tools }: JsonObject): FakeAnswer {
  const last = (messages as { role: string; content: string }[]).at(-1);
  if (last?.role === 'tool') return { text: `It gave: ${last.content}` };
  const [offered] = (tools ?? []) as { function: { name: string } }[];
  if (offered === undefined) return { text: 'no tool was offered' };
  return { toolCalls: [{ id: 'c1', name: offered.function.name, args: { text: 'hello' } }] };
}

/** One run of an agent with all tools of a server. */
function traced(server: string): Promise<SseFrame<RunEvent>[]> {
  llm.answer = calling;
  return api.trace(linear(unique('agent'), echo('a', { prompt: 'Say hello', tools: [`${server}/*`] })));
}

describe('an agent with tools of an MCP server', () => {
  it('that was never reached fails and names it, and no model is asked', async () => {
    const server = await McpHttpServer.start();
    const { url } = server;
    await server.stop();
    const name = await keepMcpServer(api, { url });
    const frames = await traced(name);
    expect(frames.at(-1)?.data).toMatchObject({
      status: 'failed',
      error: `node "a": the MCP server "${name}" was never reached: ${AWAY}`,
    });
    expect(llm.calls).toEqual([]);
  });

  it('that went away is offered what was known of it; the model reads that its call failed, and the run completes', async () => {
    const server = await McpHttpServer.start();
    const name = await keepMcpServer(api, { url: server.url });
    const look = async (): Promise<JsonObject> => (await api.call('GET', `/mcp-servers/${name}`)).body;
    const pinned = await look();
    await server.stop();
    expect(pinned).toMatchObject({ status: 'ok', tools: [{ name: 'echo' }] });
    // Asked once more, so that what was listed a moment ago is not taken for what there is.
    expect(await look()).toMatchObject({ status: 'unreachable', error: AWAY, tools: [{ name: 'echo' }] });
    const frames = await traced(name);
    const tool = `${name}/echo`;
    const error = `the MCP server "${name}" is away: ${AWAY}`;
    expect(payloads(frames, 'tool.call')).toEqual([{ tool, id: 'c1', args: { text: 'hello' }, step: 1 }]);
    expect(payloads(frames, 'tool.result')).toEqual([{ tool, id: 'c1', error }]);
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { a: `It gave: ${error}` } });
    expect(llm.calls).toHaveLength(2);
    expect(server.calls).toEqual([]);
  });
});

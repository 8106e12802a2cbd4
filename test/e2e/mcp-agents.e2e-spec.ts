import type { JsonObject } from '#libs/protocol';
import { type FakeAnswer, FakeLlm } from '../support/fake-llm.js';
import { keepMcpServer, McpHttpServer } from '../support/mcp-http-server.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import type { SseFrame } from '../support/sse.js';
import { storedLogs } from '../support/stored-log.js';
import { Api, echo, linear, type RunEvent, unique } from '../support/workflow.js';

const AWAY = 'no connection (ECONNREFUSED)';
/** Bytes that are taken of a result, and of all else that a log of a few steps has. */
const [MOST, REST] = [256 * 1024, 32 * 1024];

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

/** What a model reads of a result, where that is the last that it is told. */
function resultIn({ messages }: JsonObject): string | undefined {
  const last = (messages as { role: string; content: string }[]).at(-1);
  return last?.role === 'tool' ? last.content : undefined;
}

/** Calls the one tool that it is offered, then quotes what that gave. */
function calling(body: JsonObject): FakeAnswer {
  const result = resultIn(body);
  if (result !== undefined) return { text: `It gave: ${result}` };
  const [offered] = (body.tools ?? []) as { function: { name: string } }[];
  if (offered === undefined) return { text: 'no tool was offered' };
  return { toolCalls: [{ id: 'c1', name: offered.function.name, args: { text: 'hello' } }] };
}

/** One run of an agent with all tools of a server. */
function traced(server: string, answer: FakeLlm['answer'] = calling): Promise<SseFrame<RunEvent>[]> {
  llm.answer = answer;
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
    const error = `the MCP server "${name}" is unavailable: ${AWAY}`;
    expect(payloads(frames, 'tool.call')).toEqual([{ tool, id: 'c1', args: { text: 'hello' }, step: 1 }]);
    expect(payloads(frames, 'tool.result')).toEqual([{ tool, id: 'c1', error }]);
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { a: `It gave: ${error}` } });
    expect(llm.calls).toHaveLength(2);
    expect(server.calls).toEqual([]);
  });
});

describe('a tool that answers ten megabytes', () => {
  const whole = Array.from({ length: 1_000_000 }, (_, line) => `${line}`.padStart(9)).join('\n');

  it('gives 256 KiB of it: to the run and to the model, which are told that there was more, and to the logs', async () => {
    expect(whole.length).toBe(10_000_000 - 1);
    const server = await McpHttpServer.start();
    server.tools = [{ name: 'read', call: () => ({ content: [{ type: 'text', text: whole }] }) }];
    const name = await keepMcpServer(api, { url: server.url });
    const counting: FakeLlm['answer'] = (body) => {
      const result = resultIn(body);
      return result === undefined ? calling(body) : `${result.length} characters`;
    };
    const frames = await traced(name, counting);
    await server.stop();
    const [{ result, ...said }, ...more] = payloads(frames, 'tool.result') as [{ result: string }];
    expect([said, more]).toEqual([{ tool: `${name}/read`, id: 'c1', truncated: true }, []]);
    const size = Buffer.byteLength(JSON.stringify(result));
    expect([size <= MOST, size > MOST - 10, whole.startsWith(result)]).toEqual([true, true, true]);
    expect(llm.calls).toHaveLength(2);
    const read = resultIn(llm.calls[1]!.body)!;
    expect([read.startsWith(result), read.slice(result.length)]).toEqual([true, expect.stringContaining('cut')]);
    const answer = `${read.length} characters`;
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { a: answer } });
    const { nodes, artifacts } = await api.run(frames[0]!.data.runId);
    expect(artifacts.a?.map(({ parts }) => parts)).toEqual([[{ text: answer, mediaType: 'text/plain' }]]);
    const logs = await storedLogs(database.query, [frames[0]!.data.runId, nodes.a!.taskId!]);
    const sizes = logs.map(({ events }) => events.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0));
    expect(sizes).toHaveLength(2);
    for (const bytes of sizes) expect(bytes).toBeLessThan(MOST + REST);
  });
});

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#libs/protocol';
import { type FakeAnswer, FakeLlm } from '../../support/fake-llm.js';
import { McpHttpServer } from '../../support/mcp-http-server.js';
import { callerAnswer } from './call-runs.js';
import { talkAnswer } from './talk-runs.js';

/** Number of steps before the agent answers. Each step calls both tools. */
export const STEPS = 5;

/** Repeatable tool, at a server over HTTP. */
export const LOOK = 'web/look';
/** Tool that may not be repeated, at a program. */
const COUNT = 'files/count';

interface Said {
  role: string;
  content: string;
}

/** Model and two MCP servers for agents whose replicas are killed. The servers count the calls that arrive. */
export class ToolWorld {
  private readonly folder = mkdtempSync(join(tmpdir(), 'tool-world-'));
  private readonly calls = join(this.folder, 'calls');

  private constructor(
    private readonly llm: FakeLlm,
    private readonly web: McpHttpServer,
  ) {
    llm.answer = (body) => talkAnswer(body) ?? callerAnswer(body) ?? answer(body);
    const call = ({ text }: JsonObject): JsonObject => ({ content: [{ type: 'text', text: String(text) }] });
    web.tools = [{ name: 'look', description: 'Looks', annotations: { readOnlyHint: true }, call }];
  }

  static async start(): Promise<ToolWorld> {
    return new ToolWorld(await FakeLlm.start(), await McpHttpServer.start());
  }

  /** Environment by which replicas find the model and the servers. */
  get env(): Record<string, string> {
    const file = join(this.folder, 'servers.json');
    const program = {
      command: process.execPath,
      args: [join(import.meta.dirname, '../../support/mcp-stdio-server.mjs')],
      env: { MCP_CALLS: this.calls },
    };
    writeFileSync(file, JSON.stringify({ mcpServers: { files: program, web: { url: this.web.url } } }));
    return { MCP_SERVERS_FILE: file, LLM_BASE_URL: this.llm.url, LLM_MODEL: 'm' };
  }

  /** Returns how often each tool was called with each text. */
  called(): Map<string, number> {
    const looks = this.web.calls.map(({ args }) => callName(LOOK, String(args['text'])));
    const lines = existsSync(this.calls) ? readFileSync(this.calls, 'utf8').trim().split('\n') : [];
    const notes = lines.map((line) => JSON.parse(line) as { args: { text: string }; what: string });
    const counts = notes.filter(({ what }) => what === 'called').map(({ args }) => callName(COUNT, args.text));
    const all = Map.groupBy([...looks, ...counts], (it) => it);
    return new Map([...all].map(([name, them]) => [name, them.length]));
  }

  async stop(): Promise<void> {
    await Promise.all([this.llm.stop(), this.web.stop()]);
    rmSync(this.folder, { recursive: true });
  }
}

/** Returns the name under which a call is counted. */
export function callName(tool: string, text: string): string {
  return `${tool} of ${text}`;
}

/**
 * Returns the model's answer: in each step a call of each tool, after the last step a text in two pieces with all
 * results.
 */
function answer(body: JsonObject): FakeAnswer {
  const said = body['messages'] as unknown as Said[];
  const run = said.find(({ role }) => role === 'user')?.content ?? '';
  const results = said.filter(({ role }) => role === 'tool').map(({ content }) => content);
  const step = results.length / 2 + 1;
  if (step > STEPS) return { text: ['all: ', results.join(' ')] };
  const args = { text: `${run}/${step}` };
  return {
    toolCalls: [
      { id: `look-${step}`, name: 'web__look', args },
      { id: `count-${step}`, name: 'files__count', args },
    ],
  };
}

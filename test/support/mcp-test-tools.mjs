import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Tools that the MCP servers of the tests offer. The file `MCP_TOOLS` may have members that replace these, by tool. */
const TOOLS = {
  echo: { description: 'Says what it is told', annotations: { readOnlyHint: true } },
  count: { description: 'Notes that it was called' },
  put: { description: 'Puts a value, as often as one likes', annotations: { idempotentHint: true } },
  add: { description: 'Adds two numbers; answers with data' },
  big: { description: 'Answers with so many characters' },
  picture: { description: 'Answers with an image' },
  fail: { description: 'Reports an error' },
  hang: { description: 'Never answers' },
  late: { description: 'Answers once the file that MCP_GATE names is there' },
  end: { description: 'Ends the server' },
  environment: { description: 'The names of the variables that the server has' },
};

const ANY = { type: 'object', properties: { text: { type: 'string' } } };

export function listedTools() {
  const file = process.env.MCP_TOOLS;
  const replaced = file !== undefined && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const all = { ...TOOLS, ...replaced };
  return Object.entries(all).flatMap(([name, tool]) => (tool === null ? [] : [{ name, inputSchema: ANY, ...tool }]));
}

/** Executes a call, and appends it as a line to the file `MCP_CALLS`. */
export async function callTool(name, args, signal) {
  const { MCP_CALLS: calls, MCP_GATE: gate } = process.env;
  const note = (what) => calls && appendFileSync(calls, `${JSON.stringify({ tool: name, args, what })}\n`);
  note('called');
  signal?.addEventListener('abort', () => note('aborted'));
  const { text: said } = args ?? {};
  switch (name) {
    case 'add':
      return { content: [text(String(args.a + args.b))], structuredContent: { sum: args.a + args.b } };
    case 'big':
      return { content: [text('x'.repeat(args.characters))] };
    case 'picture':
      return { content: [text('look'), { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] };
    case 'fail':
      return { content: [text('there is no such thing')], isError: true };
    case 'hang':
      return new Promise(() => undefined);
    case 'late':
      while (!existsSync(gate)) await delay(20);
      break;
    case 'end':
      process.exit(1);
      break;
    case 'environment':
      return { content: [text(Object.keys(process.env).toSorted().join(','))] };
  }
  return { content: [text(said ?? `${name} done`)] };
}

function text(it) {
  return { type: 'text', text: it };
}

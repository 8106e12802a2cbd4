import { basename, extname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isRole, type BrainstormRole, ROLES } from '#libs/brainstorm';

/** Arguments of `parley agent` that describe the agent by flags. */
export interface AgentArguments {
  name: string;
  description: string;
  /** Script file. Without one, and without `order` and `role`, a model answers. */
  script?: string;
  /** True if the agent takes orders in a café, over several turns. */
  order?: boolean;
  /** Role of the agent in brainstorms, if it takes part in them. */
  role?: BrainstormRole;
  model?: string;
  systemPrompt?: string;
  /** Port to listen on; 0 picks a free port. */
  port: number;
  host: string;
  dataDir: string;
  /** File to which one JSON line per executed Message is appended; absent: standard error. */
  callLog?: string;
}

/** Error in the command line; its message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export const USAGE = `A stand-alone A2A agent (in the repository: npm run agent -- …).

  parley agent serve file.ts [--port 4001]
  parley agent --script file.json [--port 4001] [--name researcher]
  parley agent --llm [--model name] [--system-prompt text]
  parley agent --order
  parley agent --role review [--port 4003]

  serve file            serve the agent that a module exports as its default (defineAgent), with --port, --host, --data-dir
  --script file         answer by the rules of a JSON file
  --llm                 answer with a model: LLM_BASE_URL, LLM_API_KEY, LLM_MODEL; without an endpoint, the echo model
  --order               take orders in a café, asking for what is missing: with a model where LLM_BASE_URL names an
                        endpoint, by rules otherwise
  --role role           take part in brainstorms: build, review, refine or devils_advocate; with a model where
                        LLM_BASE_URL names an endpoint, by rules otherwise
  --model name          the model to ask, instead of LLM_MODEL
  --system-prompt text  system prompt of the model
  --name name           the agent's name; otherwise the script's file name, or "agent"
  --description text    one sentence for its card
  --port number         default 4001; 0 takes any free port
  --host address        default 127.0.0.1
  --data-dir folder     folder of the embedded database; default .data/agents/<name>. With DATABASE_URL, that one:
                        a separate database, not shared with another agent or with Parley
  --call-log file       append one JSON line per executed Message

  GRPC_PORT in the environment serves it over gRPC too.

Examples:
  parley agent serve echo.ts --port 4001
  parley agent --script waiter.json --name waiter
  LLM_BASE_URL=http://127.0.0.1:11434/v1 LLM_MODEL=llama3.2 parley agent --llm --system-prompt 'You are a poet.'`;

const OPTIONS = {
  script: { type: 'string' },
  llm: { type: 'boolean' },
  order: { type: 'boolean' },
  role: { type: 'string' },
  model: { type: 'string' },
  'system-prompt': { type: 'string' },
  name: { type: 'string' },
  description: { type: 'string' },
  port: { type: 'string', default: '4001' },
  host: { type: 'string', default: '127.0.0.1' },
  'data-dir': { type: 'string' },
  'call-log': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Parses the command line without the program's name. Returns `undefined` if help is requested.
 * @throws UsageError for an unknown option, an invalid value, or options that exclude each other
 */
export function parseArguments(argv: readonly string[]): AgentArguments | undefined {
  const values = parseFlags(argv);
  if (values.help) return undefined;
  const { role } = values;
  const kinds = [values.script, values.llm, values.order, role].filter((it) => it !== undefined && it !== false);
  if (kinds.length !== 1) throw new UsageError('Give serve and a file, or one of --script, --llm, --order and --role');
  if (role !== undefined && !isRole(role)) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`);
  const name = values.name ?? role ?? (values.order ? 'order' : scriptName(values.script));
  if (!/^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(name)) {
    throw new UsageError('--name must be 1 to 64 letters, digits, underscores or hyphens');
  }
  return {
    name,
    description: values.description ?? `${name} ${describeAgent(values)}`,
    ...(values.order && { order: true }),
    script: values.script === undefined ? undefined : resolve(values.script),
    ...(role !== undefined && { role }),
    model: values.model,
    systemPrompt: values['system-prompt'],
    port: parsePort(values.port),
    host: values.host,
    dataDir: resolve(values['data-dir'] ?? `.data/agents/${name}`),
    callLog: values['call-log'] === undefined ? undefined : resolve(values['call-log']),
  };
}

function parseFlags(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'The arguments cannot be read');
  }
}

function describeAgent({ script, order, role }: { script?: string; order?: boolean; role?: string }): string {
  if (order) return 'takes orders in a café';
  if (role !== undefined) return `takes part in brainstorms: ${role}`;
  return script === undefined ? 'answers with a model' : 'answers by a script';
}

function scriptName(script: string | undefined): string {
  return script === undefined ? 'agent' : basename(script, extname(script));
}

/** Parses a port number. @throws UsageError unless the text is a whole number from 0 to 65535 */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new UsageError('--port must be a number from 0 to 65535');
  return port;
}

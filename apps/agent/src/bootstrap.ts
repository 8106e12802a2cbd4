import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type DefinedAgent, isDefinedAgent } from '#libs/agent-sdk';
import type { NodeSpec } from '#libs/agents';
import { importDefault, scriptProblems } from '#libs/nodes';
import { isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';
import { ConfigError, type Environment } from '#libs/service';
import { type AgentArguments, parseArguments, parsePort, USAGE, UsageError } from './arguments.js';
import * as authored from './index.js';
import { commandLineAgent } from './served-agent.js';
import { serveDefined, startAgent } from './start-agent.js';

/**
 * Returns the node that does the agent's work outside any workflow: a `script`, an `order` or an `agent` node.
 * @throws Error with the reason why the script cannot be used
 */
export async function agentNode(wanted: AgentArguments): Promise<NodeSpec> {
  if (wanted.script !== undefined) {
    return { id: wanted.name, type: 'script', config: { script: await readScript(wanted.script) } };
  }
  if (wanted.order) return { id: wanted.name, type: 'order', config: {} };
  const config: JsonObject = {
    ...(wanted.model !== undefined && { model: wanted.model }),
    ...(wanted.systemPrompt !== undefined && { system_prompt: wanted.systemPrompt }),
  };
  return { id: wanted.name, type: 'agent', config };
}

async function readScript(path: string): Promise<JsonObject> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new Error(`${path} cannot be read`);
  });
  const script = parseScript(text);
  if (!isJsonObject(script)) throw new Error(`${path} is not a JSON object`);
  const problems = scriptProblems(script);
  if (problems.length > 0) throw new Error(problems.map((problem) => `${path}: ${problem}`).join('\n'));
  return script;
}

function parseScript(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

const OPTIONS = {
  port: { type: 'string', default: '4001' },
  host: { type: 'string', default: '127.0.0.1' },
  'data-dir': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Executes `serve FILE`: serves the agent that a module exports as its default. Returns the agent's name and URL, or
 * `undefined` if help is requested.
 * @throws UsageError, and the errors of startAgent
 */
async function serveFile(
  argv: readonly string[],
  environment: Environment,
): Promise<{ name: string; url: string } | undefined> {
  const wanted = parseServeFlags(argv);
  if (wanted === undefined) return undefined;
  const { file, port, host, dataDir } = wanted;
  const agent = await agentIn(file);
  const options = { port, host, ...(dataDir !== undefined && { dataDir }) };
  const { url } = await serveDefined(agent, options, environment);
  return { name: agent.name, url };
}

function parseServeFlags(
  argv: readonly string[],
): { file: string; port: number; host: string; dataDir?: string } | undefined {
  const { values, positionals } = parseServeArguments(argv);
  if (values.help) return undefined;
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError('serve takes one file');
  const { port, host, 'data-dir': dataDir } = values;
  return { file: resolve(file), port: parsePort(port), host, ...(dataDir !== undefined && { dataDir }) };
}

function parseServeArguments(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : 'The arguments cannot be read');
  }
}

/** Returns the file where an error occurred, with the line if the error's stack has it: `echo.ts:12`. */
function errorPlace(file: string, error: unknown): string {
  const { stack = '' } = (error ?? {}) as { stack?: string };
  const [, line] = stack.split(file)[1]?.match(/^:(\d+)/) ?? [];
  return line === undefined ? file : `${file}:${line}`;
}

function loadFailure(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it throws a value that is not an Error';
}

async function agentIn(file: string): Promise<DefinedAgent> {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  const agent = await importDefault(file, { 'parley-a2a/agent': authored }).catch((error: unknown) => {
    throw new Error(`${errorPlace(file, error)} cannot be loaded: ${loadFailure(error)}`, { cause: error });
  });
  if (!isDefinedAgent(agent)) throw new Error(`${file} must export the result of defineAgent as its default`);
  return agent;
}

interface StartedAgent {
  name: string;
  url: string;
}

/**
 * Starts the agent that the command line describes, and reports its readiness in the first line of standard output. An
 * error in the command line or the environment ends the process:
 * - Standard error gets the reason, one line for each invalid variable.
 * - The exit code is 2 for the command line, 1 for all other errors.
 */
export async function startFromArguments(argv: readonly string[], environment: Environment): Promise<void> {
  try {
    const started =
      argv[0] === 'serve' ? await serveFile(argv.slice(1), environment) : await serveFromFlags(argv, environment);
    process.stdout.write(started ? readyLines(started) : `${USAGE}\n`);
  } catch (error) {
    process.stderr.write(`${explainFailure(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

/**
 * Returns the lines that report the agent's readiness. Clients look for the card below the base URL, which ends with a
 * slash: many clients take the last segment of a URL without a final slash for a file.
 */
function readyLines({ name, url }: StartedAgent): string {
  return `Agent ${name} is ready on ${url}\n  base URL  ${url}/a2a/\n  card      ${url}/a2a/.well-known/agent-card.json\n`;
}

/** Serves the agent that flags describe. Returns the agent's name and URL, or `undefined` if help is requested. */
async function serveFromFlags(argv: readonly string[], environment: Environment): Promise<StartedAgent | undefined> {
  const wanted = parseArguments(argv);
  if (wanted === undefined) return undefined;
  const { url } = await startAgent(wanted, environment, commandLineAgent(wanted, await agentNode(wanted)));
  return { name: wanted.name, url };
}

function explainFailure(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${USAGE}`;
  if (error instanceof ConfigError) return error.lines.join('\n');
  return `The agent could not start: ${error instanceof Error ? error.message : 'unknown error'}`;
}

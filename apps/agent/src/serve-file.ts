import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type DefinedAgent, isDefinedAgent } from '#libs/authoring';
import { importDefault } from '#libs/nodes';
import type { Environment } from '#libs/service';
import { parsePort, UsageError } from './arguments.js';
import * as authored from './index.js';
import { serveDefined } from './serve.js';

const OPTIONS = {
  port: { type: 'string', default: '4001' },
  host: { type: 'string', default: '127.0.0.1' },
  'data-dir': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Executes `serve FILE`: serves the agent that a module exports as its default; `undefined` if help is requested.
 * @throws UsageError, and the errors of startAgent
 */
export async function serveFile(
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

/** Returns the file, with the line if the stack of the error has it. */
function errorPlace(file: string, error: unknown): string {
  const { stack = '' } = (error ?? {}) as { stack?: string };
  const [, line] = stack.split(file)[1]?.match(/^:(\d+)/) ?? [];
  return line === undefined ? file : `${file}:${line}`;
}

function loadFailure(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'it throws what is no error';
}

async function agentIn(file: string): Promise<DefinedAgent> {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  const agent = await importDefault(file, { 'parley-a2a/agent': authored }).catch((error: unknown) => {
    throw new Error(`${errorPlace(file, error)} cannot be loaded: ${loadFailure(error)}`, { cause: error });
  });
  if (!isDefinedAgent(agent)) throw new Error(`${file} does not export what defineAgent gives as its default`);
  return agent;
}

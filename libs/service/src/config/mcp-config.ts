import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Program that speaks MCP over its standard streams. It is started without a shell. */
export interface McpCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables of the program, in addition to the few that every program inherits. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Server that speaks MCP over HTTP. */
export interface McpEndpoint {
  readonly url: string;
  /** Name of the credential that calls use, as stored in the tenant of the caller; absent: none. */
  readonly auth?: string;
}

/** Server of the operator's `MCP_SERVERS_FILE`. */
export interface McpServerEntry {
  readonly name: string;
  readonly at: McpCommand | McpEndpoint;
  /** Globs of the tools that may be called; absent: all tools. */
  readonly allow?: readonly string[];
  /** Globs of the tools that need a person's approval before each call; absent: no tool does. */
  readonly approve?: readonly string[];
}

/** Form of an MCP server's name. */
export const MCP_SERVER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/;
/** Form of a glob of tool names: `*`, `?`, and the characters of tool names (MCP, "Tool Names"). */
export const MCP_GLOB = /^[\w.*?/-]{1,128}$/;

const MOST_SERVERS = 200;

const text = z.string('must be a string').min(1, 'must not be empty');
const globs = z.array(z.string('must be a string').regex(MCP_GLOB, 'must be a glob of tool names')).max(100);
const common = { allow: globs.optional(), approve: globs.optional() };
const command = z.strictObject({
  command: text,
  args: z.array(z.string('must be a string')).default([]),
  env: z.record(z.string(), z.string('must be a string')).default({}),
  cwd: text.optional(),
  ...common,
});
const endpoint = z.strictObject({
  url: z
    .string('must be a string')
    .refine(isEndpoint, 'must be an http:// or https:// URL without credentials or fragment'),
  auth: z.string('must be a string').regex(MCP_SERVER_NAME, 'must be the name of a credential').optional(),
  ...common,
});

/**
 * Reads the servers of `MCP_SERVERS_FILE`.
 * @returns the servers; or `problem`, one line that names the faulty member and never a value
 */
export function readMcpServers(path: string | undefined): { servers: McpServerEntry[]; problem?: string } {
  if (path === undefined) return { servers: [] };
  try {
    return { servers: serversOf(JSON.parse(readServersFile(path))) };
  } catch (error) {
    const reason = error instanceof BrokenFile ? error.message : 'is no JSON';
    return { servers: [], problem: `MCP_SERVERS_FILE: the file ${reason}` };
  }
}

class BrokenFile extends Error {}

function readServersFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new BrokenFile(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`, {
      cause: error,
    });
  }
}

function serversOf(content: unknown): McpServerEntry[] {
  const file = z.strictObject({ mcpServers: z.record(z.string(), z.looseObject({})) }).safeParse(content);
  if (!file.success) throw new BrokenFile('must have one member, mcpServers: an object of servers by name');
  const entries = Object.entries(file.data.mcpServers);
  if (entries.length > MOST_SERVERS) throw new BrokenFile(`has more than ${MOST_SERVERS} servers`);
  return entries.map(([name, given]) => serverOf(name, given));
}

function serverOf(name: string, given: Record<string, unknown>): McpServerEntry {
  if (!MCP_SERVER_NAME.test(name)) {
    throw new BrokenFile('names a server otherwise than with 1 to 64 letters, digits, underscores or hyphens');
  }
  const place = `mcpServers.${name}`;
  if ('command' in given === 'url' in given) throw new BrokenFile(`must have either command or url at ${place}`);
  const parsed = ('command' in given ? command : endpoint).safeParse(given);
  if (!parsed.success) throw new BrokenFile(`is wrong at ${faultOf(place, parsed.error)}`);
  const { allow, approve, ...at } = parsed.data;
  return { name, at, ...(allow && { allow }), ...(approve && { approve }) };
}

function faultOf(place: string, { issues }: z.ZodError): string {
  const [issue] = issues;
  const path = [place, ...(issue?.path ?? [])].join('.');
  if (issue?.code === 'unrecognized_keys') return `${path}: unknown member ${issue.keys[0] ?? ''}`;
  return `${path}: ${issue?.message ?? 'is not as documented'}`;
}

function isEndpoint(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, username, password, hash } = new URL(given);
  return /^https?:$/.test(protocol) && `${username}${password}${hash}` === '';
}

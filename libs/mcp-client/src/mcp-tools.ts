import type { JsonObject, JsonValue } from '#libs/protocol';
import { MCP_GLOB, MCP_SERVER_NAME } from '#libs/service';

/** A tool of an MCP server, as it was pinned. */
export interface McpTool {
  /** `server/tool`. */
  name: string;
  /** Untrusted: what the server says of it. */
  description: string;
  /** Untrusted, a JSON Schema of its arguments. */
  inputSchema: JsonObject;
  /** Its pinned `readOnlyHint`. */
  readOnly: boolean;
  /** Its pinned `idempotentHint`. */
  idempotent: boolean;
  /** Whether the server's `approve` names it: somebody is asked before each call. */
  needsApproval: boolean;
}

export interface McpFindOptions {
  tenant: string;
  signal: AbortSignal;
}

export interface McpCallOptions extends McpFindOptions {
  /** Who owns the Task that calls. */
  owner: string;
  /** `traceparent` and the like, for the request's `_meta`. */
  trace?: Readonly<Record<string, string>>;
}

/**
 * What came of a call. `result` is the structured content, else the text, else a list of MCP's content blocks; none of it
 * is to be trusted. `error` is one sentence: what the tool reports, or why it could not be called. `errorForModel`: what a
 * model reads in its place, where it names a credential. `truncated`: there was more, beyond 256 KiB.
 */
export type McpToolResult =
  | { result: JsonValue; truncated?: true }
  | { error: string; errorForModel?: string; truncated?: true };

/** A pattern cannot be looked up: there is no such server, or one that was never seen is away. For its caller to read. */
export class McpServerError extends Error {
  override readonly name = 'McpServerError';
}

/** The tools of MCP servers. */
export abstract class McpTools {
  /**
   * The tools that patterns (`server/glob`) name and that may be called, each once, by name. Those of a server that is
   * away are the pinned ones; one whose change is blocked is left out.
   * @throws McpServerError
   */
  abstract find(patterns: readonly string[], options: McpFindOptions): Promise<McpTool[]>;

  /**
   * Calls `server/tool` once, never again by itself. Whatever goes wrong at the server, or on the way there, is an error
   * result. @throws what the signal was aborted with
   */
  abstract call(name: string, args: JsonObject, options: McpCallOptions): Promise<McpToolResult>;

  /** What is wrong with `server/tool`, or with `server/glob`, as far as that is known without any look-up. */
  problem(pattern: string, kind: 'tool' | 'glob'): string | undefined {
    const { server, tool } = partsOf(pattern);
    if (!MCP_SERVER_NAME.test(server) || !MCP_GLOB.test(tool))
      return 'must be a server and a tool, as in "server/tool"';
    return kind === 'tool' && /[*?]/.test(tool) ? 'must name one tool of the server, without * and ?' : undefined;
  }
}

/** The names of tools may have slashes, those of servers have none. */
export function partsOf(name: string): { server: string; tool: string } {
  const slash = name.indexOf('/');
  return slash < 0 ? { server: name, tool: '' } : { server: name.slice(0, slash), tool: name.slice(slash + 1) };
}

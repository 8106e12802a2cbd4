import type { JsonObject, JsonValue } from '#libs/protocol';
import { MCP_GLOB, MCP_SERVER_NAME } from '#libs/service';

/** Tool of an MCP server, as pinned. */
export interface McpTool {
  /** `server/tool`. */
  name: string;
  /** Untrusted description by the server. */
  description: string;
  /** Untrusted JSON Schema of the arguments. */
  inputSchema: JsonObject;
  /** Pinned `readOnlyHint`. */
  readOnly: boolean;
  /** Pinned `idempotentHint`. */
  idempotent: boolean;
  /** True if the server's `approve` names the tool: a person is asked before each call. */
  needsApproval: boolean;
}

export interface McpFindOptions {
  tenant: string;
  signal: AbortSignal;
}

export interface McpCallOptions extends McpFindOptions {
  /** Owner of the calling Task. */
  owner: string;
  /** Trace context (`traceparent`, …) for the request's `_meta`. */
  trace?: Readonly<Record<string, string>>;
}

/**
 * Result of a call.
 * - `result`, untrusted: the structured content, else the text, else a list of MCP's content blocks.
 * - `error`: one sentence, which is the tool's own report or the reason why it could not be called.
 * - `errorForModel`: text for a model in place of `error`, which names a credential.
 * - `truncated`: the result exceeded 256 KiB.
 */
export type McpToolResult =
  | { result: JsonValue; truncated?: true }
  | { error: string; errorForModel?: string; truncated?: true };

/** Error of a lookup: the server does not exist, or was never reached and is unreachable. The text is for callers. */
export class McpServerError extends Error {
  override readonly name = 'McpServerError';
}

/** Tools of MCP servers. */
export abstract class McpTools {
  /**
   * Finds the callable tools that patterns (`server/glob`) match, each once, sorted by name. For an unreachable server
   * it returns the pinned tools. Tools with a blocked change are omitted.
   * @throws McpServerError
   */
  abstract findMcpTools(patterns: readonly string[], options: McpFindOptions): Promise<McpTool[]>;

  /**
   * Calls `server/tool` once, without a retry. Failures of the server and of the connection are returned as `error`.
   * @throws the signal's reason
   */
  abstract callMcpTool(name: string, args: JsonObject, options: McpCallOptions): Promise<McpToolResult>;

  /** Returns what is wrong with `server/tool` or `server/glob`, without any lookup. */
  patternProblem(pattern: string, kind: 'tool' | 'glob'): string | undefined {
    const { server, tool } = splitToolName(pattern);
    if (!MCP_SERVER_NAME.test(server) || !MCP_GLOB.test(tool))
      return 'must be a server and a tool, as in "server/tool"';
    return kind === 'tool' && /[*?]/.test(tool) ? 'must name one tool of the server, without * and ?' : undefined;
  }
}

/** Splits at the first slash: names of tools may contain slashes, names of servers do not. */
export function splitToolName(name: string): { server: string; tool: string } {
  const slash = name.indexOf('/');
  return slash < 0 ? { server: name, tool: '' } : { server: name.slice(0, slash), tool: name.slice(slash + 1) };
}

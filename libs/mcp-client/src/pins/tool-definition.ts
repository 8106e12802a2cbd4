import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject, type JsonValue } from '#libs/protocol';

/** Compared parts of a tool: all that a model reads, and all that Parley acts on. */
export interface McpToolDefinition {
  name: string;
  /** Server's own name of the tool, if that cannot be offered. */
  calledAs?: string;
  title?: string;
  description: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  /** Hints of MCP, such as `readOnlyHint` and `idempotentHint`. */
  annotations: JsonObject;
}

/** Known tools of a server, by name. */
export interface ToolList {
  /** Hash over all tools. */
  hash: string;
  tools: McpToolDefinition[];
}

/** Returns a list of tools with its hash. */
export function listOf(tools: McpToolDefinition[]): ToolList {
  return { hash: jsonDigest(tools.map((it) => [it.name, toolHash(it)])), tools };
}

export function toolHash(tool: McpToolDefinition): string {
  return jsonDigest(tool as unknown as JsonValue);
}

function jsonDigest(value: JsonValue): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}

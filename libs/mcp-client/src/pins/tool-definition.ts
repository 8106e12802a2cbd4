import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject, type JsonValue } from '#libs/protocol';

/** What is compared of a tool: what a model is told of it, and what is done because of it. */
export interface ToolDefinition {
  name: string;
  /** The server's own name of the tool, where that is not fit to be offered. */
  calledAs?: string;
  title?: string;
  description: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  /** `readOnlyHint`, `idempotentHint` and the others of MCP. */
  annotations: JsonObject;
}

/** The tools of a server that are known, by name. */
export interface ToolList {
  /** Of all of them. */
  hash: string;
  tools: ToolDefinition[];
}

/** Returns a list of tools with its hash. */
export function listOf(tools: ToolDefinition[]): ToolList {
  return { hash: digest(tools.map((it) => [it.name, toolHash(it)])), tools };
}

export function toolHash(tool: ToolDefinition): string {
  return digest(tool as unknown as JsonValue);
}

function digest(value: JsonValue): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}

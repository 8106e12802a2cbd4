import { createHash } from 'node:crypto';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '#libs/protocol';

/** What is compared of a tool: what a model is told of it, and what is done because of it. */
export interface ToolDefinition {
  name: string;
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

/** Names that MCP advises to use; a tool of another name is passed over. */
const TOOL_NAME = /^[\w./-]{1,128}$/;
const MOST_TOOLS = 1_000;
const MAX_DEFINITION = 64 * 1024;
const MAX_LIST = 2 * 1024 * 1024;

/** A server offers more tools, or longer ones, than anybody can use. The message is a part of a sentence about it. */
export class ToolListRefused extends Error {
  override readonly name = 'ToolListRefused';
}

/**
 * The tools that a server listed; the first of a name counts.
 * @throws ToolListRefused
 */
export function toolList(listed: readonly JsonValue[]): ToolList {
  const tools = new Map<string, ToolDefinition>();
  let size = 0;
  for (const tool of listed.flatMap((it) => definitionOf(it) ?? [])) {
    const length = JSON.stringify(tool).length;
    if (length > MAX_DEFINITION)
      throw new ToolListRefused(`describes a tool with more than ${MAX_DEFINITION} characters`);
    size += length;
    if (!tools.has(tool.name)) tools.set(tool.name, tool);
  }
  if (tools.size > MOST_TOOLS) throw new ToolListRefused(`has more than ${MOST_TOOLS} tools`);
  if (size > MAX_LIST) throw new ToolListRefused(`describes its tools with more than ${MAX_LIST} characters`);
  return listOf([...tools.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)));
}

export function listOf(tools: ToolDefinition[]): ToolList {
  return { hash: digest(tools.map((it) => [it.name, toolHash(it)])), tools };
}

export function toolHash(tool: ToolDefinition): string {
  return digest(tool as unknown as JsonValue);
}

function digest(value: JsonValue): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url');
}

function definitionOf(listed: JsonValue): ToolDefinition | undefined {
  if (!isJsonObject(listed)) return undefined;
  const { name, title, description, inputSchema, outputSchema, annotations } = listed;
  if (typeof name !== 'string' || !TOOL_NAME.test(name) || !isJsonObject(inputSchema)) return undefined;
  return {
    name,
    ...(typeof title === 'string' && { title }),
    description: typeof description === 'string' ? description : '',
    inputSchema,
    ...(isJsonObject(outputSchema) && { outputSchema }),
    annotations: isJsonObject(annotations) ? annotations : {},
  };
}

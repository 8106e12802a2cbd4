import { Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import { isJsonObject, jsonDigest, type JsonObject, type JsonValue, textStart } from '#libs/protocol';

/**
 * Definition of a tool, reduced to what a model reads and what this service acts on. These members are compared with
 * the pin.
 */
export interface McpToolDefinition {
  name: string;
  /** Name of the tool at the server; absent if the tool is offered under that same name. */
  calledAs?: string;
  title?: string;
  description: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  /** Hints of MCP, such as `readOnlyHint` and `idempotentHint`. */
  annotations: JsonObject;
}

/** Tools of a server, sorted by name. */
export interface ToolList {
  /** Hash of all tools together. */
  hash: string;
  tools: McpToolDefinition[];
}

/** Creates a list of tools with its hash. */
export function listOf(tools: McpToolDefinition[]): ToolList {
  return { hash: jsonDigest(tools.map((it) => [it.name, toolHash(it)])), tools };
}

export function toolHash(tool: McpToolDefinition): string {
  return jsonDigest(tool as unknown as JsonValue);
}

/** Maximum length of a tool's name, in characters. */
const LONGEST_NAME = 128;
/** Characters that MCP advises against in names of tools, and that neither globs nor models support. */
const OTHERS = /[^\w./-]/gu;
const DIGEST_DIGITS = 8;

/**
 * Returns a map from the name of each tool at the server to the name by which the tool is offered.
 * - A name of letters, digits, `_`, `-`, `.` and `/` is unchanged.
 * - Any other character becomes `_`. A digest of the original name is appended to such a name if two tools would share
 *   it, or if it has no letter or digit.
 * - The order of the tools has no effect.
 */
function cleanedNames(names: readonly string[]): Map<string, string> {
  const cleaned = names.map((name) => [name, name.replaceAll(OTHERS, '_')] as const);
  const uses = Map.groupBy(cleaned, ([, it]) => it);
  return new Map(
    cleaned.map(([name, it]) => {
      if (name === it) return [name, name];
      const isPlain = uses.get(it)!.length === 1 && /[A-Za-z0-9]/.test(it);
      return [name, isPlain ? it : `${textStart(it, LONGEST_NAME - 1 - DIGEST_DIGITS)}_${nameDigest(name)}`];
    }),
  );
}

function nameDigest(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, DIGEST_DIGITS);
}

/** Tool that a server lists and that cannot be offered. */
export interface SkippedTool {
  /** Name that the server gives; `''` if it gives none. */
  name: string;
  /** Reason, as a part of a sentence about the tool. */
  reason: string;
}

/** Tools that a server lists: those that can be offered, and those that cannot. */
export interface ListedTools extends ToolList {
  skipped: SkippedTool[];
}

/** Maximum number of characters of all pages of a list, as the server sends them. */
export const MAX_LISTING = 8 * 1024 * 1024;
/** Maximum number of tools that one server may list. */
const MOST_TOOLS = 1_000;
/** Maximum number of characters of one tool definition. A longer one is skipped. */
const MAX_DEFINITION = 64 * 1024;
/** Maximum number of characters of all tool definitions of a server. */
const MAX_LIST = 2 * 1024 * 1024;

/**
 * Error of a server that lists too many tools, or tools that are too long. The message is a part of a sentence about
 * the server.
 */
export class ToolListRefused extends Error {
  override readonly name = 'ToolListRefused';
}

/** Collects the pages of a server's list of tools. The list is rejected as soon as it exceeds a limit. */
export class ToolListing {
  /** Tools by their name at the server. */
  private readonly tools = new Map<string, McpToolDefinition>();
  private readonly skipped: SkippedTool[] = [];
  private entries = 0;
  private sent = 0;
  private kept = 0;

  /** Adds a page of the list. @throws ToolListRefused */
  addPage(page: readonly JsonValue[]): void {
    this.entries += page.length;
    if (this.entries > MOST_TOOLS) throw new ToolListRefused(`has more than ${MOST_TOOLS} tools`);
    this.sent += JSON.stringify(page).length;
    if (this.sent > MAX_LISTING) throw new ToolListRefused(`lists its tools with more than ${MAX_LISTING} characters`);
    for (const tool of page) this.addTool(tool);
  }

  /** Returns the list, with each tool under the name by which it is offered. */
  finishList(): ListedTools {
    const names = cleanedNames([...this.tools.keys()]);
    const tools = [...this.tools.values()].map((tool) => ({
      ...tool,
      ...offeredName(tool.name, names.get(tool.name)!),
    }));
    return { ...listOf(tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))), skipped: this.skipped };
  }

  private addTool(listed: JsonValue): void {
    const tool = definitionOf(listed);
    const length = typeof tool === 'string' ? 0 : JSON.stringify(tool).length;
    this.kept += length;
    if (this.kept > MAX_LIST) throw new ToolListRefused(`describes its tools with more than ${MAX_LIST} characters`);
    if (typeof tool === 'string') this.skipTool(listed, tool);
    else if (length > MAX_DEFINITION) this.skipTool(listed, `is described with more than ${MAX_DEFINITION} characters`);
    else if (this.tools.has(tool.name)) this.skipTool(listed, 'has the name of another one');
    else this.tools.set(tool.name, tool);
  }

  private skipTool(listed: JsonValue, reason: string): void {
    const name = isJsonObject(listed) && typeof listed['name'] === 'string' ? listed['name'] : '';
    this.skipped.push({ name: textStart(name, LONGEST_NAME), reason });
  }
}

function offeredName(own: string, cleaned: string): Pick<McpToolDefinition, 'name' | 'calledAs'> {
  return own === cleaned ? { name: own } : { name: cleaned, calledAs: own };
}

/**
 * Returns the definition of a listed tool, or the reason why it cannot be offered. A member that is null or has a wrong
 * type counts as absent.
 */
function definitionOf(listed: JsonValue): McpToolDefinition | string {
  if (!isJsonObject(listed)) return 'is not an object';
  const { name, title, description, inputSchema, outputSchema, annotations } = listed;
  if (typeof name !== 'string') return 'has no name';
  if (name === '') return 'has an empty name';
  if (name.length > LONGEST_NAME) return `has a name of more than ${LONGEST_NAME} characters`;
  if (!isJsonObject(inputSchema)) return 'has no inputSchema that is an object';
  const schema = argumentsSchema(inputSchema);
  const problem = schemaProblem(schema);
  if (problem !== undefined) return `has an inputSchema ${problem}`;
  return {
    name,
    ...(typeof title === 'string' && { title }),
    description: typeof description === 'string' ? description : '',
    inputSchema: schema,
    ...(isJsonObject(outputSchema) && { outputSchema }),
    annotations: isJsonObject(annotations) ? annotations : {},
  };
}

/** Returns a schema of arguments with the default type `object`, and without members that are null. */
function argumentsSchema(schema: JsonObject): JsonObject {
  const members = Object.entries(schema).filter(([, member]) => member !== null);
  return { type: 'object', ...Object.fromEntries(members) };
}

/** Returns why a schema cannot describe arguments, which are an object; `undefined` if it can. */
function schemaProblem({ type, properties, required }: JsonObject): string | undefined {
  if (type !== 'object') return 'whose type is not "object"';
  if (properties !== undefined && !isJsonObject(properties)) return 'whose properties are not an object';
  if (required !== undefined && !isTexts(required)) return 'whose required is not a list of names';
  const isSchema = (it: JsonValue): boolean => isJsonObject(it) || typeof it === 'boolean';
  return Object.values(properties ?? {}).every(isSchema) ? undefined : 'with a property that is not a schema';
}

function isTexts(value: JsonValue): boolean {
  return Array.isArray(value) && value.every((it) => typeof it === 'string');
}

const MOST_SERVERS = 1_000;
const SHOWN_TOOLS = 20;

/**
 * Logs the tools of a server that cannot be offered. Each server's tools are logged again only when they or their
 * reasons have changed.
 */
export class SkippedLog {
  private readonly logger = new Logger('McpTools');
  /** Newest logged text, by tenant and server. */
  private readonly logged = new LRUCache<string, string>({ max: MOST_SERVERS });

  reportSkipped(tenant: string, server: string, skipped: readonly SkippedTool[]): void {
    const tools = skipped.slice(0, SHOWN_TOOLS).map(({ name, reason }) => `"${name}" ${reason}`);
    const key = JSON.stringify([tenant, server]);
    const text = JSON.stringify([skipped.length, tools]);
    if (skipped.length === 0) this.logged.delete(key);
    else if (this.logged.get(key) !== text) {
      this.logged.set(key, text);
      this.logger.warn({ tenant, server, tools, count: skipped.length }, 'Tools of an MCP server cannot be offered');
    }
  }
}

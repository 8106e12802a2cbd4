import { isJsonObject, type JsonObject, type JsonValue, textStart } from '#libs/protocol';
import { listOf, type McpToolDefinition, type ToolList } from './tool-definition.js';
import { cleanedNames, LONGEST_NAME } from './tool-names.js';

/** Listed tool that cannot be offered. */
export interface SkippedTool {
  /** Name given by the server; empty if it gives none. */
  name: string;
  /** Part of a sentence about the tool. */
  reason: string;
}

/** Tools that a server lists, and those among them that cannot be offered. */
export interface ListedTools extends ToolList {
  skipped: SkippedTool[];
}

/** Maximum characters of all pages as the server sends them, including members that are not kept. */
export const MAX_LISTING = 8 * 1024 * 1024;
const MOST_TOOLS = 1_000;
const MAX_DEFINITION = 64 * 1024;
const MAX_LIST = 2 * 1024 * 1024;

/**
 * Error of a server that lists more or longer tools than allowed. The message is a part of a sentence about the server.
 */
export class ToolListRefused extends Error {
  override readonly name = 'ToolListRefused';
}

/** Collects the pages of a list of tools. Rejects the list as soon as its pages together are too long. */
export class ToolListing {
  /** Tools by the name that the server gives. */
  private readonly tools = new Map<string, McpToolDefinition>();
  private readonly skipped: SkippedTool[] = [];
  private entries = 0;
  private sent = 0;
  private kept = 0;

  /** Adds a page. @throws ToolListRefused */
  addPage(page: readonly JsonValue[]): void {
    this.entries += page.length;
    if (this.entries > MOST_TOOLS) throw new ToolListRefused(`has more than ${MOST_TOOLS} tools`);
    this.sent += JSON.stringify(page).length;
    if (this.sent > MAX_LISTING) throw new ToolListRefused(`lists its tools with more than ${MAX_LISTING} characters`);
    for (const tool of page) this.addTool(tool);
  }

  /** Returns the listed tools, each under a name that it can be offered by. */
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
 * Returns the kept parts of a tool, or why it cannot be offered. A member that is null or has another type counts as
 * absent.
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

/** Returns a schema whose type is set, without members that are null. */
function argumentsSchema(schema: JsonObject): JsonObject {
  const members = Object.entries(schema).filter(([, member]) => member !== null);
  return { type: 'object', ...Object.fromEntries(members) };
}

/** Returns why a schema fits no arguments, which are an object with members. */
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

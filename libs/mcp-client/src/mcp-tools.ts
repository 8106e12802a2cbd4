import { isJsonObject, type JsonObject, type JsonValue, PublicFault, textStart, unfitValue } from '#libs/protocol';
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
export class McpServerError extends PublicFault {
  override readonly name = 'McpServerError';

  override get kind(): 'failed' {
    return 'failed';
  }
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

/** Maximum size of a result, in bytes of JSON. */
const MAX_RESULT = 256 * 1024;
/** Bytes reserved for the brackets of a list and for the note about an omitted block. */
const ROOM_OF_A_BLOCK = 200;
/** Maximum nesting depth; deeper values overflow recursive code. */
const DEEPEST = 500;
const NO_REASON = 'the tool failed and gave no reason';

/**
 * Returns a tool's result, truncated to 256 KiB of JSON. Members that are null count as absent. A content block of an
 * unknown kind is replaced by a line about it.
 */
export function callResult({ content, structuredContent, isError }: JsonObject): McpToolResult {
  if (!Array.isArray(content ?? [])) return { error: "the tool's result is refused: content must be a list" };
  const data = structuredContent ?? undefined;
  const unfit = unfitMember({ content: content ?? [], ...(data !== undefined && { structuredContent: data }) });
  if (unfit !== undefined) return { error: `the tool's result is refused: ${unfit}` };
  const blocks = ((content ?? []) as JsonValue[]).map(knownBlock);
  const text = blocksText(blocks);
  if (isError === true) return errorResult(reasonOf(text, data, blocks));
  if (data !== undefined) return structuredResult(data);
  if (text === undefined) return listedResult(blocks);
  const taken = fitJsonText(text, MAX_RESULT);
  return { result: taken, ...truncatedIf(taken.length < text.length) };
}

/** Returns the reason of a failure: the result's text, or its structured content if the text is blank. */
function reasonOf(text: string | undefined, data: JsonValue | undefined, blocks: readonly JsonObject[]): string {
  if (text === undefined) return JSON.stringify(data ?? blocks);
  return text.trim() === '' && data !== undefined ? JSON.stringify(data) : text;
}

/** Required text members of each kind of block, beside `type`. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource_link: ['uri'],
  resource: [],
};

function knownBlock(block: JsonValue): JsonObject {
  if (!isJsonObject(block)) return leftOut('content', jsonSize(block));
  const members = typeof block['type'] === 'string' ? KINDS[block['type']] : undefined;
  const isKnown = members?.every((it) => typeof block[it] === 'string') === true;
  const isWhole = isKnown && (block['type'] !== 'resource' || isJsonObject(block['resource']));
  if (!isWhole) return leftOut(block['type'], jsonSize(block));
  return Object.fromEntries(Object.entries(block).filter(([, member]) => member !== null));
}

function leftOut(type: JsonValue | undefined, bytes: number): JsonObject {
  const kind = typeof type === 'string' && type !== '' ? textStart(type, 32) : 'content';
  return { type: 'text', text: `[${kind} of ${bytes} bytes left out]` };
}

/** Returns why a result cannot be passed on, beginning with the member at fault; `undefined` if it can. */
function unfitMember(result: JsonObject): string | undefined {
  return unfitValue(result, DEEPEST)?.message;
}

function errorResult(text: string): McpToolResult {
  const taken = fitJsonText(text, MAX_RESULT);
  return { error: taken.trim() === '' ? NO_REASON : taken, ...truncatedIf(taken.length < text.length) };
}

function structuredResult(value: JsonValue): McpToolResult {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) <= MAX_RESULT) return { result: value };
  return { result: fitJsonText(text, MAX_RESULT), truncated: true };
}

/** Returns the text of a result that consists of text blocks only, else `undefined`. */
function blocksText(blocks: readonly JsonObject[]): string | undefined {
  const texts = blocks.map((it) => (it.type === 'text' && typeof it.text === 'string' ? it.text : undefined));
  return texts.every((it) => it !== undefined) ? texts.join('\n') : undefined;
}

/** Keeps blocks while they fit: a text is truncated, any other block is replaced by a line about it. */
function listedResult(blocks: readonly JsonObject[]): McpToolResult {
  const taken: JsonObject[] = [];
  let room = MAX_RESULT;
  let truncated = false;
  for (const block of blocks) {
    if (room <= ROOM_OF_A_BLOCK) return { result: taken, truncated: true };
    const size = Buffer.byteLength(JSON.stringify(block));
    const kept = size <= room - ROOM_OF_A_BLOCK ? block : shortenBlock(block, size, room - ROOM_OF_A_BLOCK);
    truncated ||= kept !== block;
    taken.push(kept);
    room -= Math.min(size, Buffer.byteLength(JSON.stringify(kept))) + 1;
  }
  return { result: taken, ...truncatedIf(truncated) };
}

function shortenBlock(block: JsonObject, size: number, room: number): JsonObject {
  if (block.type === 'text' && typeof block.text === 'string')
    return { type: 'text', text: fitJsonText(block.text, room) };
  return leftOut(block['type'], size);
}

/** Returns the longest start of a text whose JSON fits in `bytes`, without half a character at its end. */
function fitJsonText(text: string, bytes: number): string {
  if (jsonBytes(text) <= bytes) return text;
  let [fits, tooLong] = [0, Math.min(text.length, bytes)];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (jsonBytes(text.slice(0, middle)) <= bytes) fits = middle;
    else tooLong = middle;
  }
  return textStart(text, fits);
}

function jsonSize(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

function truncatedIf(isCut: boolean): { truncated?: true } {
  return isCut ? { truncated: true } : {};
}

/**
 * True if a glob matches a text: `*` is any characters, `?` is one. Takes at most the product of their lengths in
 * steps.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let [inGlob, inText] = [0, 0];
  /** Position to resume from if the text after the last star does not match; the star then takes one more character. */
  let star: { glob: number; text: number } | undefined;
  while (inText < text.length) {
    const wanted = glob[inGlob];
    if (wanted === '*') {
      star = { glob: ++inGlob, text: inText };
    } else if (wanted === '?' || (wanted !== undefined && wanted === text[inText])) {
      inGlob += 1;
      inText += 1;
    } else if (star) {
      inGlob = star.glob;
      inText = star.text += 1;
    } else return false;
  }
  return /^\**$/.test(glob.slice(inGlob));
}

export function matchesAny(globs: readonly string[], text: string): boolean {
  return globs.some((it) => matchesGlob(it, text));
}

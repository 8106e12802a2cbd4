import { isDeepStrictEqual } from 'node:util';
import { PublicFault } from '#libs/faults';
import { isJsonObject, type JsonObject, type JsonValue, textStart, tryParseJson, unfitValue } from '#libs/protocol';
import { MCP_GLOB, MCP_SERVER_NAME } from '#libs/service';

/** Tool of an MCP server that may be called. */
export interface McpTool {
  /** Name of the tool, as `server/tool`. */
  name: string;
  /** Description that the server gives; untrusted. */
  description: string;
  /** JSON Schema of the arguments that the server gives; untrusted. */
  inputSchema: JsonObject;
  /** True if the server declares that the tool changes nothing (`readOnlyHint`). */
  readOnly: boolean;
  /** True if the server declares that a repeated call has no further effect (`idempotentHint`). */
  idempotent: boolean;
  /**
   * True if the list `approve` in the definition of the MCP server matches the tool: a person must approve each call.
   */
  needsApproval: boolean;
}

export interface McpFindOptions {
  tenant: string;
  signal: AbortSignal;
}

export interface McpCallOptions extends McpFindOptions {
  /** Owner of the calling Task. */
  owner: string;
  /** Trace context (`traceparent`, …) for `_meta` of the request; absent if the call is not traced. */
  trace?: Readonly<Record<string, string>>;
}

/**
 * Result of a tool call.
 * - `result`: untrusted; the structured content, else the text, else a list of content blocks of MCP.
 * - `error`: one sentence, either the report of the tool or the reason why it could not be called.
 * - `errorForModel`: text for a model in place of an `error` that names a credential.
 * - `truncated`: true if the result exceeded 256 KiB.
 */
export type McpToolResult =
  | { result: JsonValue; truncated?: true }
  | { error: string; errorForModel?: string; truncated?: true };

/**
 * Error of a lookup or a call: the MCP server or the tool does not exist, the server is unreachable, the tool is
 * blocked or not allowed, or the call failed. The message is for callers.
 */
export class McpServerError extends PublicFault {
  override readonly name = 'McpServerError';

  override get kind(): 'failed' {
    return 'failed';
  }
}

/** Finds and calls the tools of MCP servers, by `server/tool`. */
export abstract class McpTools {
  /**
   * Finds the tools that may be called and that match one of the patterns (`server/glob`), each once, sorted by name.
   * For an unreachable server it returns the tools that the server listed last. Tools that `allow` excludes, and tools
   * with a blocked change, are omitted.
   * @throws McpServerError if a server does not exist, or is unreachable and never listed its tools
   */
  abstract findMcpTools(patterns: readonly string[], options: McpFindOptions): Promise<McpTool[]>;

  /**
   * Calls `server/tool` once, without a retry. Failures of the server and of the connection are returned as `error`,
   * and also the reason why a tool may not be called.
   * @throws the reason of the signal
   */
  abstract callMcpTool(name: string, args: JsonObject, options: McpCallOptions): Promise<McpToolResult>;

  /**
   * Returns the fault of a name (`server/tool`) or of a pattern (`server/glob`); `undefined` if it is well-formed. No
   * server is looked up.
   */
  patternProblem(pattern: string, kind: 'tool' | 'glob'): string | undefined {
    const { server, tool } = splitToolName(pattern);
    if (!MCP_SERVER_NAME.test(server) || !MCP_GLOB.test(tool))
      return 'must be a server and a tool, as in "server/tool"';
    return kind === 'tool' && /[*?]/.test(tool) ? 'must name one tool of the server, without * and ?' : undefined;
  }
}

/** Splits `server/tool` at its first slash. Names of tools may contain slashes, names of servers do not. */
export function splitToolName(name: string): { server: string; tool: string } {
  const slash = name.indexOf('/');
  return slash < 0 ? { server: name, tool: '' } : { server: name.slice(0, slash), tool: name.slice(slash + 1) };
}

/** Maximum size of a tool's result, in bytes of JSON. */
const MAX_RESULT = 256 * 1024;
/**
 * Bytes of a result that are not used for its content blocks. They are for the brackets of the list, and for a note
 * about a block that is omitted.
 */
const ROOM_OF_A_BLOCK = 200;
/** Maximum nesting depth of a result. Deeper values would overflow recursive code. */
const DEEPEST = 500;
const NO_REASON = 'the tool failed and gave no reason';

/**
 * Converts the result that a server sends for a call. The converted result has at most 256 KiB of JSON.
 * - Members that are null count as absent.
 * - A content block of an unknown kind is replaced by a line about it.
 * - A plain value in a wrapper object (`isWrapped`) is returned without the wrapper.
 */
export function callResult({ content, structuredContent, isError, _meta: meta }: JsonObject): McpToolResult {
  if (!Array.isArray(content ?? [])) return { error: "the tool's result is refused: content must be a list" };
  const data = structuredContent ?? undefined;
  const unfit = unfitMember({ content: content ?? [], ...(data !== undefined && { structuredContent: data }) });
  if (unfit !== undefined) return { error: `the tool's result is refused: ${unfit}` };
  const blocks = ((content ?? []) as JsonValue[]).map(knownBlock);
  const text = blocksText(blocks);
  if (isError === true) return errorResult(reasonOf(text, data, blocks));
  if (data !== undefined) return structuredResult(isWrapped(data, blocks, meta) ? data.result : data);
  if (text === undefined) return listedResult(blocks);
  const taken = fitJsonText(text, MAX_RESULT);
  return { result: taken, ...truncatedIf(taken.length < text.length) };
}

/**
 * True for a plain value, such as a number, that a server's SDK for Python has wrapped in `{"result": …}`, because
 * structured content must be an object. The SDK fastmcp marks such a result in `_meta`. The official SDK sets no mark,
 * but its content blocks contain the text of the value alone; for a real object they would contain the JSON of the
 * whole object.
 */
function isWrapped(
  data: JsonValue,
  blocks: readonly JsonObject[],
  meta: JsonValue | undefined,
): data is JsonObject & { result: JsonValue } {
  if (!isJsonObject(data) || data.result === undefined || Object.keys(data).length > 1) return false;
  const marks = isJsonObject(meta) ? meta['fastmcp'] : undefined;
  if (isJsonObject(marks) && marks['wrap_result'] === true) return true;
  const values = Array.isArray(data.result) ? data.result : [data.result];
  return values.length > 0 && values.length === blocks.length && values.every((it, at) => isTextOf(it, blocks[at]!));
}

/** True if a block is the text of a value: the value itself, or its JSON. */
function isTextOf(value: JsonValue, { text }: JsonObject): boolean {
  if (typeof text !== 'string') return false;
  if (typeof value === 'string') return text === value;
  return isDeepStrictEqual(tryParseJson(text, DEEPEST), value);
}

/**
 * Returns the reason of a failed call: the text of the result; if the text is absent or blank, the structured content
 * as JSON; if both are absent, all content blocks as JSON.
 */
function reasonOf(text: string | undefined, data: JsonValue | undefined, blocks: readonly JsonObject[]): string {
  if (text === undefined) return JSON.stringify(data ?? blocks);
  return text.trim() === '' && data !== undefined ? JSON.stringify(data) : text;
}

/** Required string members of a content block, beside `type`, by its type. */
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

/**
 * Returns the reason why a result cannot be passed on, beginning with the path of the invalid member; `undefined` if
 * the result can be passed on.
 */
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

/** Returns the text of the content blocks if all of them are text; `undefined` otherwise. */
function blocksText(blocks: readonly JsonObject[]): string | undefined {
  const texts = blocks.map((it) => (it.type === 'text' && typeof it.text === 'string' ? it.text : undefined));
  return texts.every((it) => it !== undefined) ? texts.join('\n') : undefined;
}

/**
 * Returns a list of content blocks that fits in 256 KiB: the first text that does not fit is truncated, any other block
 * that does not fit is replaced by a line about it, and blocks after the limit are omitted.
 */
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

/** Returns the longest prefix of a text whose JSON fits in `bytes` bytes. No character is split. */
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
 * True if a glob matches the whole text. `*` stands for any characters, `?` for one character. The number of steps is
 * at most the product of both lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let [inGlob, inText] = [0, 0];
  /**
   * Position in the glob after its latest `*`, and the position in the text up to which that `*` matches. If the rest
   * does not match, the comparison resumes at these positions, and the `*` matches one more character.
   */
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

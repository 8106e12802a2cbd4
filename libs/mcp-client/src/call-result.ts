import { isJsonObject, type JsonObject, type JsonValue, textStart, unfitValue } from '#libs/protocol';
import type { McpToolResult } from './mcp-tools.js';

/** Bytes of JSON that are taken of a result. */
const MAX_RESULT = 256 * 1024;
/** What it costs to be an element of a list, and to say that something was left out. */
const ROOM_OF_A_BLOCK = 200;
/** Levels of lists and objects that may lie in each other; what is deeper breaks what recurses. */
const DEEPEST = 500;
const NO_REASON = 'the tool failed and gave no reason';

/** What a tool answered, cut to what is taken of a result. */
export function callResult({ content, structuredContent, isError }: JsonObject): McpToolResult {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const unfit = unfitMember({ content: blocks, ...(structuredContent !== undefined && { structuredContent }) });
  if (unfit !== undefined) return { error: `the tool's result is refused: ${unfit}` };
  const text = textOf(blocks);
  if (isError === true) return error(text ?? JSON.stringify(structuredContent ?? blocks));
  if (structuredContent !== undefined) return structured(structuredContent);
  if (text === undefined) return listed(blocks);
  const taken = cut(text, MAX_RESULT);
  return { result: taken, ...truncatedIf(taken.length < text.length) };
}

/** Why a result cannot be passed on, which begins with the member at fault; `undefined` where it can be. */
function unfitMember(result: JsonObject): string | undefined {
  return unfitValue(result, DEEPEST)?.message;
}

function error(text: string): McpToolResult {
  const taken = cut(text, MAX_RESULT);
  return { error: taken === '' ? NO_REASON : taken, ...truncatedIf(taken.length < text.length) };
}

function structured(value: JsonValue): McpToolResult {
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) <= MAX_RESULT) return { result: value };
  return { result: cut(text, MAX_RESULT), truncated: true };
}

/** The text of a result that has nothing else. */
function textOf(blocks: readonly JsonObject[]): string | undefined {
  const texts = blocks.map((it) => (it.type === 'text' && typeof it.text === 'string' ? it.text : undefined));
  return texts.every((it) => it !== undefined) ? texts.join('\n') : undefined;
}

/** Each block as it came, as far as there is room: a text is cut, of anything else is said what was left out. */
function listed(blocks: readonly JsonObject[]): McpToolResult {
  const taken: JsonObject[] = [];
  let room = MAX_RESULT;
  let truncated = false;
  for (const block of blocks) {
    if (room <= ROOM_OF_A_BLOCK) return { result: taken, truncated: true };
    const size = Buffer.byteLength(JSON.stringify(block));
    const kept = size <= room - ROOM_OF_A_BLOCK ? block : shortened(block, size, room - ROOM_OF_A_BLOCK);
    truncated ||= kept !== block;
    taken.push(kept);
    room -= Math.min(size, Buffer.byteLength(JSON.stringify(kept))) + 1;
  }
  return { result: taken, ...truncatedIf(truncated) };
}

function shortened(block: JsonObject, size: number, room: number): JsonObject {
  if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: cut(block.text, room) };
  const kind = typeof block.type === 'string' ? textStart(block.type, 32) : 'content';
  return { type: 'text', text: `[${kind} of ${size} bytes left out]` };
}

/** As much of a text as its JSON may have bytes for, without half a character at its end. */
function cut(text: string, bytes: number): string {
  if (jsonBytes(text) <= bytes) return text;
  let [fits, tooLong] = [0, Math.min(text.length, bytes)];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (jsonBytes(text.slice(0, middle)) <= bytes) fits = middle;
    else tooLong = middle;
  }
  return textStart(text, fits);
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}

function truncatedIf(isCut: boolean): { truncated?: true } {
  return isCut ? { truncated: true } : {};
}

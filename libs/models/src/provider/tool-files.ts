import { isJsonObject, type JsonObject, type JsonValue, type Part } from '#libs/protocol';
import type { ToolResult } from '../model.js';

/** Results of tools without the bytes of their files, and the files. */
interface SeparatedResults {
  results: ToolResult[];
  files: Part[];
}

/**
 * Separates the files in the results of tools, so that no model reads their bytes as text. A file is a content block of
 * MCP with an image or audio in a list. One line of text about the file takes its place.
 */
export function separateFiles(results: readonly ToolResult[]): SeparatedResults {
  const files: Part[] = [];
  const separateBlock = (block: JsonValue): JsonValue => {
    const file = isJsonObject(block) ? fileIn(block) : undefined;
    if (file === undefined) return block;
    files.push(file);
    const { raw = '', mediaType = '' } = file;
    return { type: 'text', text: `[file ${files.length}: ${mediaType}, ${Buffer.byteLength(raw, 'base64')} bytes]` };
  };
  const separated = results.map((it): ToolResult =>
    Array.isArray(it.result) ? { ...it, result: it.result.map(separateBlock) } : it,
  );
  return { results: separated, files };
}

function fileIn({ type, data, mimeType }: JsonObject): Part | undefined {
  if (type !== 'image' && type !== 'audio') return undefined;
  return typeof data === 'string' && typeof mimeType === 'string' ? { raw: data, mediaType: mimeType } : undefined;
}

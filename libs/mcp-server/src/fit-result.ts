import { type JsonObject, type JsonValue, textStart } from '#libs/protocol';

/** Content block of a tool result, as MCP defines it. */
export type ContentBlock = { type: string } & JsonObject;

/** Result of `tools/call`. */
export type CallResult = JsonObject & { content: ContentBlock[] };

/** Maximum size of a result, in bytes of JSON. The SDK for Python reads no event of a stream beyond 1 MiB. */
const MOST_BYTES = 1_000_000;
/** Bytes of a result that are kept for its link and its other members. */
const RESERVED = 4_096;
/** Maximum number of characters of a text that is kept in place of a text without room. */
const KEPT_TEXT = 32_768;

/**
 * Returns a result that clients can read, of at most about MOST_BYTES.
 * - A result that fits is unchanged.
 * - A larger one loses `structuredContent`, which repeats its content.
 * - If that does not suffice, it also loses the blocks without room; a text keeps its beginning. A resource link names
 *   the URL of the whole result.
 *
 * `_meta["parley/shortened"]` is true if anything was left out.
 * @param url URL at which the caller can read the whole result
 */
export function fitResult(whole: CallResult, url: string): CallResult {
  if (bytesOf(whole) <= MOST_BYTES) return whole;
  const { structuredContent: _repeated, content, ...others } = whole;
  const shortened = { ...others, _meta: { ...(others['_meta'] as JsonObject | undefined), 'parley/shortened': true } };
  const room = MOST_BYTES - RESERVED - bytesOf(shortened);
  if (content.reduce((sum, block) => sum + bytesOf(block) + 1, 0) <= room) return { ...shortened, content };
  const link = {
    type: 'resource_link',
    uri: url,
    name: 'whole result',
    description: 'The result is too long for one answer. This URL has all of it, for the same credentials.',
    mimeType: 'application/json',
  };
  return { ...shortened, content: [...fittingBlocks(content, room), link] };
}

function fittingBlocks(blocks: readonly ContentBlock[], most: number): ContentBlock[] {
  let room = most;
  return blocks.flatMap((block) => {
    const kept = bytesOf(block) < room ? block : shortText(block);
    const size = kept === undefined ? Infinity : bytesOf(kept) + 1;
    if (kept === undefined || size > room) return [];
    room -= size;
    return [kept];
  });
}

/** Returns the beginning of a text block; `undefined` for another block. */
function shortText({ type, text }: ContentBlock): ContentBlock | undefined {
  if (type !== 'text' || typeof text !== 'string') return undefined;
  return { type: 'text', text: `${textStart(text, KEPT_TEXT)}\n[cut: the whole result has more]` };
}

function bytesOf(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}

import type { CalledTask } from '#libs/a2a-client';
import { briefText, contentLength, type Part, partAsLine, partKind, UNREAD_PARTS } from '#libs/protocol';

/** Content of a Message to a node. */
export interface NodeContent {
  /** Parts with the node's text and with the data or arguments from its definition. */
  own: Part[];
  /** Further Parts from the results of other nodes, in order. In the Message they follow `own`. */
  passed: Part[];
  /** Parts from the results of other nodes that the Message lacks, or that a line of text replaces. */
  leftOut: Part[];
}

/** Payload of the `parts.left-out` event: a summary of the Parts that were not passed on to a node. */
export interface LeftOutPayload {
  count: number;
  /** Kinds of the Parts, each once: `text`, `data`, or the media type of a file. */
  kinds: string[];
}

/** Maximum number of kinds in `LeftOutPayload`. */
const MOST_KINDS = 20;

/**
 * Limits the size of a Message: replaces each Part of `passed` that no longer fits by a line about that Part. `own` is
 * never changed.
 * @param room maximum number of characters of the whole Message
 * @returns the content, and the number of characters of the Parts that stay in `passed`
 */
export function fittedInto(room: number, content: NodeContent): NodeContent & { length: number } {
  let left = room - lengthOf(content.own);
  const leftOut = [...content.leftOut];
  let length = 0;
  const passed = content.passed.map((part) => {
    const own = lengthOf([part]);
    if (own > left) {
      leftOut.push(part);
      return partAsLine(part);
    }
    left -= own;
    length += own;
    return part;
  });
  return { own: content.own, passed, leftOut, length };
}

/** Returns the approximate number of characters of Parts as JSON. */
function lengthOf(parts: readonly Part[]): number {
  const members = parts.map(({ filename = '', mediaType = '', metadata }) => {
    return filename.length + mediaType.length + (metadata ? JSON.stringify(metadata).length : 0);
  });
  return contentLength(parts) + members.reduce((sum, length) => sum + length, 0);
}

/** Returns the payload of `parts.left-out` for Parts that were left out; `undefined` if there are none. */
export function leftOutPayload(parts: readonly Part[]): LeftOutPayload | undefined {
  if (parts.length === 0) return undefined;
  return { count: parts.length, kinds: [...new Set(parts.map(partKind))].toSorted().slice(0, MOST_KINDS) };
}

/**
 * Returns the payload of `parts.left-out` for Parts of an agent's answer that cannot be read; `undefined` if there are
 * none.
 */
export function unreadPayload({
  artifacts,
  reply,
  status,
}: Pick<CalledTask, 'artifacts' | 'reply' | 'status'>): LeftOutPayload | undefined {
  const kinds = [...artifacts, reply, status?.message].flatMap((it) => {
    const unread = it?.metadata?.[UNREAD_PARTS];
    return Array.isArray(unread) ? unread.filter((it) => typeof it === 'string') : [];
  });
  if (kinds.length === 0) return undefined;
  const named = [...new Set(kinds.map((kind) => briefText(kind)))].toSorted();
  return { count: kinds.length, kinds: named.slice(0, MOST_KINDS) };
}

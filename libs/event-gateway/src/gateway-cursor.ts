import { type A2AError, invalidParams } from '#libs/protocol';
import type { CommitPosition } from '#libs/tasks';

/** Position of a client in the log: a decoded cursor. */
export interface CursorPlace {
  /** Last completely received commit of each writer (a process that writes to the log), by the writer's name. */
  position: CommitPosition;
  /**
   * Numbers (`Frame.place`) of the first missing frame, by the name of each writer whose next commit was received in
   * part.
   */
  partly: ReadonlyMap<string, number>;
  /** Time of the last received commit, or of the start if no commit was received, by the clock of the database. */
  at: Date;
}

/** Form of a cursor. Numbers have no leading zeros, so each position has exactly one text. */
const FORMAT = /^(0|[1-9a-z][0-9a-z]{0,10})(~[\w-]{1,32}\.(0|[1-9a-z][0-9a-z]{0,12})(\.(0|[1-9]\d{0,8}))?)*$/;
const MAX_LENGTH = 64 * 1024;
/** Maximum position of a writer: positions are bigint in the database. */
const LAST_POSITION = 2n ** 63n - 1n;

/** Encodes a position as a cursor: an opaque text that needs no escaping in a URL. */
export function encodeCursor({ position, partly, at }: CursorPlace): string {
  let text = at.getTime().toString(36);
  for (const [writer, reached] of position) {
    const frames = partly.get(writer);
    text += `~${writer}.${reached.toString(36)}${frames === undefined ? '' : `.${frames}`}`;
  }
  for (const [writer, frames] of partly) if (!position.has(writer)) text += `~${writer}.0.${frames}`;
  return text;
}

/**
 * Decodes a cursor. Accepts exactly the texts that `encodeCursor` writes.
 * @throws A2AError INVALID_PARAMS naming `since`
 */
export function decodeCursor(text: string): CursorPlace {
  if (text.length > MAX_LENGTH || !FORMAT.test(text)) throw notACursor();
  const place = parseCursor(text);
  if (place === undefined || Number.isNaN(place.at.getTime())) throw notACursor();
  return place;
}

/**
 * Returns the part of a client's position that the log knows.
 * - Writers that are no longer in the log are left out, because the log no longer has their commits. If such a writer
 *   returns under the same name, its new positions are higher than all its earlier ones, so the client misses none of
 *   its new commits.
 * - If a position is ahead of the log, as after a failover that lost commits, it is replaced by the writer's last
 *   position in the log. The client then misses no later commit.
 * @param log position of each writer in the log, read after the client gave its position
 */
export function knownPlace({ position, partly, at }: CursorPlace, log: CommitPosition): CursorPlace {
  const known = new Map<string, bigint>();
  const begun = new Map<string, number>();
  for (const [writer, last] of log) {
    const reached = position.get(writer) ?? 0n;
    if (position.has(writer)) known.set(writer, reached < last ? reached : last);
    const frames = partly.get(writer);
    if (frames !== undefined && reached < last) begun.set(writer, frames);
  }
  return { position: known, partly: begun, at };
}

export function notACursor(): A2AError {
  return invalidParams({ field: 'since', description: 'is not a cursor of this service' });
}

/** Parses a cursor. @returns `undefined` if a writer is named twice, or a position exceeds the maximum */
function parseCursor(text: string): CursorPlace | undefined {
  const position = new Map<string, bigint>();
  const partly = new Map<string, number>();
  const end = endOfEntry(text, 0);
  for (let start = end + 1, next; start <= text.length; start = next + 1) {
    next = endOfEntry(text, start);
    const dot = text.indexOf('.', start);
    const second = text.indexOf('.', dot + 1);
    const hasFrames = second !== -1 && second < next;
    const writer = text.slice(start, dot);
    const commit = parseBase36(text.slice(dot + 1, hasFrames ? second : next));
    if (commit > LAST_POSITION || position.has(writer)) return undefined;
    position.set(writer, commit);
    if (hasFrames) partly.set(writer, Number(text.slice(second + 1, next)));
  }
  return { position, at: new Date(Number.parseInt(text.slice(0, end), 36)), partly };
}

function endOfEntry(text: string, start: number): number {
  const end = text.indexOf('~', start);
  return end === -1 ? text.length : end;
}

/** Number of base-36 digits that a number represents exactly. */
const EXACT_DIGITS = 10;

function parseBase36(text: string): bigint {
  if (text.length <= EXACT_DIGITS) return BigInt(Number.parseInt(text, 36));
  let value = 0n;
  for (const digit of text) value = value * 36n + BigInt(Number.parseInt(digit, 36));
  return value;
}

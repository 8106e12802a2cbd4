import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endOfJsonString, unfitValue } from '#libs/protocol';
import { malformedRequest } from '../problems/problem.js';
import { refusedName } from './refused-names.js';

/** Maximum nesting of a caller's JSON; deeper values break recursive writers. */
const MAX_DEPTH = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
/** Minimum number of characters of a member or element. */
const CHARACTERS_PER_MEMBER = 2;

type BodyCallback = (error: Error | null, body?: unknown) => void;

/** Schedules the reading of a body: at once, or for a costly one in its caller's turn; or refuses it. */
export type BodyTurn = (
  request: FastifyRequest,
  bytes: number,
  read: () => void,
  refuse: (error: Error) => void,
) => void;

/**
 * Creates a parser of JSON bodies. Beyond Fastify's own it rejects bodies with too many members before parsing, and
 * bodies that are not UTF-8, and it names rejected member names.
 * @param inTurn schedules the reading of each body; absent: at once
 * @throws ProblemError 400, through its callback
 */
export function jsonBodyParser(
  fastify: FastifyInstance,
  limit: number,
  inTurn: BodyTurn = (_request, _bytes, read) => read(),
): (request: FastifyRequest, body: Buffer, done: BodyCallback) => void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  const parseBody = (request: FastifyRequest, body: Buffer, done: BodyCallback): void => {
    const text = body.toString();
    if (!isUtf8(body)) done(malformedRequest({ path: '', detail: 'the body must be UTF-8' }));
    else if (hasMoreMembers(text, limit))
      done(malformedRequest({ path: '', detail: `the body ${tooManyMembers(limit)}` }));
    else if (namesPrototype(text)) {
      void parse(request, text, (error, read) => done(error && (refusedName(text) ?? error), read));
    } else parseOr(() => void parse(request, text, done), text, done);
  };
  return (request, body, done) => inTurn(request, body.length, () => parseBody(request, body, done), done);
}

/** Names of members that Fastify rejects, and the start of an escape that may spell one of their letters. */
const SUSPICIOUS = ['__proto__', 'constructor', 'u00'];

/**
 * True if a text may have a member name that Fastify rejects. A pre-check: Fastify's own search takes longer than
 * parsing.
 */
function namesPrototype(text: string): boolean {
  return SUSPICIOUS.some((it) => text.includes(it));
}

/** Parses a text. If that fails, lets Fastify report the problem or accept a text that is not quite JSON. */
function parseOr(refuse: () => void, text: string, done: BodyCallback): void {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return refuse();
  }
  done(null, read);
}

/**
 * Rejects JSON that can be parsed but not written again. Uses no recursion.
 * @throws ProblemError 400 for nesting beyond the limit, and for an infinite number: `1e999` parses as Infinity and
 * would be written as `null`
 */
export function refuseUnfitJson(body: unknown): void {
  const unfit = unfitValue(body, MAX_DEPTH);
  if (unfit === undefined) return;
  const { reason, path, detail } = unfit;
  throw malformedRequest({
    path,
    detail: reason === 'deep' ? `the body is nested deeper than ${MAX_DEPTH} levels` : detail,
  });
}

/**
 * True if a JSON text has more members and elements than `limit`. Runs before parsing: a megabyte of empty lists
 * becomes a hundred megabytes of values. The result is unspecified for text that is not JSON.
 */
export function hasMoreMembers(text: string, limit: number): boolean {
  if (text.length < limit * CHARACTERS_PER_MEMBER) return false;
  let members = 0;
  let opened = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x20) continue;
    // A bracket is followed by the first member, unless by the closing bracket.
    if (code === COMMA || (opened && !isClosing(code))) members += 1;
    if (members > limit) return true;
    if (code === QUOTE) index = endOfJsonString(text, index);
    opened = isOpening(code);
  }
  return false;
}

function isOpening(code: number): boolean {
  return code === 0x5b || code === 0x7b;
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d;
}

/** Returns the error text for JSON with too many members. */
export function tooManyMembers(limit: number): string {
  return `has more than ${limit} members and elements (JSON_MEMBERS_LIMIT)`;
}

import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endOfJsonString, unfitValue } from '#libs/protocol';
import { malformed } from '../problems/problem.js';
import { refusedName } from './refused-names.js';

/** How deep a caller's JSON may be nested; what is deeper breaks writers that recurse. */
const MAX_DEPTH = 100;

const QUOTE = 0x22;
const COMMA = 0x2c;
/** Fewer characters than that many members and elements need. */
const CHARACTERS_PER_MEMBER = 2;

type Done = (error: Error | null, body?: unknown) => void;

/** Reads a body at once, or, where it is costly, in its caller's turn; or refuses it. */
export type BodyTurn = (
  request: FastifyRequest,
  bytes: number,
  read: () => void,
  refuse: (error: Error) => void,
) => void;

/**
 * A parser of JSON bodies that refuses one with too many members before it is parsed, and one that is not UTF-8, and says
 * which names are refused. Else it is Fastify's own.
 * @param inTurn reads each body; at once where it is absent
 * @throws ProblemError 400, by its callback
 */
export function jsonBodyParser(
  fastify: FastifyInstance,
  limit: number,
  inTurn: BodyTurn = (_request, _bytes, read) => read(),
): (request: FastifyRequest, body: Buffer, done: Done) => void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  const read = (request: FastifyRequest, body: Buffer, done: Done): void => {
    const text = body.toString();
    if (!isUtf8(body)) done(malformed({ path: '', detail: 'the body must be UTF-8' }));
    else if (hasMoreMembers(text, limit)) done(malformed({ path: '', detail: `the body ${tooManyMembers(limit)}` }));
    else if (namesPrototype(text)) {
      void parse(request, text, (error, read) => done(error && (refusedName(text) ?? error), read));
    } else parseOr(() => void parse(request, text, done), text, done);
  };
  return (request, body, done) => inTurn(request, body.length, () => read(request, body, done), done);
}

/** Names of members that Fastify refuses, and what may stand for a letter of them, behind its backslash. */
const SUSPICIOUS = ['__proto__', 'constructor', 'u00'];

/** True if a member may be called as Fastify refuses it: its own search takes longer than it takes to parse the text. */
function namesPrototype(text: string): boolean {
  return SUSPICIOUS.some((it) => text.includes(it));
}

/** Parses a text, or has Fastify say what is wrong with it, which takes some texts that are not quite JSON. */
function parseOr(refuse: () => void, text: string, done: Done): void {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return refuse();
  }
  done(null, read);
}

/**
 * Refuses what can be read and not written again. Uses no stack of its own for what is deep.
 * @throws ProblemError 400 for a body that is nested too deep, and for a number that is none: `1e999` is read as Infinity,
 * and would be written as `null`
 */
export function refuseUnfitJson(body: unknown): void {
  const unfit = unfitValue(body, MAX_DEPTH);
  if (unfit === undefined) return;
  const { reason, path, detail } = unfit;
  throw malformed({ path, detail: reason === 'deep' ? `the body is nested deeper than ${MAX_DEPTH} levels` : detail });
}

/**
 * Whether a JSON text has more members of objects and elements of lists than that. It is told before the text is parsed:
 * a megabyte of empty lists is a hundred megabytes of values. Of a text that is no JSON it tells nothing.
 */
export function hasMoreMembers(text: string, limit: number): boolean {
  if (text.length < limit * CHARACTERS_PER_MEMBER) return false;
  let members = 0;
  let opened = false;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0x20) continue;
    // What follows a bracket is the first member, unless it is the other bracket.
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

/** How a text is refused that has too many of them. */
export function tooManyMembers(limit: number): string {
  return `has more than ${limit} members and elements (JSON_MEMBERS_LIMIT)`;
}

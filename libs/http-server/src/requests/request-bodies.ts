import { RouteConfig } from '@nestjs/platform-fastify';
import { errorCodes, type FastifyInstance, type FastifyRequest } from 'fastify';
import { isUtf8 } from 'node:buffer';
import { finished, type Readable } from 'node:stream';
import { forClient } from '#libs/postgres';
import { endOfJsonString, type JsonValue, textStart, unfitMember } from '#libs/protocol';
import { malformedRequest, type ProblemError } from '../problem.js';

/** Maximum nesting depth at which JSON is searched for a rejected member name. */
const MAX_NAME_DEPTH = 100;
const LONGEST_PATH = 200;
const REFUSED = 'must not be the name of a member: JavaScript treats it as the prototype of an object';

/**
 * Returns the error for a JSON body that Fastify rejects because of a member name (`__proto__`, or `prototype` in
 * `constructor`); `undefined` if no such name is the reason.
 */
function refusedName(text: string): ProblemError | undefined {
  const path = pathIn(text);
  return path === undefined ? undefined : malformedRequest({ path: textStart(path, LONGEST_PATH), detail: REFUSED });
}

function pathIn(text: string): string | undefined {
  let level: [path: string, value: unknown][];
  try {
    level = [['', JSON.parse(text)]];
  } catch {
    return undefined;
  }
  for (let depth = 0; level.length > 0 && depth <= MAX_NAME_DEPTH; depth += 1) {
    for (const [path, value] of level) {
      const name = nameIn(value);
      if (name !== undefined) return path === '' ? name : `${path}.${name}`;
    }
    level = level.flatMap(([path, value]) => entriesOf(path, value));
  }
  return undefined;
}

function nameIn(value: unknown): string | undefined {
  if (!isAnyObject(value)) return undefined;
  if (Object.hasOwn(value, '__proto__')) return '__proto__';
  const inner = Object.hasOwn(value, 'constructor') ? value['constructor'] : undefined;
  return isAnyObject(inner) && Object.hasOwn(inner, 'prototype') ? 'constructor.prototype' : undefined;
}

function entriesOf(path: string, value: unknown): [string, unknown][] {
  if (Array.isArray(value)) return value.map((entry, index) => [`${path}[${index}]`, entry]);
  if (!isAnyObject(value)) return [];
  return Object.entries(value).map(([name, it]) => [path === '' ? name : `${path}.${name}`, it]);
}

/** True for objects, lists included. */
export function isAnyObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
/** Minimum number of characters that a member or element of JSON takes. */
const CHARACTERS_PER_MEMBER = 2;

type BodyCallback = (error: Error | null, body?: unknown) => void;

/**
 * Function that decides when a body is read. For a small body it calls `read` at once. For a body that is costly to
 * parse, it calls `read` as soon as the caller gets its turn on the event loop. If too many requests of the caller wait
 * already, it calls `refuse` with an error.
 */
export type BodyTurn = (
  request: FastifyRequest,
  bytes: number,
  read: () => void,
  refuse: (error: Error) => void,
) => void;

/**
 * Creates a parser of JSON bodies. Unlike Fastify's own parser, it rejects bodies with too many members before parsing
 * and bodies that are not UTF-8, and its errors name the path of a rejected member name.
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

/**
 * Texts that occur in member names which Fastify rejects: the names, and the start of an escape sequence by which one
 * of their letters may be written.
 */
const SUSPICIOUS = ['__proto__', 'constructor', 'u00'];

/**
 * True if a text may have a member name that Fastify rejects. This fast check comes first, because Fastify's own
 * search takes longer than parsing.
 */
function namesPrototype(text: string): boolean {
  return SUSPICIOUS.some((it) => text.includes(it));
}

/**
 * Parses a JSON text, and passes the value to `done`. If the text cannot be parsed, calls `refuse` instead, which lets
 * Fastify's own parser report the problem, or accept the text.
 */
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
  const unfit = unfitMember(body);
  if (unfit) throw malformedRequest(unfit);
}

/** Parses JSON that `refuseUnfitJson` accepts; `undefined` for any other text. */
export function tryParseFitJson(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    refuseUnfitJson(value);
    return value;
  } catch {
    return undefined;
  }
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

/**
 * Number of bytes that a streamed body counts in InFlight (memory of requests in progress), whatever its length. The
 * body is read piece by piece, so no more of it is in memory at once.
 */
export const STREAMED_BODY_BYTES = 256 * 1024;

/**
 * Maximum number of bytes read from a streamed body after its request was refused; a client that sends more is
 * disconnected.
 */
const MOST_DRAINED = 64 * 1024 ** 2;
const LONGEST_DRAIN_MS = 10_000;

/**
 * Media type of streamed bodies, for Fastify to find their parser; handlers read the client's own type from
 * `request.raw`.
 */
const STREAMED = 'application/vnd.parley.streamed-body';

interface StreamedRouteConfig {
  streamsBody?: boolean;
}

/**
 * Decorates a handler whose `@Body()` is the body as a stream, of any media type and length. The handler enforces
 * limits, and reads the stream to its end or passes it to `drainBody`.
 */
export const StreamedBody = (): MethodDecorator => RouteConfig({ streamsBody: true } satisfies StreamedRouteConfig);

/** True if the route of a request reads the body as a stream, to which the limits of whole bodies do not apply. */
export function streamsBody({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>): boolean {
  return (routeOptions.config as StreamedRouteConfig | undefined)?.streamsBody === true;
}

/** Passes bodies to the handlers decorated with `StreamedBody`. Call it before routes are registered. */
export function acceptStreamedBodies(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    // Before the parsers run: a parser for JSON or forms must not read the body.
    if (streamsBody(request)) request.headers = { 'content-type': STREAMED };
    done();
  });
  fastify.addContentTypeParser(STREAMED, (request, payload, done) => {
    if (streamsBody(request)) done(null, payload);
    else done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(STREAMED));
  });
}

/**
 * Reads and drops the rest of a body, so that a client that is still sending sees the answer. Resolves at the end of
 * the body; after 64 MiB or ten seconds, closes the connection instead.
 */
export function drainBody(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const countChunk = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > MOST_DRAINED) body.destroy();
    };
    const timer = setTimeout(() => body.destroy(), LONGEST_DRAIN_MS).unref();
    finished(body, { writable: false }, () => {
      clearTimeout(timer);
      resolve();
    });
    body.on('data', countChunk).resume();
  });
}

const READS_API = /^\/api(\/|\?|$)/;

/** Aborts a GET of `/api` when its client leaves. Operations of other methods continue without their client. */
export function endReadsOfGoneClients(fastify: FastifyInstance): void {
  fastify.addHook('preHandler', ({ method, url }, { raw }, done) => {
    if (method !== 'GET' || !READS_API.test(url)) return done();
    forClient((gone) => !raw.closed && raw.once('close', gone) === raw, done);
  });
}

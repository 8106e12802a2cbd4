import {
  type GrpcRequester,
  type OutboundAnswer,
  type OutboundCall,
  type OutboundRequester,
  type OutboundTimes,
  OutboundTooLongError,
  type SendGate,
} from '#libs/http-client';
import { hasMoreMembers, tooManyMembers } from '#libs/http-server';
import { InvalidProtocolValue, isJsonObject, type JsonObject, refuseUnfitText, UnfitJson } from '#libs/protocol';
import { type AnswerPlace, type ContentLimits, DEFAULT_CONTENT_LIMITS, withinTime } from '#libs/service';
import { AgentCallError } from './agent-call-error.js';
import type { AgentCallOptions } from './agent-client.js';
import { networkFailure, statusFailure } from './call-failure.js';
import { applyProof, type RequestAuth } from './request-signers.js';
import { type SseEvent, sseEvents } from './sse-events.js';

/** `fetch` with time limits in milliseconds; 0 turns a limit off. */
export type AgentFetch = (
  input: string | URL | Request,
  init?: RequestInit & { firstByteMs?: number; idleMs?: number; gate?: SendGate | undefined },
) => Promise<Response>;

/** Functions of the outbound HTTP client that are needed to call agents. OutboundHttp implements them. */
export interface AgentHttp {
  readonly fetch: AgentFetch;
  /** GET through an HTTP cache that honors `max-age` and `ETag`. */
  readonly cachedFetch: AgentFetch;
  /**
   * Makes calls without objects of the Fetch API, since creating these objects costs more than the call itself. Absent:
   * `fetch` is used.
   */
  readonly request?: OutboundRequester;
  readonly cachedRequest?: OutboundRequester;
  /**
   * Returns the time, in milliseconds since 1970, until which the HTTP cache answers a GET without a request; 0 if a
   * GET needs a request now. Absent: each GET needs a request.
   */
  readonly freshUntil?: (url: URL, headers: Record<string, string>) => number;
  /** Makes gRPC calls. Absent: agents are not called over gRPC. */
  readonly requestGrpc?: GrpcRequester;
}

/** Returns a `request` function that calls the given `fetch`. */
export function fetchRequester(send: AgentFetch): OutboundRequester {
  return async ({ url, ...init }) => new FetchedAnswer(await send(url.href, init));
}

/** Adapts a Response of `fetch` to the OutboundAnswer that `request` returns. */
export class FetchedAnswer implements OutboundAnswer {
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(private readonly response: Response) {}

  get status(): number {
    return this.response.status;
  }

  getHeader(name: string): string | undefined {
    return this.response.headers.get(name) ?? undefined;
  }

  async readText(maxBytes: number): Promise<string> {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of this.readPieces()) {
      bytes += piece.byteLength;
      if (bytes > maxBytes) throw new OutboundTooLongError(maxBytes);
      pieces.push(piece);
    }
    return Buffer.concat(pieces, bytes).toString();
  }

  async *readPieces(): AsyncIterable<Uint8Array> {
    this.#reader = this.response.body?.getReader();
    try {
      for (let next = await this.#reader?.read(); next?.value; next = await this.#reader?.read()) yield next.value;
    } finally {
      this.discardBody();
    }
  }

  discardBody(): void {
    (this.#reader ?? this.response.body)?.cancel().catch(() => undefined);
  }
}

/** Maximum nesting of an answer's JSON; deeper values break recursive readers and writers. */
export const DEEPEST_ANSWER = 500;

/** Creates the failure for an answer whose JSON has more members and elements than are parsed. */
export function tooManyAnswerMembers(mostMembers: number): AgentCallError {
  return new AgentCallError('invalid-response', `the answer ${tooManyMembers(mostMembers)}`);
}

/**
 * Returns the text unchanged after checking its JSON: at most `mostMembers` members, nested no deeper than
 * DEEPEST_ANSWER, and no infinite number, so that the value can be written as it was read.
 * @throws AgentCallError `invalid-response`
 */
export function requireParsable(text: string, mostMembers: number): string {
  if (hasMoreMembers(text, mostMembers)) throw tooManyAnswerMembers(mostMembers);
  try {
    refuseUnfitText(text, DEEPEST_ANSWER);
  } catch (cause) {
    if (!(cause instanceof UnfitJson)) throw cause;
    throw new AgentCallError('invalid-response', `the agent's answer is not A2A: ${cause.message}`, { cause });
  }
  return text;
}

/** Maximum number of bytes of the decoded body of an error. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Milliseconds within which the body of an error must arrive after the headers. */
const LONGEST_MS = 5_000;

/**
 * Reads the body of an agent's error as `responseErrorBody` does. The body of a 5xx is discarded, and `''` is returned.
 */
export async function errorBody(answer: OutboundAnswer, mostMembers: number): Promise<string> {
  if (answer.status < 500) return readErrorText(answer, mostMembers);
  answer.discardBody();
  return '';
}

/**
 * Reads the body of a response whose HTTP status is an error. The text only helps to explain that status, so this
 * function never throws.
 * @param mostMembers maximum number of members and elements of the body's JSON
 * @returns the text; `''` for a body that is longer than 64 KiB, takes longer than five seconds, or exceeds
 *   `mostMembers`
 */
export function responseErrorBody(response: Response, mostMembers: number): Promise<string> {
  return readErrorText(new FetchedAnswer(response), mostMembers);
}

async function readErrorText(answer: OutboundAnswer, mostMembers: number): Promise<string> {
  try {
    return requireParsable((await withinTime(answer.readText(MAX_ERROR_BYTES), LONGEST_MS)) ?? '', mostMembers);
  } catch {
    return '';
  } finally {
    answer.discardBody();
  }
}

/** Name of the limit of an answer (`ContentLimits.answer`), as it appears in the error for a longer answer. */
export const ANSWER_LIMIT_NAME = 'twice BODY_LIMIT, at least 16 MiB';

/** Creates the failure for an answer that is longer than its limit. */
export function tooLongAnswer(maxBytes: number, limitName?: string): AgentCallError {
  const message = `the answer is longer than ${maxBytes} bytes${limitName === undefined ? '' : ` (${limitName})`}`;
  return new AgentCallError('invalid-response', message, { cause: new OutboundTooLongError(maxBytes) });
}

/**
 * Maximum `content-length`, in bytes, of an answer that is read without counting its bytes toward the memory for
 * answers (`place`).
 */
const SHORT_ANSWER = 64 * 1024;

/** Successful answer of an agent. Its body can be read only once, and a failure to read it is an AgentCallError. */
export interface AgentAnswer {
  readonly contentType: string;
  readText(): Promise<string>;
  readPieces(): AsyncIterable<Uint8Array>;
  /** Maximum number of JSON members of the whole answer (`readText`), or of one event of a stream. */
  readonly mostMembers: number;
  /** Maximum number of characters of one event of a stream. */
  readonly longestEvent: number;
  /**
   * Account of the answer's memory, which counts toward the limit for all answers (ReceivedAnswers); absent: the memory
   * of this answer is not limited.
   */
  readonly place?: AnswerPlace | undefined;
}

/** HTTP request to an agent. The CallAttempt that the `signal` belongs to enforces the time limits. */
interface AgentHttpCall extends Omit<OutboundCall, keyof OutboundTimes> {
  /** Called for every received piece of the answer's body. The CallAttempt then restarts its limit for silence. */
  alive?: () => void;
  place?: AnswerPlace | undefined;
  /** Maximum number of bytes of an answer that is no stream; default `ContentLimits.answer`. */
  maxBytes?: number;
  auth?: RequestAuth;
  fence?: AgentCallOptions['fence'];
}

/**
 * Members of a call that are needed to read a body: `alive` is called for each piece, `place` counts the memory that
 * the body takes, and `signal` aborts the reading.
 */
interface PieceWatch {
  alive: (() => void) | undefined;
  place: AnswerPlace | undefined;
  signal: AbortSignal | undefined;
}

export type AgentRequest = (call: AgentHttpCall) => Promise<AgentAnswer>;

/**
 * Returns a function that calls agents and resolves only for successful answers (2xx). Any other outcome rejects with
 * an AgentCallError: a 5xx, a 4xx (with the agent's error), or a network failure, also in the middle of a body.
 */
export function agentRequest(
  send: OutboundRequester,
  {
    jsonMembers: mostMembers,
    answer: longestEvent,
  }: Pick<ContentLimits, 'answer' | 'jsonMembers'> = DEFAULT_CONTENT_LIMITS,
): AgentRequest {
  return async ({ alive, auth, fence, place, maxBytes, ...call }) => {
    try {
      const gate = (await fence?.()) ?? undefined;
      const signed = auth && applyProof(auth, call.url, call.headers);
      const answer = await send({ ...call, ...signed, firstByteMs: 0, idleMs: 0, gate });
      const { status } = answer;
      const watch = { alive, place, signal: call.signal };
      const limit = maxBytes === undefined ? { bytes: longestEvent, name: ANSWER_LIMIT_NAME } : { bytes: maxBytes };
      if (status >= 200 && status < 300) {
        return {
          contentType: answer.getHeader('content-type') ?? '',
          mostMembers,
          longestEvent,
          place,
          readText: async () => requireParsable(await readAnswerText(answer, watch, limit), mostMembers),
          readPieces: () => watchPieces(answer.readPieces(), watch),
        };
      }
      const retryAfter = answer.getHeader('retry-after');
      const refused = { retryAfter, sentBytes: call.body === undefined ? undefined : Buffer.byteLength(call.body) };
      throw statusFailure(status, await errorBody(answer, mostMembers), refused);
    } catch (error) {
      throw networkFailure(error);
    }
  };
}

function throwNetworkFailure(error: unknown): never {
  throw networkFailure(error);
}

/** Size limit of an answer that is no stream. */
interface AnswerLimit {
  bytes: number;
  /** Name of the limit, as it appears in the error for a longer answer. */
  name?: string;
}

/** Reads the text of an answer that is no stream. */
async function readAnswerText(answer: OutboundAnswer, watch: PieceWatch, limit: AnswerLimit): Promise<string> {
  watch.place?.setPending(0);
  const length = Number(answer.getHeader('content-length') ?? Infinity);
  if (length <= SHORT_ANSWER && answer.getHeader('content-encoding') === undefined)
    return await answer.readText(SHORT_ANSWER).catch(throwNetworkFailure);
  const pieces: Uint8Array[] = [];
  let bytes = Number.isFinite(length) && length > limit.bytes ? length : 0;
  for await (const piece of watchPieces(answer.readPieces(), watch)) {
    bytes += piece.byteLength;
    if (bytes > limit.bytes) throw tooLongAnswer(limit.bytes, limit.name);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, bytes).toString();
}

/**
 * Yields the pieces of a body. Calls `alive` for each piece, even a heartbeat, and waits until the memory for answers
 * has room for the piece.
 */
async function* watchPieces(
  pieces: AsyncIterable<Uint8Array>,
  { alive, place, signal }: PieceWatch,
): AsyncIterable<Uint8Array> {
  try {
    for await (const piece of pieces) {
      alive?.();
      const room = place?.countRead(piece.byteLength, signal);
      if (room) await room;
      yield piece;
    }
  } catch (error) {
    throw networkFailure(error);
  }
}

/** Parses a JSON object. @throws InvalidProtocolValue */
export function jsonObjectOf(text: string): JsonObject {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new InvalidProtocolValue('it is not JSON');
  }
  if (!isJsonObject(json)) throw new InvalidProtocolValue('it is not a JSON object');
  return json;
}

/**
 * Opens the stream of the events of an answer.
 * @param refuse called with the body of an answer that is no stream of events; throws the agent's error, if the body
 *   has one
 * @throws InvalidProtocolValue if the answer is no stream of events, and `refuse` has thrown nothing
 */
export async function openEvents(
  answer: AgentAnswer,
  refuse: (body: string) => unknown,
): Promise<AsyncIterable<SseEvent>> {
  if (!/^text\/event-stream\b/i.test(answer.contentType)) {
    refuse(await answer.readText());
    throw new InvalidProtocolValue('it is not a stream of events');
  }
  const reportPending = (characters: number): void => answer.place?.setPending(characters);
  reportPending(0);
  const { longestEvent, mostMembers } = answer;
  return sseEvents(answer.readPieces(), longestEvent, reportPending, ANSWER_LIMIT_NAME, (data) =>
    requireParsable(data, mostMembers),
  );
}

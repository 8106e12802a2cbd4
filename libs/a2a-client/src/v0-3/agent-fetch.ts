import { A2A_ERRORS } from '#libs/protocol';
import { type ContentLimits, DEFAULT_CONTENT_LIMITS } from '#libs/service';
import type { AgentCallError } from '../agent-call-error.js';
import {
  type AgentFetch,
  ANSWER_LIMIT_NAME,
  errorBody,
  FetchedAnswer,
  requireParsable,
  tooLongAnswer,
} from '../agent-request.js';
import { errorOf, errorText, networkFailure, rpcFailure, statusFailure, tryParseObject } from '../call-failure.js';
import { applyProof } from '../request-signers.js';
import { sseEvents } from '../sse-events.js';
import { callTraceHeaders, type TransportOptions } from '../transports/agent-transport.js';
import { readableAnswer, readableFrame } from './legacy-frames.js';

/**
 * Maximum `content-length`, in bytes, of an answer that is passed on without calling `alive`, and without counting its
 * bytes toward the memory for answers (`place`).
 */
const UNWATCHED_BYTES = 64 * 1024;
/** Disabled time limits of the outbound client: the limits of the CallAttempt apply. */
const NO_LIMITS = { firstByteMs: 0, idleMs: 0 };

/**
 * Members of a call that reading a response needs: `alive` and `onSkipped` are called as it arrives, `place` records
 * the memory that it takes, and `signal` ends the reading.
 */
type ResponseWatch = Partial<Pick<TransportOptions, 'alive' | 'onSkipped' | 'place' | 'signal'>>;

/** Limits of an answer, or of one event of a stream. */
type FetchedAnswerLimits = Pick<ContentLimits, 'answer' | 'jsonMembers'>;

/** Options of calls, by signal: the SDK passes only the signal to `fetch`. */
const CALLS = new WeakMap<
  AbortSignal,
  Pick<TransportOptions, 'alive' | 'auth' | 'fence' | 'onSkipped' | 'place' | 'signal' | 'trace'>
>();

/** Stores the options of a call under its signal, for `agentFetch`: the SDK passes only the signal on to `fetch`. */
export function bindCall({ signal, alive, auth, fence, onSkipped, place, trace }: TransportOptions): void {
  const given = { ...(onSkipped && { onSkipped }), ...(place && { place }), ...(trace && { trace }) };
  CALLS.set(signal, { signal, alive, auth, fence, ...given });
}

/**
 * Returns a `fetch` for the SDK that resolves only for successful responses (2xx). Any other outcome rejects with an
 * AgentCallError: a 5xx, a 4xx (with the agent's error), or a network failure, also in the middle of a body.
 */
export function agentFetch(send: AgentFetch, bounds: FetchedAnswerLimits = DEFAULT_CONTENT_LIMITS): typeof fetch {
  return async (input, given) => {
    const call: Partial<TransportOptions> = (given?.signal && CALLS.get(given.signal)) || {};
    const { auth, fence, trace } = call;
    const init = trace ? { ...given, headers: { ...headersOf(given), ...callTraceHeaders({ trace }) } } : given;
    const { url = input, ...signed } = (auth && applyProof(auth, urlOf(input), headersOf(init))) || {};
    const gate = (await fence?.()) ?? undefined;
    const response = await send(url, { ...init, ...signed, ...NO_LIMITS, gate }).catch((error: unknown) => {
      throw networkFailure(error);
    });
    if (!response.ok) throw await readResponseFailure(response, bounds.jsonMembers, given?.body);
    return parsableResponse(watchResponse(response, bounds, call), bounds, call);
  };
}

function urlOf(input: string | URL | Request): URL {
  return new URL(input instanceof Request ? input.url : input);
}

function headersOf(init: RequestInit | undefined): Record<string, string> {
  return Object.fromEntries(new Headers(init?.headers));
}

async function readResponseFailure(
  response: Response,
  mostMembers: number,
  sent: RequestInit['body'],
): Promise<AgentCallError> {
  const retryAfter = response.headers.get('retry-after') ?? undefined;
  const refused = { retryAfter, sentBytes: typeof sent === 'string' ? Buffer.byteLength(sent) : undefined };
  return statusFailure(response.status, await errorBody(new FetchedAnswer(response), mostMembers), refused);
}

function watchResponse(response: Response, { answer }: FetchedAnswerLimits, call: ResponseWatch): Response {
  if (!response.body || isShort(response)) return response;
  const body = watchedBody(response.body.getReader(), isStream(response) ? Infinity : answer, call);
  return new Response(body, responseInit(response));
}

/**
 * Returns a response after a check that its JSON can be parsed; checks the events of a stream one by one as they
 * arrive.
 */
async function parsableResponse(
  response: Response,
  bounds: FetchedAnswerLimits,
  call: ResponseWatch,
): Promise<Response> {
  if (!response.body) return response;
  if (!isStream(response)) {
    const text = requireParsable(await response.text(), bounds.jsonMembers);
    return new Response(readableAnswer(text), responseInit(response));
  }
  const reader = response.body.getReader();
  return new Response(bodyOfFrames(framesOf(piecesOf(reader), bounds, call), reader), responseInit(response));
}

/**
 * Converts frames to a body. Canceling it cancels the reader of the received body, even while a frame is awaited;
 * `ReadableStream.from` would wait for that frame.
 */
function bodyOfFrames(
  frames: AsyncIterable<Uint8Array<ArrayBuffer>>,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = frames[Symbol.asyncIterator]();
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> => {
    const next = await iterator.next();
    if (next.done) controller.close();
    else controller.enqueue(next.value);
  };
  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
}

async function* piecesOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function* framesOf(
  pieces: AsyncIterable<Uint8Array>,
  { answer, jsonMembers }: FetchedAnswerLimits,
  { place, onSkipped }: ResponseWatch,
): AsyncIterable<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const reportPending = (characters: number): void => place?.setPending(characters);
  for await (const { type, data } of sseEvents(pieces, answer, reportPending, ANSWER_LIMIT_NAME)) {
    const frame = requireParsable(data, jsonMembers);
    const failure = restFailure(type, frame);
    if (failure) throw failure;
    const lines = readableFrame(frame)?.split('\n');
    if (lines === undefined) {
      onSkipped?.();
      continue;
    }
    yield encoder.encode(`event: ${type}\n${lines.map((line) => `data: ${line}\n`).join('')}\n`);
  }
}

/**
 * Reads the error in an event of a stream over REST; `undefined` if the event is no error. Accepts every form of such
 * an error, whereas the SDK accepts only one form.
 */
function restFailure(type: string, frame: string): AgentCallError | undefined {
  const body = tryParseObject(frame);
  if (body === undefined || 'jsonrpc' in body) return undefined;
  return errorOf(body) ?? (type === 'error' ? rpcFailure(A2A_ERRORS.INTERNAL.code, errorText(body)) : undefined);
}

function isShort({ headers }: Response): boolean {
  const length = headers.get('content-length');
  return length !== null && Number(length) <= UNWATCHED_BYTES;
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** Returns status and headers for a response with another body: without `content-length`. */
function responseInit({ status, statusText, headers }: Response): ResponseInit {
  const kept = new Headers(headers);
  kept.delete('content-length');
  return { status, statusText, headers: kept };
}

function watchedBody(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
  { alive, place, signal }: ResponseWatch,
): ReadableStream<Uint8Array> {
  let received = 0;
  place?.setPending(0);
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const chunk = await reader.read();
        if (chunk.done) return controller.close();
        alive?.();
        await place?.countRead(chunk.value.byteLength, signal);
        received += chunk.value.byteLength;
        if (received > limit) throw tooLongAnswer(limit, ANSWER_LIMIT_NAME);
        controller.enqueue(chunk.value);
      } catch (error) {
        controller.error(networkFailure(error));
        await reader.cancel().catch(() => undefined);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

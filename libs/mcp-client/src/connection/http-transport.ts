import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import {
  AgentCallError,
  applyProof,
  networkFailure,
  type RequestAuth,
  RequestSigners,
  type SigningRequest,
} from '#libs/a2a-client';
import type { OutboundFetch } from '#libs/http-client';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '#libs/protocol';
import { Backoff } from '#libs/service';
import { type AnswerAccount, type BodyBounds, boundedBody } from './bounded-body.js';

/** Minimum pauses in milliseconds before an ended stream is reopened, whatever the server requests. */
const BACKOFF = new Backoff(1_000, 10_000);
/** Maximum pause in milliseconds that a server may request. */
const LONGEST_ASKED_MS = 60_000;
/** Milliseconds without an ended stream before the pauses between reopenings start at the minimum again. */
const QUIET_MS = 120_000;
/** Interval in milliseconds over which recent requests are counted. */
const WINDOW_MS = 60_000;

/**
 * Decides how long to wait before an ended stream of one server is reopened (backoff).
 * - A pause takes at least one second. It doubles with each ended stream, up to ten seconds.
 * - Each concurrent request has its own stream. Therefore the number of ended streams is first divided by half the
 *   number of recent requests (WINDOW_MS).
 * - The server may request a longer pause, up to a minute.
 */
export class ReconnectPace {
  private requests = 0;
  private windowEnd = 0;
  private reconnects = 0;
  private last = 0;

  /** @param now monotonic clock in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Counts a sent request. Each request may have its own stream, so after many requests more streams may end before the
   * pauses grow (see `nextPause`).
   */
  noteRequest(): void {
    if (this.now() >= this.windowEnd) {
      this.requests = 0;
      this.windowEnd = this.now() + WINDOW_MS;
    }
    this.requests += 1;
  }

  /**
   * Returns the pause before a stream is reopened, in milliseconds.
   * @param asked pause in milliseconds that the server requests
   */
  nextPause(asked: number): number {
    const now = this.now();
    if (now - this.last > QUIET_MS) this.reconnects = 0;
    this.last = now;
    const streams = now < this.windowEnd ? Math.max(1, this.requests / 2) : 1;
    const grown = BACKOFF.pauseAfter(Math.floor(this.reconnects / streams));
    this.reconnects += 1;
    return Math.max(grown, Math.min(asked || 0, LONGEST_ASKED_MS));
  }
}

/** Members of a message that some servers send as null in place of omitting them. */
const NULL_MEMBER = /"(?:_meta|error|result|params)"\s*:\s*null/;
const DATA = 'data:';

/**
 * Removes the members `_meta`, `error`, `result` and `params` that are null from the messages of a response, in JSON
 * and in events.
 */
function withoutNullMembers(response: Response): Response {
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/event-stream\b/i.test(type) && response.body) return withEvents(response, response.body);
  if (!/^application\/json\b/i.test(type)) return response;
  return Object.defineProperty(response, 'json', {
    value: async () => {
      const message = JSON.parse(await response.text()) as unknown;
      return Array.isArray(message) ? message.map(repairMessage) : repairMessage(message);
    },
  });
}

function withEvents(response: Response, body: ReadableStream<Uint8Array<ArrayBuffer>>): Response {
  const { status, statusText, headers, url } = response;
  const repaired = body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(wholeLines())
    .pipeThrough(new TextEncoderStream());
  return Object.defineProperty(new Response(repaired, { status, statusText, headers }), 'url', { value: url });
}

/**
 * Creates a stream of text that removes null members (NULL_MEMBER) from `data` lines, in time linear in the length of
 * the lines.
 */
function wholeLines(): TransformStream<string, string> {
  let begun: string[] = [];
  return new TransformStream({
    transform(piece, controller) {
      const end = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf('\r')) + 1;
      if (end === 0) return void begun.push(piece);
      begun.push(piece.slice(0, end));
      controller.enqueue(repairedLines(begun.join('')));
      begun = [piece.slice(end)];
    },
    flush: (controller) => controller.enqueue(repairedLines(begun.join(''))),
  });
}

function repairedLines(text: string): string {
  if (!NULL_MEMBER.test(text)) return text;
  return text
    .split(/(?<=[\r\n])/)
    .map((line) => (line.startsWith(DATA) && NULL_MEMBER.test(line) ? repairedLine(line) : line))
    .join('');
}

/**
 * Removes null members (NULL_MEMBER) from the message in the `data` line of an event. A message that spans several
 * lines is unchanged.
 */
function repairedLine(line: string): string {
  try {
    const ends = line.slice(line.trimEnd().length);
    return `data: ${JSON.stringify(repairMessage(JSON.parse(line.slice(DATA.length))))}${ends}`;
  } catch {
    return line;
  }
}

function repairMessage(message: unknown): unknown {
  if (!isJsonObject(message)) return message;
  const { error, result, params, ...rest } = message;
  return {
    ...rest,
    ...(error !== null && error !== undefined && { error }),
    ...(result !== null && result !== undefined && { result: withoutNullMeta(result) }),
    ...(params !== null && params !== undefined && { params: withoutNullMeta(params) }),
  };
}

function withoutNullMeta(value: unknown): unknown {
  if (!isJsonObject(value) || value['_meta'] !== null) return value;
  const { _meta, ...rest } = value as JsonObject;
  return rest;
}

type ServerFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Stored credential for the requests to one server, and the secrets that these requests have sent. The secrets are
 * removed from the answers of the server.
 */
export interface ServerProof {
  signers: RequestSigners;
  wanted: Omit<SigningRequest, 'signal'>;
  /** Secrets that requests have sent, newest last. The oldest ones are evicted. */
  secrets: Set<string>;
}

/** Limits of the answers of one server. */
export interface AnswerBounds extends BodyBounds {
  /** Maximum number of bytes of one page of a list of tools. */
  page: number;
  /** Opens the account that holds the bytes of an answer. */
  account: () => AnswerAccount;
}

/**
 * Creates the `fetch` for the transport of the SDK.
 * - It uses the outbound client, signs requests with a stored credential, and limits the bodies of responses.
 * - A network error becomes an AgentCallError.
 * - HTTP 202 in response to a request, and not to a notification, becomes an AgentCallError too: a request needs an
 *   answer.
 */
export function serverFetch(send: OutboundFetch, bounds: AnswerBounds, proof?: ServerProof): ServerFetch {
  return async (input, init) => {
    const callServer = (auth?: RequestAuth): Promise<Response> => sendSignedRequest(send, new URL(input), init, auth);
    const response = proof ? await withProof(proof, init?.signal, callServer) : await callServer();
    if (response.status === 202 && sentMessage(init, Infinity)?.['id'] !== undefined) {
      await response.body?.cancel();
      throw new AgentCallError('invalid-response', 'HTTP 202: it accepted a request without answering it', {
        code: 202,
      });
    }
    const method = sentMessage(init, LONGEST_KNOWN_REQUEST)?.['method'];
    return withoutNullMembers(boundResponse(response, boundsOf(method, bounds)));
  };
}

/** Maximum number of secrets that a connection remembers. Each answer is searched for every secret. */
const MOST_SECRETS = 128;
/**
 * Maximum number of characters of a sent request that is parsed to learn its method, such as `initialize` or
 * `tools/list`; a longer one can only be a tool call.
 */
const LONGEST_KNOWN_REQUEST = 64 * 1024;
/** Limits of the answer to `initialize` or `server/discover`, which stays in memory for the whole session. */
const INTRODUCTION = { bytes: 64 * 1024, members: 1_000 };

function boundsOf(method: JsonValue | undefined, bounds: AnswerBounds): AnswerBounds {
  if (method === 'tools/list') return { ...bounds, bytes: bounds.page };
  if (method !== 'initialize' && method !== 'server/discover') return bounds;
  return { ...bounds, bytes: INTRODUCTION.bytes, members: Math.min(bounds.members, INTRODUCTION.members) };
}

/**
 * Returns the request or notification that is sent; `undefined` for an answer to a request of the server, or for a body
 * of more than `longest` characters.
 */
function sentMessage(init: RequestInit | undefined, longest: number): JsonObject | undefined {
  if (typeof init?.body !== 'string' || init.body.length > longest) return undefined;
  const message = tryParseJson(init.body);
  return isJsonObject(message) && typeof message['method'] === 'string' ? message : undefined;
}

/**
 * Sends a request with a credential. After HTTP 401, which means that the request was not executed, it renews the
 * credential, if possible, and sends the request once more.
 */
async function withProof(
  { signers, wanted, secrets }: ServerProof,
  signal: AbortSignal | null | undefined,
  call: (auth: RequestAuth) => Promise<Response>,
): Promise<Response> {
  const request = { ...wanted, signal: signal ?? new AbortController().signal };
  const auth = await signers.createProof(request);
  keepNewest(secrets, auth.secrets);
  const response = await call(auth);
  if (response.status !== 401) return noteRefusal(signers, auth, response);
  const other = await signers.renewProof(request, auth);
  if (other === undefined) return noteRefusal(signers, auth, response);
  keepNewest(secrets, other.secrets);
  await response.body?.cancel();
  return noteRefusal(signers, other, await call(other));
}

function keepNewest(secrets: Set<string>, carried: readonly string[]): void {
  for (const it of carried) {
    secrets.delete(it);
    secrets.add(it);
  }
  for (const it of secrets) {
    if (secrets.size <= MOST_SECRETS) return;
    secrets.delete(it);
  }
}

function noteRefusal(signers: RequestSigners, auth: RequestAuth, response: Response): Response {
  const { status } = response;
  if (status === 401 || status === 403) signers.reportRefusal(auth, refusalError(status));
  return response;
}

/** Returns the error for HTTP 401 or 403 of a server. */
export function refusalError(status: 401 | 403): AgentCallError {
  const text = status === 401 ? 'the server rejects the credential of the call' : 'the server forbids the call';
  return new AgentCallError('unauthorized', `HTTP ${status}: ${text}`, { code: status });
}

async function sendSignedRequest(
  send: OutboundFetch,
  url: URL,
  init?: RequestInit,
  auth?: RequestAuth,
): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init?.headers));
  const signed = auth ? applyProof(auth, url, headers) : { url, headers };
  try {
    // The SDK follows redirects within the origin, and calls this function for each of them.
    return await send(signed.url, { ...init, headers: signed.headers, redirect: 'manual' });
  } catch (error) {
    init?.signal?.throwIfAborted();
    throw networkFailure(error);
  }
}

function boundResponse(response: Response, bounds: AnswerBounds): Response {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const body = response.body.pipeThrough(boundedBody(bounds, { account: bounds.account(), isStream }));
  const passed = new Response(body, { status, statusText, headers });
  return Object.defineProperty(passed, 'url', { value: response.url });
}

/**
 * Code and data of the error with which this service answers a request itself, if the server's answer is missing or was
 * not read to its end. `cutReason` recognizes the error by `data`. JSON-RPC reserves the code for implementations.
 */
const CUT = { code: -32_000, data: { cut: true } };

/**
 * Creates a transport for Streamable HTTP.
 * - If a stream ends without the answer, the request fails with an error that `cutReason` recognizes. The SDK alone
 *   would let the request wait.
 * - ReconnectPace decides when a stream is reopened.
 * @param lastFailure returns the error with which this service stopped reading the last response body; `undefined` if
 * that body was read to its end
 */
export async function httpTransport(
  endpoint: URL,
  fetch: ServerFetch,
  lastFailure: () => AgentCallError | undefined,
): Promise<Transport> {
  const pace = new ReconnectPace();
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const Watched = class extends StreamableHTTPClientTransport {
    override send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
      const onRequestStreamEnd = (): void => {
        options?.onRequestStreamEnd?.();
        for (const it of [message].flat()) {
          const reason = lastFailure()?.message ?? 'its connection has ended';
          // The SDK ignores this error for a request that already has its answer.
          if ('id' in it && 'method' in it)
            this.onmessage?.({ jsonrpc: '2.0', id: it.id, error: { ...CUT, message: reason } });
        }
      };
      if (!Array.isArray(message) && 'id' in message && 'method' in message) pace.noteRequest();
      return super.send(message as JSONRPCMessage, { ...options, onRequestStreamEnd });
    }
  };
  const reconnectionScheduler = (reconnect: () => void, asked: number): (() => void) => {
    const timer = setTimeout(reconnect, pace.nextPause(asked));
    return () => clearTimeout(timer);
  };
  return new Watched(endpoint, { fetch, reconnectionScheduler }) as Transport;
}

/**
 * Converts the error of a request to an AgentCallError if the request failed because `httpTransport` got no answer.
 * Returns `undefined` for any other error.
 */
export function cutReason(error: unknown): AgentCallError | undefined {
  const { message, data } = (error ?? {}) as { message?: string; data?: { cut?: unknown } };
  return data?.cut === true ? new AgentCallError('connect', message ?? '') : undefined;
}

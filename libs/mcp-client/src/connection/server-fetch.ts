import {
  AgentCallError,
  networkFailure,
  type RequestAuth,
  RequestSigners,
  applyProof,
  type SigningRequest,
} from '#libs/a2a-client';
import type { OutboundFetch } from '#libs/outbound';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '#libs/protocol';
import { type BodyBounds, boundedBody } from './bounded-body.js';
import { withoutNullMembers } from './message-nulls.js';
import type { AnswerAccount } from './received-bytes.js';

export type ServerFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Credentials for calls of a server. */
export interface ServerProof {
  signers: RequestSigners;
  wanted: Omit<SigningRequest, 'signal'>;
  /** Receives every secret that calls have carried, newest last; the oldest ones are evicted. */
  secrets: Set<string>;
}

/** Limits for the bytes of an answer. */
export interface AnswerBounds extends BodyBounds {
  /** Maximum bytes of one page of a list of tools. */
  page: number;
  /** Opens the account of an answer. */
  account: () => AnswerAccount;
}

/**
 * Creates the `fetch` of the SDK's transport. It uses the outbound client, signs requests with a stored credential, and
 * bounds bodies. Network errors become an AgentCallError, and so does HTTP 202 to a request, which expects an answer.
 */
export function serverFetch(send: OutboundFetch, bounds: AnswerBounds, proof?: ServerProof): ServerFetch {
  return async (input, init) => {
    const callServer = (auth?: RequestAuth): Promise<Response> => sendSignedRequest(send, new URL(input), init, auth);
    const response = proof ? await withProof(proof, init?.signal, callServer) : await callServer();
    if (response.status === 202 && sentMessage(init, Infinity)?.['id'] !== undefined) {
      await response.body?.cancel();
      throw new AgentCallError('invalid-response', 'HTTP 202: it took a request and gave no answer', { code: 202 });
    }
    const method = sentMessage(init, LONGEST_KNOWN_REQUEST)?.['method'];
    return withoutNullMembers(boundResponse(response, boundsOf(method, bounds)));
  };
}

/** Maximum number of secrets of one connection; each answer is searched for all of them. */
const MOST_SECRETS = 128;
/** Maximum length of a request whose method matters here; the cursor of `tools/list` is limited too. */
const LONGEST_KNOWN_REQUEST = 64 * 1024;
/** Bounds of a server's introduction, which stays in memory for the whole session. */
const INTRODUCTION = { bytes: 64 * 1024, members: 1_000 };

function boundsOf(method: JsonValue | undefined, bounds: AnswerBounds): AnswerBounds {
  if (method === 'tools/list') return { ...bounds, bytes: bounds.page };
  if (method !== 'initialize' && method !== 'server/discover') return bounds;
  return { ...bounds, bytes: INTRODUCTION.bytes, members: Math.min(bounds.members, INTRODUCTION.members) };
}

/**
 * Returns the sent request or notification, unless it is longer than `longest`; `undefined` for an answer to the
 * server.
 */
function sentMessage(init: RequestInit | undefined, longest: number): JsonObject | undefined {
  if (typeof init?.body !== 'string' || init.body.length > longest) return undefined;
  const message = tryParseJson(init.body);
  return isJsonObject(message) && typeof message['method'] === 'string' ? message : undefined;
}

/**
 * Sends a request with a credential. After 401, which means it was not executed, sends it once more if the credential
 * can be renewed.
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

/** Returns the error for a server's 401 or 403. */
export function refusalError(status: 401 | 403): AgentCallError {
  const text = status === 401 ? 'the server does not accept who calls' : 'the server forbids the call';
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
    // The transport follows redirects within the origin; each of them calls this function again.
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

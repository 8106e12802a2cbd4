import {
  AgentCallError,
  networkFailure,
  type RequestAuth,
  RequestSigners,
  sign,
  type SigningRequest,
} from '#libs/a2a-client';
import type { OutboundFetch } from '#libs/outbound';
import { isJsonObject, type JsonObject, type JsonValue, tryParseJson } from '#libs/protocol';
import { type BodyBounds, boundedBody } from './bounded-body.js';
import { withoutNullMembers } from './message-nulls.js';
import type { AnswerAccount } from './received-bytes.js';

export type ServerFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/** Who calls a server, where it wants to know. */
export interface ServerProof {
  signers: RequestSigners;
  wanted: Omit<SigningRequest, 'signal'>;
  /** Takes every form of what a call has carried, the newest last; the oldest of many go. */
  secrets: Set<string>;
}

/** Bytes of an answer that are read. */
export interface AnswerBounds extends BodyBounds {
  /** Bytes of one page of a list of tools. */
  page: number;
  /** Opens the account of an answer. */
  account: () => AnswerAccount;
}

/**
 * A `fetch` for the SDK's transport: through the outbound client, with the proof of a stored credential, and with bodies
 * that are bounded. What the network does is an AgentCallError, and so is HTTP 202 to a request, which has no answer.
 */
export function serverFetch(send: OutboundFetch, bounds: AnswerBounds, proof?: ServerProof): ServerFetch {
  return async (input, init) => {
    const call = (auth?: RequestAuth): Promise<Response> => answered(send, new URL(input), init, auth);
    const response = proof ? await withProof(proof, init?.signal, call) : await call();
    if (response.status === 202 && sentMessage(init, Infinity)?.['id'] !== undefined) {
      await response.body?.cancel();
      throw new AgentCallError('invalid-response', 'HTTP 202: it took a request and gave no answer', { code: 202 });
    }
    const method = sentMessage(init, LONGEST_KNOWN_REQUEST)?.['method'];
    return withoutNullMembers(bounded(response, boundsOf(method, bounds)));
  };
}

/** Secrets of one connection: each answer is searched for all of them. */
const MOST_SECRETS = 128;
/** Characters of a request of tools, or for what a server is: the cursor of the former is limited. */
const LONGEST_KNOWN_REQUEST = 64 * 1024;
/** Bounds of what a server says of itself, which stays for as long as its session. */
const INTRODUCTION = { bytes: 64 * 1024, members: 1_000 };

function boundsOf(method: JsonValue | undefined, bounds: AnswerBounds): AnswerBounds {
  if (method === 'tools/list') return { ...bounds, bytes: bounds.page };
  if (method !== 'initialize' && method !== 'server/discover') return bounds;
  return { ...bounds, bytes: INTRODUCTION.bytes, members: Math.min(bounds.members, INTRODUCTION.members) };
}

/** Returns the request or notification that is sent, unless it is longer. An answer of ours to a server has no method. */
function sentMessage(init: RequestInit | undefined, longest: number): JsonObject | undefined {
  if (typeof init?.body !== 'string' || init.body.length > longest) return undefined;
  const message = tryParseJson(init.body);
  return isJsonObject(message) && typeof message['method'] === 'string' ? message : undefined;
}

/** A call that was refused with 401 did nothing: it is made once more where there is another proof. */
async function withProof(
  { signers, wanted, secrets }: ServerProof,
  signal: AbortSignal | null | undefined,
  call: (auth: RequestAuth) => Promise<Response>,
): Promise<Response> {
  const request = { ...wanted, signal: signal ?? new AbortController().signal };
  const auth = await signers.auth(request);
  keepNewest(secrets, auth.secrets);
  const response = await call(auth);
  if (response.status !== 401) return noted(signers, auth, response);
  const other = await signers.renewed(request, auth);
  if (other === undefined) return noted(signers, auth, response);
  keepNewest(secrets, other.secrets);
  await response.body?.cancel();
  return noted(signers, other, await call(other));
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

function noted(signers: RequestSigners, auth: RequestAuth, response: Response): Response {
  const { status } = response;
  if (status === 401 || status === 403) signers.failed(auth, refusal(status));
  return response;
}

/** How it is said that a server answered 401 or 403. */
export function refusal(status: 401 | 403): AgentCallError {
  const text = status === 401 ? 'the server does not accept who calls' : 'the server forbids the call';
  return new AgentCallError('unauthorized', `HTTP ${status}: ${text}`, { code: status });
}

async function answered(send: OutboundFetch, url: URL, init?: RequestInit, auth?: RequestAuth): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init?.headers));
  const signed = auth ? sign(auth, url, headers) : { url, headers };
  try {
    // The transport follows redirects within the origin by itself, each with a call of this.
    return await send(signed.url, { ...init, headers: signed.headers, redirect: 'manual' });
  } catch (error) {
    init?.signal?.throwIfAborted();
    throw networkFailure(error);
  }
}

function bounded(response: Response, bounds: AnswerBounds): Response {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  const isStream = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const body = response.body.pipeThrough(boundedBody(bounds, { account: bounds.account(), isStream }));
  const passed = new Response(body, { status, statusText, headers });
  return Object.defineProperty(passed, 'url', { value: response.url });
}

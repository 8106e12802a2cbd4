import {
  createClient,
  eventFrames,
  type EventFrame,
  type ParleyClient,
  ParleyError,
  type AnyRunEvent,
} from '#libs/client';
import { ApiProblem, readProblem, sentenceFor } from './problem.js';
import { askForSignIn, CONSOLE_HEADER, sessionKey, signInCount } from './sign-in.js';

/** A type `T` of the API, with narrower types for the members in `M`. A member of `M` that `T` lacks is an error. */
export type Narrowed<T, M extends { [K in keyof M]: K extends keyof T ? M[K] : never }> = Omit<T, keyof M> & M;

export interface CallOptions {
  /** Request body. FormData is sent unchanged, any other value as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** True to fail with 401 rather than to ask the person to sign in. */
  isSilent?: boolean;
}

/**
 * Calls the service and returns the JSON of its answer (`undefined` for an empty one).
 * @throws ApiProblem if the service refuses the request or cannot be reached
 */
export async function callApi<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await requestApi(method, path, options);
  const text = await response.text();
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

export function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  return callApi<T>('GET', path, signal ? { signal } : {});
}

/**
 * Fetches all pages of a list; the header `Next-Page-Token` names the next one.
 * @throws ApiProblem if the service refuses a request or cannot be reached; an AbortError when the signal aborts
 */
export async function getPages<T>(path: string, signal?: AbortSignal): Promise<T[]> {
  const found: T[] = [];
  for (let token: string | null = ''; token !== null;) {
    const page: string = token === '' ? path : `${path}?pageToken=${encodeURIComponent(token)}`;
    const response = await requestApi('GET', page, signal ? { signal } : {});
    found.push(...((await response.json()) as T[]));
    token = response.headers.get('next-page-token');
  }
  return found;
}

/** Maximum milliseconds without a byte (heartbeats included) before a connection counts as lost: three heartbeats. */
const LONGEST_SILENCE = 45_000;

/** Yields the events of a response body, until it ends or is silent for LONGEST_SILENCE. */
export function readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<EventFrame> {
  return eventFrames(body, { longestSilence: LONGEST_SILENCE });
}

/**
 * Sends a request and returns the successful response.
 * @throws ApiProblem if the service refuses the request or cannot be reached; an AbortError when the signal aborts
 */
export async function requestApi(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const { body, headers = {}, signal, isSilent } = options;
  const isForm = body instanceof FormData;
  const isJson = body !== undefined && !isForm;
  const send = isSilent ? fetchSilently : fetchSignedIn;
  const response = await send(path, {
    method,
    headers: { ...(isJson && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new ApiProblem(0, sentenceFor(0));
  });
  if (!response.ok) throw await readProblem(response);
  return response;
}

/** Calls the service as the signed-in caller. After a 401 it asks the person to sign in, and then retries. */
async function fetchSignedIn(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const [used, signIns] = [sessionKey(), signInCount()];
  const response = await fetchSilently(input, init);
  if (response.status !== 401) return response;
  // Another request may have asked for a sign-in meanwhile, and received it.
  const isSignedIn = signInCount() !== signIns || (await askForSignIn(used));
  return isSignedIn ? fetchSignedIn(input, init) : response;
}

/** Calls the service with this tab's API key if it has one, else with the session of the browser, if there is one. */
function fetchSilently(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const key = sessionKey();
  const headers = new Headers(init?.headers);
  // No other origin can send this header, and on plain HTTP a browser reports nothing else about the origin of a GET.
  for (const [name, value] of Object.entries(CONSOLE_HEADER)) headers.set(name, value);
  if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
  return fetch(input, { ...init, headers });
}

/**
 * Yields the events of a run, each once and in order, until the run has ended. Requests are sent as the signed-in
 * caller. A lost connection is resumed after the last event (`ParleyClient.events`).
 * @throws ApiProblem if the service answers with an error that a reconnect does not repair
 */
export async function* followRun(...request: Parameters<ParleyClient['events']>): AsyncGenerator<AnyRunEvent> {
  try {
    yield* createClient({ url: location.origin, fetch: fetchSignedIn }).events(...request);
  } catch (error) {
    throw error instanceof ParleyError ? new ApiProblem(error.status, error.message, error.errors) : error;
  }
}

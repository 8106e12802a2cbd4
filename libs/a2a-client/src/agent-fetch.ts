import { isJsonObject, type JsonObject } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';
import type { AgentFetch } from './agent-http.js';
import { codeOfReason, networkFailure, rpcFailure } from './call-failure.js';
import { CallAttempt } from './call-limits.js';

/** A plain answer, or one that is an error, may not be longer. Streams are bounded per event by the SDK. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** A shorter answer that tells its length is given as it came. */
const UNWATCHED_BYTES = 64 * 1024;
/** The limits of a call are those of its CallAttempt. */
const NO_LIMITS = { firstByteMs: 0, idleMs: 0 };

/**
 * A `fetch` for the SDK that gives only successful responses. Everything else is an AgentCallError: 5xx, 4xx with the
 * error that the agent wrote in it, and whatever the network did, before the headers or in the middle of a body.
 */
export function agentFetch(send: AgentFetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, { ...init, ...NO_LIMITS }).catch((error: unknown) => {
      throw networkFailure(error);
    });
    const watched = watch(response, CallAttempt.of(init?.signal));
    if (!watched.ok) throw await statusFailure(watched);
    return watched;
  };
}

/** The failure that a response stands for. */
async function statusFailure(response: Response): Promise<AgentCallError> {
  const { status } = response;
  if (status >= 500) {
    await response.body?.cancel().catch(() => undefined);
    return new AgentCallError('server-error', `HTTP ${status}`, { code: status });
  }
  const body = await response.text().then(parse, () => undefined);
  return errorOf(body) ?? new AgentCallError('client-error', `HTTP ${status}`, { code: status });
}

/** The error of a JSON-RPC response, or of a `google.rpc.Status` as the REST binding writes it (section 11.6). */
function errorOf(body: unknown): AgentCallError | undefined {
  if (!isJsonObject(body) || !isJsonObject(body.error)) return undefined;
  const { code, message, details } = body.error;
  const text = typeof message === 'string' ? message : 'no message';
  if ('jsonrpc' in body) return rpcFailure(Number(code), text);
  const reasons = Array.isArray(details) ? details.filter(isJsonObject).map((it) => it.reason) : [];
  const known = reasons.map(codeOfReason).find((it) => it !== undefined);
  return known === undefined ? undefined : rpcFailure(known, text);
}

function watch(response: Response, attempt: CallAttempt | undefined): Response {
  const length = response.headers.get('content-length');
  if (!response.body || (length !== null && Number(length) <= UNWATCHED_BYTES)) return response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
  const body = watchedBody(response.body.getReader(), isStream ? Infinity : MAX_ANSWER_BYTES, attempt);
  return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
}

function watchedBody(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
  attempt: CallAttempt | undefined,
): ReadableStream<Uint8Array> {
  let received = 0;
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const chunk = await reader.read();
        if (chunk.done) return controller.close();
        attempt?.alive();
        received += chunk.value.byteLength;
        if (received > limit) throw new AgentCallError('invalid-response', `the answer is longer than ${limit} bytes`);
        controller.enqueue(chunk.value);
      } catch (error) {
        controller.error(networkFailure(error));
        await reader.cancel().catch(() => undefined);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

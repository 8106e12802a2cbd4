import { isJsonObject, type JsonObject } from '#libs/protocol';
import { AgentCallError } from './agent-call-error.js';
import { codeOfReason, rpcFailure } from './call-failure.js';

/** The failure that an HTTP status other than 2xx stands for; a 4xx may tell more in its body. */
export function statusFailure(status: number, body: string): AgentCallError {
  if (status >= 500) return new AgentCallError('server-error', `HTTP ${status}`, { code: status });
  if (status === 401 || status === 403) return refusal(status, errorOf(parsed(body)));
  return errorOf(parsed(body)) ?? new AgentCallError('client-error', `HTTP ${status}`, { code: status });
}

/** 401: the agent wants to know who calls; 403: it knows, and forbids it (A2A 1.0, section 7.4). */
function refusal(status: 401 | 403, told: AgentCallError | undefined): AgentCallError {
  const text = status === 401 ? 'the agent does not accept who calls' : 'the agent forbids the call';
  const detail = told ? `: ${told.message}` : '';
  return new AgentCallError('unauthorized', `HTTP ${status}: ${text}${detail}`, { code: status });
}

/** The error of a JSON-RPC response, or of a `google.rpc.Status` as the REST binding writes it (section 11.6). */
export function errorOf(body: JsonObject | undefined): AgentCallError | undefined {
  if (body === undefined || !isJsonObject(body.error)) return undefined;
  const { code, message, details } = body.error;
  const text = typeof message === 'string' ? message : 'no message';
  if ('jsonrpc' in body) return rpcFailure(Number(code), text);
  const reasons = Array.isArray(details) ? details.filter(isJsonObject).map((it) => it.reason) : [];
  const known = reasons.map(codeOfReason).find((it) => it !== undefined);
  return known === undefined ? undefined : rpcFailure(known, text);
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

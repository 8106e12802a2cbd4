import { isNativeError } from 'node:util/types';
import { AgentCallError, networkFailure } from '#libs/a2a-client';
import { OutboundFault } from '#libs/http-client';
import { briefText } from '#libs/protocol';
import { ToolListRefused } from '../pins/tool-listing.js';
import { refusalError } from './http-transport.js';

/** Returns the reason why a call to an MCP server failed, for callers. The text has no internals of this service. */
export function failureText(error: unknown): string {
  const causes = causesOf(error);
  const known = causes.find((it) => it instanceof AgentCallError);
  if (known) return known.message;
  if (error instanceof ToolListRefused) return error.message;
  const status = causes.map(httpStatus).find((it) => it !== undefined);
  if (status === 401 || status === 403) return refusalError(status).message;
  if (status !== undefined) return `HTTP ${status}`;
  const code = codeOf(error);
  if (typeof code === 'number') return briefText(`mcp error ${code}: ${(error as Error).message}`);
  if (code !== undefined && SENTENCES[code] !== undefined) return SENTENCES[code];
  if (code !== undefined && /^E[A-Z]+$/.test(code)) return `it cannot be started (${code})`;
  return causes.some(isOfNetwork) ? networkFailure(error).message : 'its answer is not MCP';
}

/**
 * True if the session is still usable after the error: the server answered with an error, one request timed out, or a
 * list of tools exceeds a limit.
 */
export function isAnswer(error: unknown): boolean {
  return typeof codeOf(error) === 'number' || isTimeout(error) || error instanceof ToolListRefused;
}

export function isTimeout(error: unknown): boolean {
  return codeOf(error) === 'REQUEST_TIMEOUT';
}

/** True if the process of the server, or the connection to it, has ended. */
export function isEnd(error: unknown): boolean {
  return causesOf(error).some((it) => ENDS.has(String(codeOf(it))));
}

/** True if the server may have forgotten the session (HTTP 400 or 404). It has then not executed the request. */
export function isLostSession(error: unknown): boolean {
  return causesOf(error).some((it) => [400, 404].includes(httpStatus(it) ?? 0));
}

const ENDS = new Set(['CONNECTION_CLOSED', 'NOT_CONNECTED', 'EPIPE', 'ERA_NEGOTIATION_FAILED']);
const SENTENCES: Readonly<Record<string, string>> = {
  REQUEST_TIMEOUT: 'timeout: no answer in time',
  CONNECTION_CLOSED: 'its connection has ended',
  NOT_CONNECTED: 'its connection has ended',
  SEND_FAILED: 'its connection has ended',
  CLIENT_HTTP_UNEXPECTED_CONTENT: 'its answer is not MCP',
  UNSUPPORTED_RESULT_TYPE: 'it asks for input, which tool calls cannot provide',
};

function codeOf(error: unknown): string | number | undefined {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' || typeof code === 'number' ? code : undefined;
}

function httpStatus(error: Error): number | undefined {
  const { status, data } = error as { status?: unknown; data?: { status?: unknown } };
  return [status, data?.status].find((it) => typeof it === 'number');
}

function isOfNetwork(error: Error): boolean {
  const code = codeOf(error);
  return error instanceof OutboundFault || (typeof code === 'string' && /^(UND_ERR_|E[A-Z]+$)/.test(code));
}

function causesOf(error: unknown): Error[] {
  const causes: Error[] = [];
  for (let it = error; isError(it) && causes.length < 8; it = (it as { cause?: unknown }).cause) causes.push(it);
  return causes;
}

/**
 * True for an Error, also for one of another realm: network errors come from another realm if this code runs in a VM
 * context.
 */
function isError(value: unknown): value is Error {
  return value instanceof Error || isNativeError(value);
}

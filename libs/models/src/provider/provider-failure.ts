import type { APICallError } from '@ai-sdk/provider';
import { AgentCallError } from '#libs/a2a-client';
import { PublicFault } from '#libs/faults';
import { OutboundFault, OutboundRefusedError, requestedPause } from '#libs/http-client';
import { briefText, isJsonObject } from '#libs/protocol';
import { ModelError, type ModelOutage } from '../model.js';
import { UnfitAnswer } from './answer-streams.js';
import { AnswerTooLong } from './provider-fetch.js';

/** Data for the error of a failed call. */
export interface FailedCall {
  model: string;
  /** Credentials that were sent. They are redacted in the message. */
  secrets: readonly string[];
}

/** Converts an error of a call to a ModelError; `undefined` for an internal error of this service. */
export function modelFailure(error: unknown, call: FailedCall): ModelError | undefined {
  if (error instanceof ModelError) return error;
  const toModelError: Failed = (reason, options = {}) =>
    new ModelError(`model "${call.model}" gave no answer: ${reason}`, { ...options, cause: error });
  if (isNamed(error, 'AI_APICallError')) {
    const { statusCode, cause } = error as APICallError;
    const inner = cause === undefined ? undefined : ofConnection(cause, toModelError);
    if (statusCode === undefined || statusCode < 400) return inner ?? unreadable(error, call.secrets, toModelError);
    return ofStatus(error as APICallError, statusCode, call.secrets, toModelError);
  }
  return ofConnection(error, toModelError) ?? ofAnswer(error, call.secrets, toModelError);
}

interface Known {
  status?: number | undefined;
  fallback?: boolean;
  outage?: ModelOutage | undefined;
  retryAfter?: number | undefined;
  isOverflow?: boolean;
}

type Failed = (reason: string, options?: Known) => ModelError;

/** Converts an error status of the provider to a ModelError. The message of the provider is quoted after redaction. */
function ofStatus(
  { message, data, responseHeaders }: APICallError,
  status: number,
  secrets: readonly string[],
  failed: Failed,
): ModelError {
  // Without `data`, the message comes from the provider package and says nothing about the provider.
  const said =
    data === undefined || message === ''
      ? ''
      : `: ${redactSecrets(message, secrets, status === 401 || status === 403)}`;
  const outage = outageOf(status);
  const retryAfter = requestedPause(responseHeaders?.['retry-after']);
  const refusal = status === 401 ? 'the provider refused the key (HTTP 401)' : `HTTP ${status}`;
  const isOverflow = said !== '' && isContextOverflow(status, message);
  const fallback = outage !== undefined || isOverflow;
  return failed(`${refusal}${said}`, { status, fallback, outage, retryAfter, isOverflow });
}

/** HTTP statuses of providers for a conversation that is longer than the context of the model. */
const OVERFLOW_STATUSES: ReadonlySet<number | undefined> = new Set([400, 413, 422]);
/** Words in providers' errors for a conversation that is longer than the context of the model. */
const OVERFLOW = /context_length_exceeded|context (?:length|window|size)|maximum context|prompt is too long/i;

/** True if a request is too long for the context of this model; another model may have a longer context. */
function isContextOverflow(status: number, message: string): boolean {
  return OVERFLOW_STATUSES.has(status) && OVERFLOW.test(message);
}

function outageOf(status: unknown): ModelOutage | undefined {
  if (status === 429) return 'rate-limited';
  return typeof status === 'number' && status >= 500 ? 'server-error' : undefined;
}

/**
 * Converts an error of sending the request or of reading the answer to a ModelError: a broken connection, a refused
 * address, an unusable credential, an answer that is too long, or too little memory. Returns `undefined` for any other
 * error.
 */
function ofConnection(error: unknown, failed: Failed): ModelError | undefined {
  if (error instanceof AgentCallError) return ofCredential(error, failed);
  const outage = error instanceof OutboundFault ? OUTAGES[error.kind] : undefined;
  if (outage) return failed(outage[1], { fallback: true, outage: outage[0] });
  if (error instanceof OutboundRefusedError) {
    const where = error.refusal === 'redirect' ? 'leads elsewhere' : 'may not be called';
    return failed(`its address ${where}`);
  }
  if (error instanceof AnswerTooLong || error instanceof UnfitAnswer) return failed(error.message);
  if (error instanceof PublicFault && error.kind === 'overloaded')
    return failed(error.message, { fallback: true, outage: 'overloaded' });
  return undefined;
}

const OUTAGES: Partial<Record<OutboundFault['kind'], [ModelOutage, string]>> = {
  connect: ['connect', 'it cannot be reached'],
  timeout: ['timeout', 'it took too long'],
  interrupted: ['connect', 'the connection broke'],
};

const PASSING: readonly ModelOutage[] = ['connect', 'timeout', 'server-error'];

/**
 * Converts an error of a credential to a ModelError. The next model of `fallbacks` is called only if the cause is
 * temporary, such as an unreachable token endpoint.
 */
function ofCredential(error: AgentCallError, failed: Failed): ModelError {
  const outage = PASSING.find((it) => it === error.kind);
  return failed(error.message, { fallback: outage !== undefined, outage });
}

/**
 * Converts an error within the answer to a ModelError: an error event of the stream, a premature end, or an invalid
 * answer; `undefined` for an internal error.
 */
function ofAnswer(error: unknown, secrets: readonly string[], failed: Failed): ModelError | undefined {
  if (isNamed(error, 'AI_InvalidResponseDataError')) return cutShort(failed);
  if (isNamed(error, 'AI_UnsupportedFunctionalityError')) return failed((error as Error).message);
  if (error instanceof Error) return isNamed(error, 'AI_') ? unreadable(error, secrets, failed) : undefined;
  const said = isJsonObject(error) ? error : {};
  const message = typeof said['message'] === 'string' ? `: ${redactSecrets(said['message'], secrets, false)}` : '';
  const status = [said['statusCode'], said['code']].map(statusOf).find((it) => it !== undefined);
  const refused = status !== undefined && status < 500 && status !== 429;
  const isOverflow = OVERFLOW.test(message);
  const fallback = !refused || isOverflow;
  return failed(`it broke off${message}`, { status, fallback, outage: outageOf(status), isOverflow });
}

/** Maximum number of member names of an unreadable answer that an error lists. */
const LISTED_MEMBERS = 8;

/** Converts an answer that is not in the format of its provider to a ModelError. Its text says what arrived instead. */
function unreadable(error: unknown, secrets: readonly string[], failed: Failed): ModelError {
  const arrived = redactSecrets(describeUnreadable(error), secrets, true);
  return failed(`its answer cannot be understood${arrived === '' ? '' : `: ${arrived}`}`);
}

/** Describes an unreadable answer by its form and the names of its members, never by their values. */
function describeUnreadable(error: unknown): string {
  if (isNamed(error, 'AI_JSONParseError')) return 'it is not JSON';
  if (isNamed(error, 'AI_EmptyResponseBodyError')) return 'it is empty';
  if (isNamed(error, 'AI_TypeValidationError')) {
    const { value } = error as { value?: unknown };
    if (!isJsonObject(value)) return 'it is JSON, but no object';
    const names = Object.keys(value).slice(0, LISTED_MEMBERS);
    return `it is an object with the members ${names.map((name) => briefText(name, 40)).join(', ') || '(none)'}`;
  }
  const { cause } = error as { cause?: unknown };
  return isNamed(cause, 'AI_') ? describeUnreadable(cause) : '';
}

/** Returns an HTTP error status; `undefined` for any other value. Some gateways (LiteLLM) send the status as a text. */
function statusOf(code: unknown): number | undefined {
  const status = typeof code === 'string' && /^\d{3}$/.test(code) ? Number(code) : code;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : undefined;
}

function cutShort(failed: Failed): ModelError {
  return failed('its answer ended in the middle', { fallback: true, outage: 'connect' });
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name.startsWith(name);
}

const HIDDEN = '[…]';
const KEY_LIKE = /\b(?:sk|pk|key|AIza)[-_]?[^\s'"`(),:;]{8,}|[^\s'"`(),:;]{40,}/gi;
/**
 * Pattern of words in a message about a refused key that may be the key or its prefix: they are long, or begin like a
 * key.
 */
const MAY_BE_KEY = /[^\s'"`(),:;]{16,}|\b(?:sk|pk|key)[-_][^\s'"`(),:;]*/gi;

/**
 * Minimum number of characters of a secret that is redacted. Placeholders for keys (`x`, `none`, `ollama`) are shorter
 * and are not redacted, because they may be parts of ordinary words.
 */
const SHORTEST_SECRET = 8;

function redactSecrets(message: string, secrets: readonly string[], ofKey: boolean): string {
  const hidden = secrets.filter(({ length }) => length >= SHORTEST_SECRET);
  const words = hidden.reduce((text, secret) => text.replaceAll(secret, HIDDEN), message);
  return words
    .replaceAll(ofKey ? MAY_BE_KEY : KEY_LIKE, HIDDEN)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** HTTP statuses of endpoints that refuse a response format; llama-cpp-python answers 500. */
const FORMAT_REFUSALS: ReadonlySet<number | undefined> = new Set([400, 422, 500, 501]);

/**
 * Words in errors of endpoints that refuse a response format, or fail to convert its schema to a grammar (llama.cpp).
 */
const FORMAT_WORDS = /response_?format|schema|grammar|json.?mode|structured.?output/i;

/**
 * True if an endpoint may have refused a response format. Endpoints that refuse tools together with a format (Groq)
 * each have their own words for it, so beside tools the status alone suffices, except for HTTP 500. A conversation that
 * is longer than the context of the model is never a refused format.
 */
export function refusesFormat(error: unknown, hasTools: boolean): boolean {
  const { statusCode, responseBody = '' } = error as { statusCode?: number; responseBody?: string };
  if (!FORMAT_REFUSALS.has(statusCode)) return false;
  if (OVERFLOW_STATUSES.has(statusCode) && OVERFLOW.test(responseBody)) return false;
  return (hasTools && statusCode !== 500) || FORMAT_WORDS.test(responseBody);
}

import { PublicFault } from '#libs/faults';
import { briefText } from '#libs/protocol';

/** Kind of a failed call to an agent. Retries are decided by this kind, never by the text of a message. */
export type AgentCallFailure =
  | 'connect' // no connection
  | 'timeout' // a time limit of CallTimeouts expired
  | 'server-error' // HTTP 5xx
  | 'client-error' // HTTP 4xx
  | 'unauthorized' // HTTP 401 or 403: the agent rejects the credentials, or forbids the call
  | 'credential' // local: a stored credential is unknown, unusable, or required and not given; nothing was sent
  | 'rpc-error' // a JSON-RPC error, or the REST binding's google.rpc.Status
  | 'not-found' // TaskNotFound
  | 'invalid-response' // the answer is not A2A
  | 'refused' // the address may not be called
  | 'untrusted-card' // the card is not signed as required; nothing was sent
  | 'changed-card' // the card has changed and the change is not accepted; nothing was sent
  | 'overloaded' // local: too many large answers are being read
  | 'aborted'; // the caller's signal ended the call

const TOO_MANY_REQUESTS = 429;

interface AgentCallErrorOptions {
  cause?: unknown;
  code?: number | undefined;
  unsent?: boolean;
  status?: number | undefined;
  retryAfter?: number | undefined;
  /** Details that the agent sent in addition to the message of its error; absent: it sent none. */
  data?: unknown;
  /** True if the message names a stored credential; always true for the kind `credential`. */
  ofCredential?: boolean;
}

/** Error of a failed call to an agent. `message` may be shown to callers: it quotes the agent, but no internals. */
export class AgentCallError extends PublicFault {
  override readonly name = 'AgentCallError';
  /** Details that the agent sent in addition to its error message. They are neither shown nor logged. */
  readonly #data: unknown;

  constructor(
    readonly kind: AgentCallFailure,
    message: string,
    options: AgentCallErrorOptions = {},
  ) {
    super(briefText(message), { cause: options.cause });
    this.code = options.code;
    this.unsent = options.unsent === true;
    this.status = options.status;
    this.retryAfter = options.retryAfter;
    this.#data = options.data;
    this.ofCredential = kind === 'credential' || options.ofCredential === true;
  }
  /** JSON-RPC code of the agent's error, else its HTTP status; `undefined` without an answer. */
  readonly code: number | undefined;
  /** True if no attempt of the call can have reached the agent: every connection was refused. */
  readonly unsent: boolean;
  /**
   * HTTP status of the agent's error answer. `undefined` in these cases:
   * - The status is 401 or 403; `code` then has the status.
   * - The agent did not answer.
   * - The error was made by `withDoubt`.
   */
  readonly status: number | undefined;
  /** Milliseconds that the agent asks to wait before the next call; `undefined` if it asks for no wait. */
  readonly retryAfter: number | undefined;
  /** True if a stored credential, which the message names, caused the failure. */
  readonly ofCredential: boolean;

  /** True for HTTP 429 (rate limit): a temporary failure that is not caused by the call itself. */
  get rateLimited(): boolean {
    return this.status === TOO_MANY_REQUESTS;
  }

  /**
   * True for HTTP 5xx and time-outs, which `retryCall` retries up to a number of times. `unsent` failures do not count
   * here: they are retried up to a time (`CallTimeouts.refused`).
   */
  get repeatable(): boolean {
    return this.kind === 'server-error' || this.kind === 'timeout';
  }

  /** True if the agent's error message or its details match a pattern. */
  matchesErrorText(pattern: RegExp): boolean {
    return pattern.test(this.message) || pattern.test(JSON.stringify(this.#data) ?? '');
  }

  /**
   * Returns a copy of this error with `unsent` false. Used if an earlier attempt of the same call may have reached the
   * agent.
   */
  withDoubt(): AgentCallError {
    const { cause, code, ofCredential } = this;
    return new AgentCallError(this.kind, this.message, { cause, code, ofCredential });
  }
}

const DEEPEST_CAUSE = 8;

/**
 * Returns a text about a failure for a model. It replaces the failure's own message, which names a stored credential:
 * the model must not learn this name. Returns `undefined` if the failure is not about a credential.
 * @param subject agent or tool that was called, as the subject of a sentence
 */
export function withoutCredentialName(error: unknown, subject: string): string | undefined {
  const failure = credentialFailure(error);
  if (failure === undefined) return undefined;
  const reason = failure.kind === 'credential' ? 'is missing or cannot be used' : 'cannot be used for the moment';
  return `${subject} cannot be called now: its credential ${reason}`;
}

function credentialFailure(error: unknown): AgentCallError | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < DEEPEST_CAUSE; depth += 1) {
    if (cause instanceof AgentCallError && cause.ofCredential) return cause;
    cause = cause.cause;
  }
  return undefined;
}

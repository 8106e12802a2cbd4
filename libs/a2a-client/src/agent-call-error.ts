import { briefText, PublicFault } from '#libs/protocol';

/** Kind of a failed call to an agent. Retry decisions depend on it, never on a text. */
export type AgentCallFailure =
  | 'connect' // no connection
  | 'timeout' // one of the four limits expired
  | 'server-error' // HTTP 5xx
  | 'client-error' // HTTP 4xx
  | 'unauthorized' // HTTP 401 or 403: the agent rejects the credentials, or forbids the call
  | 'credential' // local: unknown, unusable, or missing although required; nothing was sent
  | 'rpc-error' // a JSON-RPC error, or the REST binding's google.rpc.Status
  | 'not-found' // TaskNotFound
  | 'invalid-response' // not A2A
  | 'refused' // the address may not be called
  | 'untrusted-card' // the card is not signed as required; nothing was sent
  | 'changed-card' // the card has changed and the change is not accepted; nothing was sent
  | 'overloaded' // local: too many large answers are being read
  | 'aborted'; // by the caller's signal

const TOO_MANY_REQUESTS = 429;

interface AgentCallErrorOptions {
  cause?: unknown;
  code?: number | undefined;
  unsent?: boolean;
  status?: number | undefined;
  retryAfter?: number | undefined;
  /** Details that the agent wrote beside the message of its error. */
  data?: unknown;
  /** True if the message names a stored credential; always true for the kind `credential`. */
  ofCredential?: boolean;
}

/** A failed call to an agent. `message` may be shown to callers: it quotes the remote agent, never internals. */
export class AgentCallError extends PublicFault {
  override readonly name = 'AgentCallError';
  /** Details of the error, neither shown nor logged. */
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
  /** JSON-RPC code or HTTP status, if there was one. */
  readonly code: number | undefined;
  /** True if nothing can have reached the agent, for example because the connection was refused. */
  readonly unsent: boolean;
  /** HTTP status, if the agent answered with an error. */
  readonly status: number | undefined;
  /** Milliseconds that the agent asks to wait before the next call. */
  readonly retryAfter: number | undefined;
  /** True if a stored credential, named in the message, is the reason. */
  readonly ofCredential: boolean;

  /** True if the agent is rate limiting: a temporary failure that says nothing about the call itself. */
  get rateLimited(): boolean {
    return this.status === TOO_MANY_REQUESTS;
  }

  /** True for a failure that a call repeats by itself: 5xx and time-outs. Unsent requests are repeated separately. */
  get repeatable(): boolean {
    return this.kind === 'server-error' || this.kind === 'timeout';
  }

  /** True if the agent's error message or its details match a pattern. */
  matchesErrorText(pattern: RegExp): boolean {
    return pattern.test(this.message) || pattern.test(JSON.stringify(this.#data) ?? '');
  }

  /** Returns the failure for a call that may have reached the agent in an earlier attempt. */
  withDoubt(): AgentCallError {
    const { cause, code, ofCredential } = this;
    return new AgentCallError(this.kind, this.message, { cause, code, ofCredential });
  }
}

const DEEPEST_CAUSE = 8;

/**
 * Returns the text that a model may read of a failure whose message names a stored credential; `undefined` for any
 * other failure.
 * @param subject what was called, as the subject of a sentence
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

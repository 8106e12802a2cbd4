import { briefText } from '#libs/protocol';

/** Why a call to an agent failed. Whether to try again hangs on this alone, never on a text. */
export type AgentCallFailure =
  | 'connect' // no connection
  | 'timeout' // one of the four limits passed
  | 'server-error' // HTTP 5xx
  | 'client-error' // HTTP 4xx
  | 'unauthorized' // HTTP 401 or 403: the agent does not know the caller, or forbids it the call
  | 'credential' // ours: unknown, unusable, or none that the agent asks for; nothing was sent
  | 'rpc-error' // a JSON-RPC error, or the REST binding's google.rpc.Status
  | 'not-found' // TaskNotFound
  | 'invalid-response' // not A2A
  | 'refused' // an address that outbound calls may not reach
  | 'untrusted-card' // its card is not signed as this service requires; nothing was sent
  | 'changed-card' // its card has changed, and nobody has accepted that; nothing was sent
  | 'overloaded' // ours: too many large answers are being read
  | 'aborted'; // by our own signal

const TOO_MANY_REQUESTS = 429;

interface AgentCallErrorOptions {
  cause?: unknown;
  code?: number | undefined;
  unsent?: boolean;
  status?: number | undefined;
  retryAfter?: number | undefined;
  /** The details that the agent wrote beside the message of its error. */
  data?: unknown;
  /** True if the message names a stored credential; always so of the kind `credential`. */
  ofCredential?: boolean;
}

/** A call to an agent that did not succeed. `message` may be shown to callers: it quotes the remote, never our internals. */
export class AgentCallError extends Error {
  override readonly name = 'AgentCallError';
  /** Neither shown nor logged. */
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
  /** The JSON-RPC code or HTTP status, where there was one. */
  readonly code: number | undefined;
  /** Whether it is certain that nothing reached anybody, as where a connection was refused. */
  readonly unsent: boolean;
  /** The HTTP status, where the agent answered with an error. */
  readonly status: number | undefined;
  /** How many milliseconds the agent asks to wait before it is called again. */
  readonly retryAfter: number | undefined;
  /** True if a stored credential is the reason, which the message names. */
  readonly ofCredential: boolean;

  /** Whether the agent asks to be called less often, which passes and says nothing of what it was asked. */
  get rateLimited(): boolean {
    return this.status === TOO_MANY_REQUESTS;
  }

  /** Only 5xx and time-outs are tried again, and what is unsent for as long as a call may wait for its agent. */
  get retryable(): boolean {
    return this.kind === 'server-error' || this.kind === 'timeout';
  }

  /** True if the agent's words about the error, or the details beside them, match a pattern. */
  mentions(pattern: RegExp): boolean {
    return pattern.test(this.message) || pattern.test(JSON.stringify(this.#data) ?? '');
  }

  /** The same of a call that may have reached the agent before. */
  withDoubt(): AgentCallError {
    const { cause, code, ofCredential } = this;
    return new AgentCallError(this.kind, this.message, { cause, code, ofCredential });
  }
}

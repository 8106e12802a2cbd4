import { briefText } from '#libs/protocol';

/** Kind of an outage, as `retry.on` of a node names it. */
export type ModelOutage =
  | 'connect' // no connection, or one that broke
  | 'timeout' // no answer in time
  | 'server-error' // HTTP 5xx
  | 'rate-limited' // HTTP 429
  | 'overloaded'; // this replica reads too many large answers or files for models

interface ModelErrorOptions {
  cause?: unknown;
  status?: number | undefined;
  fallback?: boolean;
  outage?: ModelOutage | undefined;
  retryAfter?: number | undefined;
}

/**
 * Error of a model that gave no answer. `message` is safe for callers: it has the provider's reason, but no key and no
 * internals.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  /** HTTP status, if the provider answered with an error. */
  readonly status: number | undefined;
  /**
   * True if another model may answer instead: after 429, 5xx, no connection, a timeout, or a truncated answer. False
   * for what the provider refuses: 400, 401, 403, or a withheld answer.
   */
  readonly fallback: boolean;
  /** Kind of the outage; absent if a repeated call would probably fail as well. */
  readonly outage: ModelOutage | undefined;
  /** Milliseconds that the provider asks to wait before the next call. */
  readonly retryAfter: number | undefined;

  constructor(message: string, options: ModelErrorOptions = {}) {
    super(briefText(message), { cause: options.cause });
    this.status = options.status;
    this.fallback = options.fallback === true;
    this.outage = options.outage;
    this.retryAfter = options.retryAfter;
  }
}

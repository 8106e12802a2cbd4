import { briefText } from '#libs/protocol';

/** Why a model is out of reach for now, in the words that `retry.on` of a node has for it. */
export type ModelOutage =
  | 'connect' // no connection, or one that broke
  | 'timeout' // no answer in time
  | 'server-error' // HTTP 5xx
  | 'rate-limited' // HTTP 429
  | 'overloaded'; // ours: too many large answers are being read, or files for models

interface ModelErrorOptions {
  cause?: unknown;
  status?: number | undefined;
  fallback?: boolean;
  outage?: ModelOutage | undefined;
  retryAfter?: number | undefined;
}

/**
 * Why a model did not answer. `message` may be shown to callers: it keeps the provider's reason, and neither a key nor
 * our internals.
 */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  /** The HTTP status, where the provider answered with an error. */
  readonly status: number | undefined;
  /**
   * Whether another model may answer in its place: 429, 5xx, no connection, a time limit, an answer cut before its end.
   * What the provider refuses (400, 401, 403, an answer that it withholds) another one is not asked.
   */
  readonly fallback: boolean;
  /** Absent where the same call is as likely to fail the next time. */
  readonly outage: ModelOutage | undefined;
  /** How many milliseconds the provider asks to wait before it is called again. */
  readonly retryAfter: number | undefined;

  constructor(message: string, options: ModelErrorOptions = {}) {
    super(briefText(message), { cause: options.cause });
    this.status = options.status;
    this.fallback = options.fallback === true;
    this.outage = options.outage;
    this.retryAfter = options.retryAfter;
  }
}

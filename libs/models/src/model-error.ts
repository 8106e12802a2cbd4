import { briefText } from '#libs/protocol';

interface ModelErrorOptions {
  cause?: unknown;
  status?: number | undefined;
  fallback?: boolean;
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
   * Whether another model may answer in its place: 429, 5xx, no connection, a time limit, a stream cut before its end.
   * What the provider refuses (400, 401, 403) another one is not asked.
   */
  readonly fallback: boolean;

  constructor(message: string, { cause, status, fallback = false }: ModelErrorOptions = {}) {
    super(briefText(message), { cause });
    this.status = status;
    this.fallback = fallback;
  }
}

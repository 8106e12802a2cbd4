import { types } from 'node:util';
import { MAX_CACHED_BODY } from './cached-answers.js';
import { OutboundInterruptedError, OutboundTimeoutError, OutboundTooLongError } from './outbound-errors.js';
import type { OutboundTimes } from './outbound-call.js';

/** Options of a `fetch` of the outbound client. */
export interface OutboundInit extends RequestInit, OutboundTimes {}

/** Deadlines of one call, and the errors for missing them. */
export class OutboundDeadlines {
  readonly firstByteMs: number | undefined;
  readonly idleMs: number | undefined;
  /** Signal that aborts the call: the caller's, or that of the total time. */
  readonly signal: AbortSignal | undefined;
  private readonly total: AbortSignal | undefined;

  constructor(
    private readonly caller: AbortSignal | undefined,
    { firstByteMs, idleMs, totalMs }: OutboundTimes,
  ) {
    this.firstByteMs = firstByteMs;
    this.idleMs = idleMs;
    this.total = totalMs ? AbortSignal.timeout(totalMs) : undefined;
    this.signal = caller && this.total ? AbortSignal.any([caller, this.total]) : (caller ?? this.total);
  }

  /** Converts an error of undici to the one that callers see. */
  translateError(error: unknown): unknown {
    if (this.caller?.aborted) return this.caller.reason;
    if (this.total?.aborted) return new OutboundTimeoutError('total', { cause: error });
    if (!types.isNativeError(error) || error.name.startsWith('Outbound')) return error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'UND_ERR_HEADERS_TIMEOUT') return new OutboundTimeoutError('first-byte', { cause: error });
    if (code === 'UND_ERR_BODY_TIMEOUT') return new OutboundTimeoutError('idle', { cause: error });
    if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return new OutboundTooLongError(MAX_CACHED_BODY);
    if (code === 'UND_ERR_INVALID_ARG') return new TypeError(error.message, { cause: error });
    return new OutboundInterruptedError(`The connection broke (${code ?? error.name})`, { cause: error });
  }
}

/** Reason for a refused call: the target address, a redirect, the scheme, or a password in the URL. */
export type OutboundRefusal = 'address' | 'redirect' | 'scheme' | 'userinfo';

/** An outbound call that Parley itself refused: nothing left this machine. Retrying never helps. */
export class OutboundRefusedError extends Error {
  override readonly name = 'OutboundRefusedError';

  constructor(
    message: string,
    readonly refusal: OutboundRefusal,
  ) {
    super(message);
  }
}

/**
 * A connection could not be made (refused, unknown host, TLS failure): the request was not sent and may be sent again.
 */
export class OutboundConnectError extends Error {
  override readonly name = 'OutboundConnectError';
}

export type OutboundTimeoutPhase = 'connect' | 'first-byte' | 'idle' | 'total';

/** A time limit expired. In phase `connect` the request was not sent; in any other the peer may have acted on it. */
export class OutboundTimeoutError extends Error {
  override readonly name = 'OutboundTimeoutError';

  constructor(
    readonly phase: OutboundTimeoutPhase,
    options?: ErrorOptions,
  ) {
    super(`The ${phase} time limit of an outbound call has passed`, options);
  }
}

/** The connection broke after the request was sent, or the answer was not HTTP: the peer may have acted on it. */
export class OutboundInterruptedError extends Error {
  override readonly name = 'OutboundInterruptedError';
}

/** The answer's body exceeds its reader's limit. */
export class OutboundTooLongError extends Error {
  override readonly name = 'OutboundTooLongError';

  constructor(readonly maxBytes: number) {
    super(`The answer to an outbound call is longer than ${maxBytes} bytes`);
  }
}

/** Upper limit of a pause: ten thousand years, in milliseconds. */
const ENDLESS = 3.2e14;

/**
 * Returns the pause that a `Retry-After` requests (RFC 9110, section 10.2.3), in milliseconds; `undefined` if it is
 * invalid.
 */
export function requestedPause(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1_000, ENDLESS);
  const pause = Date.parse(retryAfter) - Date.now();
  return Number.isNaN(pause) ? undefined : Math.max(0, pause);
}

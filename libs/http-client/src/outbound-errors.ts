import { ParleyFault } from '#libs/faults';
import { NO_USERINFO } from '#libs/protocol';

/**
 * Error of a failed outbound call. Connection failures have no `publicMessage`: only their system code may be shown.
 */
export abstract class OutboundFault extends ParleyFault {
  abstract override readonly kind: 'refused' | 'connect' | 'timeout' | 'interrupted' | 'too-long' | 'overloaded';
}

/** Reason for a refused call: the target address, a redirect, the scheme, or a password in the URL. */
export type OutboundRefusal = 'address' | 'redirect' | 'scheme' | 'userinfo';

/** Error of an outbound call that Parley itself refused: nothing left this machine. Retrying never helps. */
export class OutboundRefusedError extends OutboundFault {
  override readonly name = 'OutboundRefusedError';

  constructor(
    message: string,
    readonly refusal: OutboundRefusal,
  ) {
    super(message);
  }

  override get kind(): 'refused' {
    return 'refused';
  }

  override get publicMessage(): string {
    return this.refusal === 'userinfo' ? `the URL ${NO_USERINFO}` : 'the address may not be called';
  }
}

/**
 * Error of a connection that could not be made (refused, unknown host, TLS). The request was not sent, so it may be
 * retried.
 */
export class OutboundConnectError extends OutboundFault {
  override readonly name = 'OutboundConnectError';

  override get kind(): 'connect' {
    return 'connect';
  }
}

export type OutboundTimeoutPhase = 'connect' | 'first-byte' | 'idle' | 'total';

/** Error of an expired time limit. The peer may have acted on the request, unless `phase` is `connect`. */
export class OutboundTimeoutError extends OutboundFault {
  override readonly name = 'OutboundTimeoutError';

  constructor(
    readonly phase: OutboundTimeoutPhase,
    options?: ErrorOptions,
  ) {
    super(`The ${phase} time limit of an outbound call has passed`, options);
  }

  override get kind(): 'timeout' {
    return 'timeout';
  }

  override get publicMessage(): string {
    return `timeout: ${this.phase === 'connect' ? 'not connected in time' : 'no answer in time'}`;
  }
}

/**
 * Error of a connection that broke after the request was sent, or of an answer that was not HTTP. The peer may have
 * acted on the request.
 */
export class OutboundInterruptedError extends OutboundFault {
  override readonly name = 'OutboundInterruptedError';

  override get kind(): 'interrupted' {
    return 'interrupted';
  }
}

/** Error of an answer whose body exceeds the limit that its reader has set. */
export class OutboundTooLongError extends OutboundFault {
  override readonly name = 'OutboundTooLongError';

  constructor(readonly maxBytes: number) {
    super(`The answer to an outbound call is longer than ${maxBytes} bytes`);
  }

  override get kind(): 'too-long' {
    return 'too-long';
  }

  override get publicMessage(): string {
    return `the answer is longer than ${this.maxBytes} bytes`;
  }
}

/** Error of a call that gets no connection, because this process has none left: nothing left this machine. */
export class OutboundOverloadedError extends OutboundFault {
  override readonly name = 'OutboundOverloadedError';

  override get kind(): 'overloaded' {
    return 'overloaded';
  }

  override get publicMessage(): string {
    return 'too many connections to agents are in use';
  }
}

/** Upper limit of a requested pause, in milliseconds (ten thousand years): dates can be computed with it. */
const ENDLESS = 3.2e14;

/**
 * Returns the pause in milliseconds that a `Retry-After` header requests (RFC 9110, section 10.2.3); `undefined` if the
 * header is absent or invalid.
 */
export function requestedPause(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d+$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1_000, ENDLESS);
  const pause = Date.parse(retryAfter) - Date.now();
  return Number.isNaN(pause) ? undefined : Math.max(0, pause);
}

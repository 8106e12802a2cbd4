import type { FastifyRequest } from 'fastify';
import { A2AError } from '#libs/protocol';
import { COSTLY_BODY, type LoopShares } from '#libs/service';
import { limitName } from './caller-limits.js';
import { callerOf } from './request-caller.js';

const RETRY_AFTER_SECONDS = '2';

/** Schedules the costly requests of authenticated callers on the event loop (see LoopShares). */
export class LoopTurns {
  constructor(private readonly shares: LoopShares) {}

  /**
   * Starts a request without a body: at once, or in its caller's turn if the caller is over its share or a stream
   * begins.
   * @param refuse called with RATE_LIMITED if too many requests of the caller wait
   */
  beginRequest(request: FastifyRequest, isStream: boolean, act: () => void, refuse: (error: Error) => void): void {
    const who = accountOf(request);
    if (who === undefined) return act();
    this.shares.noteRequest(who);
    if (hasBody(request) || !(isStream || this.shares.isOwing(who))) return act();
    if (!this.shares.scheduleCostly(who, act)) refuse(tooManyWaiting());
  }

  /**
   * Reads an arrived body: a small one at once, a costly one in its caller's turn.
   * @param refuse called with RATE_LIMITED if too many requests of the caller wait
   */
  readBody(request: FastifyRequest, bytes: number, act: () => void, refuse: (error: Error) => void): void {
    const who = bytes < COSTLY_BODY ? undefined : accountOf(request);
    if (who === undefined) return act();
    if (!this.shares.scheduleCostly(who, act)) refuse(tooManyWaiting());
  }
}

/** Returns the caller's account on the event loop; `undefined` without authentication. */
function accountOf({ raw }: FastifyRequest): string | undefined {
  const caller = callerOf(raw);
  return caller.owner === '' ? undefined : limitName(caller, undefined);
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function tooManyWaiting(): A2AError {
  return new A2AError('RATE_LIMITED', {
    message: 'Too many costly requests of yours are waiting; try again later',
    metadata: { limit: 'event-loop', retryAfterSeconds: RETRY_AFTER_SECONDS },
    detailReason: 'RATE_LIMITED',
  });
}

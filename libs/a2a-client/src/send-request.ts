import type { SendMessageRequest } from '#libs/protocol';

/** What Parley accepts where a caller names nothing (row B6). */
const ACCEPTED_OUTPUT_MODES = ['text/plain', 'application/json'];

/** A request as every transport sends it. */
export function completedRequest(request: SendMessageRequest): SendMessageRequest {
  return { ...request, configuration: { acceptedOutputModes: ACCEPTED_OUTPUT_MODES, ...request.configuration } };
}

/** The header that makes a Message which is sent again the same one. */
export function keyHeader({ idempotencyKey }: { idempotencyKey?: string }): Record<string, string> | undefined {
  return idempotencyKey === undefined ? undefined : { 'idempotency-key': idempotencyKey };
}

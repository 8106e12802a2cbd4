import type { SendMessageRequest } from '#libs/protocol';

/** What Parley accepts where a caller names nothing (row B6). */
const ACCEPTED_OUTPUT_MODES = ['text/plain', 'application/json'];

/**
 * A request as every transport sends it. An agent that does not stream is asked to answer as soon as there is a Task:
 * only a Task whose id is known can be followed after a crash, and canceled. Of a follow-up it is known before.
 */
export function completedRequest(request: SendMessageRequest, streaming: boolean): SendMessageRequest {
  const returnImmediately = !streaming && request.message.taskId === undefined;
  const configuration = {
    acceptedOutputModes: ACCEPTED_OUTPUT_MODES,
    ...(returnImmediately && { returnImmediately }),
    ...request.configuration,
  };
  return { ...request, configuration };
}

/** The header that makes a Message which is sent again the same one. */
export function keyHeader({ idempotencyKey }: { idempotencyKey?: string }): Record<string, string> | undefined {
  return idempotencyKey === undefined ? undefined : { 'idempotency-key': idempotencyKey };
}

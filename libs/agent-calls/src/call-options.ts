import type { CallOptions } from '#libs/a2a-client';
import { HOP_CHAIN, type Hop, hopMetadata } from '#libs/executor';
import type { SendMessageRequest } from '#libs/protocol';
import type { AgentCallSpec, CallIdentity, CallTarget } from './agent-call-spec.js';
import { ClaimProof } from './claim-proof.js';

/** Where a call has a limit for the whole of it, no other limit shall speak first. */
const UNLIMITED = { firstEvent: Infinity, idle: Infinity, total: Infinity };
const CANCEL_MS = 5_000;

/** How a call is made: an agent of ours tells a repetition by its key, to any other nothing leaves without a proof. */
export function callOptions(spec: AgentCallSpec, signal: AbortSignal): CallOptions {
  const { identity, own, by, request, limit, timeouts = limit === undefined ? undefined : UNLIMITED } = spec;
  return {
    ...identity,
    signal,
    ...(own && { idempotencyKey: request.message.messageId }),
    ...(!own && by && { fence: new ClaimProof(by.announcedAt ?? -Infinity, () => by.context.prove()).renew }),
    ...(timeouts && { timeouts }),
  };
}

/** How a Task is canceled: at once, or not at all. */
export function cancelOptions(identity: CallIdentity): CallOptions {
  return { ...identity, timeouts: { refused: 0 }, signal: AbortSignal.timeout(CANCEL_MS) };
}

/**
 * The request with the calls that led to it, itself included.
 * @throws A2AError LOOP_DETECTED where the agent was called already on the way here
 */
export function chained({ by, request }: AgentCallSpec, { url, callee = url }: CallTarget): SendMessageRequest {
  if (by?.chain === undefined) return request;
  const { hops, signer } = by.chain;
  signer.refuseCall(callee, hops);
  return withHops(request, signer.extended(hops, { task: by.context.taskId, caller: by.agent, callee }));
}

function withHops(request: SendMessageRequest, hops: readonly Hop[]): SendMessageRequest {
  const { message } = request;
  const metadata = { ...message.metadata, ...hopMetadata(hops) };
  return { ...request, message: { ...message, extensions: [HOP_CHAIN], metadata } };
}

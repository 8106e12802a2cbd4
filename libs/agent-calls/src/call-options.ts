import type { AgentCallOptions } from '#libs/a2a-client';
import { CALL_CHAIN, type ChainLink, chainMetadata } from '#libs/executor';
import type { SendMessageRequest } from '#libs/protocol';
import type { AgentCallSpec, CallIdentity, CallTarget } from './agent-call-spec.js';
import { ClaimProof } from './claim-proof.js';

/** Limits of single steps that never apply: the call has a limit as a whole. */
const UNLIMITED = { firstEvent: Infinity, idle: Infinity, total: Infinity };
const CANCEL_MS = 5_000;

/**
 * Returns the options of a call. A local agent detects retries by the idempotency key. For any other agent, nothing is
 * sent without a fresh proof of the claim.
 */
export function callOptions(spec: AgentCallSpec, signal: AbortSignal): AgentCallOptions {
  const { identity, own, by, request, resends, limit, timeouts = limit === undefined ? undefined : UNLIMITED } = spec;
  const trace = by?.context.trace?.contextBelow('call', request.message.messageId);
  return {
    ...identity,
    signal,
    ...(trace && { trace }),
    ...(own && { idempotencyKey: request.message.messageId }),
    ...(!own &&
      by && { fence: new ClaimProof(by.announcedAt ?? -Infinity, () => by.context.assertClaimHeld()).renewProof }),
    ...(timeouts && { timeouts }),
    ...(limit !== undefined && { isLimited: true }),
    ...(resends !== undefined && { resends }),
  };
}

/** Returns the options of a cancel: one attempt, without retries. */
export function cancelOptions(identity: CallIdentity): AgentCallOptions {
  return { ...identity, timeouts: { refused: 0 }, signal: AbortSignal.timeout(CANCEL_MS) };
}

/**
 * Returns the request with its call chain, including this call.
 * @throws A2AError LOOP_DETECTED if the chain already contains the agent
 */
export function extendCallChain(
  { by, request }: AgentCallSpec,
  { url, calledAgent = url }: CallTarget,
): SendMessageRequest {
  if (by?.chain === undefined) return request;
  const { links, signer } = by.chain;
  signer.refuseCall(calledAgent, links);
  return withChain(
    request,
    signer.extendChain(links, { task: by.context.taskId, caller: by.agent, callee: calledAgent }),
  );
}

function withChain(request: SendMessageRequest, links: readonly ChainLink[]): SendMessageRequest {
  const { message } = request;
  const metadata = { ...message.metadata, ...chainMetadata(links) };
  return { ...request, message: { ...message, extensions: [CALL_CHAIN], metadata } };
}

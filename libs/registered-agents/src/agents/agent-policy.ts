import { A2AError, isJsonObject, type SendMessageRequest } from '#libs/protocol';
import type { CallContext } from '#libs/agents';

/**
 * Reactions to a Task that the agent no longer knows, or a Message that it may or may not have received.
 * - `fail`: the Task fails.
 * - `resend`: the Message is sent again, for agents that tolerate this.
 * - `ask`: the Task waits for its caller, who chooses one of the two.
 */
export const FORGOTTEN = ['fail', 'resend', 'ask'] as const;
export type Forgotten = (typeof FORGOTTEN)[number];

/** Operations that a policy may name; `PushNotifications` stands for all operations on push configs. */
export const OPERATIONS = [
  'SendMessage',
  'SendStreamingMessage',
  'GetTask',
  'ListTasks',
  'CancelTask',
  'SubscribeToTask',
  'PushNotifications',
] as const;
export type PolicyOperation = (typeof OPERATIONS)[number];

/** Policy of a registered agent. Absent members limit nothing. */
export interface AgentPolicy {
  /** Maximum seconds of attempts to reach an unreachable or busy agent; then the Task fails. Default DEFAULT_WAIT_S. */
  wait?: number;
  /** Time limit of one turn, in seconds. */
  limit?: number;
  forgotten?: Forgotten;
  /**
   * Seconds without an event before a Task is parked if the agent offers push; 0: never; default DEFAULT_PARK_S.
   */
  park?: number;
  /** Names of the callers that may send Messages. */
  callers?: string[];
  /** Accepted scopes. A caller must have at least one of them. */
  scopes?: string[];
  /** Ids of skills. A Message must name one of them in `metadata.skillId`. */
  skills?: string[];
  /** Operations that callers may use. */
  methods?: PolicyOperation[];
  /** Maximum bytes of a Message as JSON. */
  maxBytes?: number;
  /** Maximum number of turns at the agent at the same time, over all replicas. */
  concurrency?: number;
  /** Maximum Messages to the agent in a minute, over all replicas, evenly spaced. */
  perMinute?: number;
  /** Names of the request headers that are passed on, in lower case. */
  headers?: string[];
}

export const DEFAULT_WAIT_S = 60;
/** Maximum seconds of `wait`. */
export const LONGEST_WAIT_S = 86_400;
export const DEFAULT_PARK_S = 30;
/** Maximum seconds of `park`. */
export const LONGEST_PARK_S = 86_400;
/** Maximum seconds of `limit`, which is the maximum delay of a timer of Node.js. */
export const LONGEST_LIMIT_S = Math.floor((2 ** 31 - 1) / 1_000);
/** Maximum number of entries in each list of a policy. */
export const MOST_ENTRIES = 100;

/** Names of headers that are never passed on: they belong to one connection, to the protocol, or prove the caller. */
const OWN_HEADER =
  /^(authorization|cookie|host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|accept.*|content-.*|proxy-.*|x-api-key|a2a-.*|x-a2a-.*|parley-.*|idempotency-key|traceparent|tracestate)$/;
const HEADER = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** True if a policy may pass on the header of this name. */
export function isPassableHeader(name: unknown): boolean {
  return typeof name === 'string' && HEADER.test(name) && !OWN_HEADER.test(name);
}

/**
 * Checks a Message against the policy, before anything is written or sent.
 * @throws A2AError PERMISSION_DENIED with reason POLICY_DENIED; INVALID_REQUEST with status 413 for a long Message
 */
export function checkPolicy(policy: AgentPolicy, { message }: SendMessageRequest, call: CallContext): void {
  const { callers, scopes, skills, maxBytes } = policy;
  const permissions = call.inbound?.permissions;
  if (callers && !callers.includes(call.scope.owner)) throw policyDenied('its policy does not name the caller');
  if (scopes && !scopes.some((it) => permissions?.has(it)))
    throw policyDenied(`its policy requires a direct call with the scope ${scopes.join(' or ')}`);
  const skill = message.metadata?.skillId;
  if (skills && !(typeof skill === 'string' && skills.includes(skill)))
    throw policyDenied(`message.metadata.skillId must be one of ${skills.join(', ')}`);
  if (maxBytes === undefined) return;
  const bytes = Buffer.byteLength(JSON.stringify(message));
  if (bytes <= maxBytes) return;
  throw new A2AError('INVALID_REQUEST', {
    message: `A message to this agent has at most ${maxBytes} bytes; this one has ${bytes}`,
    detailReason: 'MESSAGE_TOO_LARGE',
    status: 413,
  });
}

function policyDenied(reason: string): A2AError {
  return new A2AError('PERMISSION_DENIED', {
    message: `This agent does not take the message: ${reason}`,
    detailReason: 'POLICY_DENIED',
  });
}

/** Returns the headers of a request that a policy passes on. A repeated header is passed on as one list. */
export function passedHeaders({ headers = [] }: AgentPolicy, { inbound }: CallContext): Record<string, string> {
  const passed: Record<string, string> = {};
  for (const name of headers) {
    const value = inbound?.headers[name];
    if (value !== undefined && isPassableHeader(name)) passed[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return passed;
}

/** Returns the policy that a stored JSON value contains; an empty policy for any value that is no object. */
export function readPolicy(stored: unknown): AgentPolicy {
  return isJsonObject(stored as never) ? (stored as AgentPolicy) : {};
}

import type { AgentDirectory } from '#libs/a2a-client';
import type { CallIdentity } from '#libs/durable';
import type { RequestContext } from '#libs/agents';
import type { Message, Part, SendMessageRequest } from '#libs/protocol';
import type { RegisteredAgent } from '../agents/registered-agents.js';
import { type AgentPolicy, passedHeaders } from '../agents/agent-policy.js';
import type { LimitGates } from '#libs/limits';
import type { RelayLimits } from './relay-limits.js';
import type { RelayTalk, RelayTasks, StoredTurn, TurnOptions } from './relay-tasks.js';
import type { RelayWebhooks } from './relay-webhooks.js';

/** Services that a RelayTurn and its helpers use. */
export interface RelayServices {
  directory: AgentDirectory;
  tasks: RelayTasks;
  limits: RelayLimits;
  /** Limits of the service. */
  gates?: LimitGates;
  webhooks: RelayWebhooks;
}

/**
 * Returns the owner of a Task together with its registered agent. Messages may refer only to Tasks of the same owner
 * and agent (RelayTalk).
 */
export function talkOf({ name }: RegisteredAgent, { call }: RequestContext): RelayTalk {
  return { scope: call.scope, agent: name };
}

/**
 * Returns the identity of a call to the agent: the scope of the Task's caller, the calling Task, the credential, and
 * the extensions and headers that are passed on.
 */
export function identityOf(
  { name, auth }: Pick<RegisteredAgent, 'name' | 'auth'>,
  { call, taskId, token }: RequestContext,
  { extensions = [], headers }: TurnOptions = {},
): CallIdentity {
  return {
    scope: call.scope,
    parent: { taskId, reference: name, token },
    ...(auth !== undefined && { credential: auth }),
    ...(extensions.length > 0 && { extensions }),
    ...(headers && { headers }),
  };
}

/** Returns the part of a request, besides the Message, that is stored so that another execution can repeat the turn. */
export function turnOptions(
  policy: AgentPolicy,
  { acceptedOutputModes, call, metadata }: Pick<RequestContext, 'acceptedOutputModes' | 'call' | 'metadata'>,
): TurnOptions {
  const headers = passedHeaders(policy, call);
  return {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(acceptedOutputModes && acceptedOutputModes.length > 0 && { acceptedOutputModes }),
    ...(call.extensions.length > 0 && { extensions: call.extensions }),
    ...(metadata && { metadata }),
  };
}

/**
 * Returns the request to the agent: the caller's Message, with the agent's own ids of the Task and the context. The
 * caller's `messageId` is kept in each attempt, so that the agent can detect a repeated Message.
 * @param parts Parts of the Message, as they were sent
 * @param references Tasks of the agent that the Message refers to
 */
export function toAgentRequest(
  message: Message,
  parts: Part[],
  { remoteTaskId, remoteContextId, options }: StoredTurn,
  references: readonly string[],
): SendMessageRequest {
  const { taskId: _taskId, contextId: _contextId, referenceTaskIds: _ids, ...content } = message;
  const ids = remoteTaskId === undefined ? {} : { taskId: remoteTaskId, contextId: remoteContextId ?? '' };
  return {
    message: {
      ...content,
      ...ids,
      parts,
      ...(references.length > 0 && { referenceTaskIds: [...references] }),
    },
    // An empty list stands for any type; without the list, the client would name its own.
    configuration: { acceptedOutputModes: [...(options.acceptedOutputModes ?? [])] },
    ...(options.metadata && { metadata: options.metadata }),
  };
}

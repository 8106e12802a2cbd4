import { agentToolEntries, REVISION_KEY } from '#libs/executor';
import { durationOf } from '#libs/expressions';
import { derivedId, type Part, type SendMessageRequest, textBefore, userMessage } from '#libs/protocol';
import type { WorkflowNode } from './workflow.js';

/** Seconds that an external agent has for its whole answer, unless the node says otherwise. */
const EXTERNAL_TIMEOUT = 30;

const CALLING_TYPES = new Set(['external', 'conversation', 'brainstorm', 'workflow']);

/** What a timer of this runtime can hold, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The metadata key of a Message to a node under which the id of the caller's own Message stands. */
export const CALLER_MESSAGE_KEY = 'parley/caller-message-id';

/** A run as its calls name it. */
export interface DispatchingRun {
  contextId: string;
  revision: string;
  /** The id of the Message that began the run, or of the one that answers the node's question. */
  callerMessageId?: string;
}

/** A child's Task that waits for an answer. */
export interface WaitingTask {
  taskId: string;
  contextId: string | undefined;
}

/**
 * The id of the Message that a node is called with: the same for the same run, instance and attempt, and for an answer the
 * Message that it passes on; so an agent can tell a repeated call from a new one. Shaped as a UUID.
 */
export function dispatchMessageId(runId: string, instance: string, attempt: number, answer = ''): string {
  return derivedId(runId, instance, attempt, answer);
}

/** What a child's row calls the instance of a node, and the attempt, that it was made for. */
export function childReference(instance: string, attempt: number): string {
  return `${instance}#${attempt}`;
}

/** The node that an instance is one of. */
export function nodeOfInstance(instance: string): string {
  return textBefore(instance, '@[');
}

/**
 * The request that calls a node. An agent of ours shares the run's context and is told the revision; an external one
 * has its own context. All are told which Message of the run's caller they are called for. `waiting` is the Task that the
 * Message answers.
 */
export function nodeRequest(
  node: WorkflowNode,
  run: DispatchingRun,
  messageId: string,
  parts: Part[],
  waiting?: WaitingTask,
): SendMessageRequest {
  const own = node.type !== 'external';
  const contextId = waiting ? waiting.contextId : own ? run.contextId : undefined;
  const { callerMessageId } = run;
  const message = userMessage(parts, {
    messageId,
    ...(contextId !== undefined && { contextId }),
    ...(waiting && { taskId: waiting.taskId }),
    ...(callerMessageId && { metadata: { [CALLER_MESSAGE_KEY]: callerMessageId } }),
  });
  return {
    message,
    // What an agent of ours answers with is its definition's business.
    ...(own
      ? { metadata: { [REVISION_KEY]: run.revision } }
      : { configuration: { acceptedOutputModes: ['text/plain', 'application/json'] } }),
  };
}

/** True if a node's agent calls agents that the workflow does not name as nodes. */
export function callsOthers({ type, config }: Pick<WorkflowNode, 'type' | 'config'>): boolean {
  return CALLING_TYPES.has(type) || (type === 'agent' && agentToolEntries(config['tools']).length > 0);
}

/** How long, in milliseconds, the agent of a node may take in all; `undefined`: the client's own limits hold. */
export function nodeTimeout(node: WorkflowNode): number | undefined {
  const limit = durationOf(node.timeout);
  if (limit !== undefined) return Math.min(limit, LONGEST_TIMER);
  if (node.type !== 'external') return undefined;
  const seconds = Number(node.config['timeout'] ?? EXTERNAL_TIMEOUT);
  return Math.min((seconds > 0 ? seconds : EXTERNAL_TIMEOUT) * 1000, LONGEST_TIMER);
}

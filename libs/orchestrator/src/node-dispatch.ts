import { agentToolEntries, REVISION_KEY } from '#libs/executor';
import { parseDuration } from '#libs/expressions';
import { derivedId, type Part, type SendMessageRequest, textBefore, userMessage } from '#libs/protocol';
import type { WorkflowNode } from './workflow.js';

/** Seconds for the whole answer of an external agent, unless the node sets another timeout. */
const EXTERNAL_TIMEOUT = 30;

const CALLING_TYPES = new Set(['external', 'conversation', 'brainstorm', 'workflow']);

/** Longest delay of a Node.js timer, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Metadata key of a Message to a node: the id of the caller's own Message. */
export const CALLER_MESSAGE_KEY = 'parley/caller-message-id';

/** The parts of a run that its calls carry. */
export interface DispatchingRun {
  contextId: string;
  revision: string;
  /** Id of the Message that began the run, or of the one that answers the node's question. */
  callerMessageId?: string;
}

/** A child's Task that waits for an answer. */
export interface WaitingTask {
  taskId: string;
  contextId: string | undefined;
}

/**
 * Returns the id of the Message that calls a node, shaped as a UUID. It depends only on the run, the instance, the
 * attempt and the forwarded answer, so an agent can recognize a repeated call.
 */
export function dispatchMessageId(runId: string, instance: string, attempt: number, answer = ''): string {
  return derivedId(runId, instance, attempt, answer);
}

/** Returns the reference under which a child is stored: the instance of a node and the attempt. */
export function childReference(instance: string, attempt: number): string {
  return `${instance}#${attempt}`;
}

/** Returns the node id of an instance. */
export function nodeOfInstance(instance: string): string {
  return textBefore(instance, '@[');
}

/**
 * Returns the request that calls a node.
 * - A local agent shares the run's context and receives the revision; an external agent has its own context.
 * - The metadata name the caller's Message.
 * @param waiting the Task that the Message answers
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
    // The definition of a local agent decides its output modes.
    ...(own
      ? { metadata: { [REVISION_KEY]: run.revision } }
      : { configuration: { acceptedOutputModes: ['text/plain', 'application/json'] } }),
  };
}

/** True if the node's agent calls agents that are not nodes of the workflow. */
export function callsOthers({ type, config }: Pick<WorkflowNode, 'type' | 'config'>): boolean {
  return CALLING_TYPES.has(type) || (type === 'agent' && agentToolEntries(config['tools']).length > 0);
}

/** Returns the milliseconds that a node's agent may take in all; `undefined` if only the client's own limits apply. */
export function nodeTimeout(node: WorkflowNode): number | undefined {
  const limit = parseDuration(node.timeout);
  if (limit !== undefined) return Math.min(limit, LONGEST_TIMER);
  if (node.type !== 'external') return undefined;
  const seconds = Number(node.config['timeout'] ?? EXTERNAL_TIMEOUT);
  return Math.min((seconds > 0 ? seconds : EXTERNAL_TIMEOUT) * 1000, LONGEST_TIMER);
}

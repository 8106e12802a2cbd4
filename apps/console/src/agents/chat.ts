import { joinedParts, partsText } from '../api/parts.js';
import {
  type A2aArtifact,
  isEnded,
  isWaiting,
  type A2aMessage,
  type A2aPart,
  type A2aStreamItem,
  type A2aTaskStatus,
} from '../api/task.js';

export interface ChatEntry {
  key: string;
  from: 'person' | 'agent';
  /** Name of the Artifact; absent if the entry is a Message. */
  name?: string;
  parts: A2aPart[];
}

/** A chat with an agent: its entries, and the context and Task of the next Message. */
export interface Chat {
  entries: ChatEntry[];
  contextId?: string;
  /** Id of the Task in the last answer; absent if that answer has no Task. */
  taskId?: string;
  state?: string;
}

export const EMPTY_CHAT: Chat = { entries: [] };

/** Returns the members that the next Message must carry: the context, and the Task if it waits for input. */
export function getContinuation({ contextId, taskId, state }: Chat): { contextId?: string; taskId?: string } {
  const isContinued = taskId !== undefined && state !== undefined && isWaiting(state);
  return { ...(contextId !== undefined && { contextId }), ...(isContinued && { taskId }) };
}

/** True if the Task of the last answer is still running. */
export function isAtWork({ taskId, state }: Chat): boolean {
  return taskId !== undefined && state !== undefined && !isEnded(state) && !isWaiting(state);
}

export function withMessage(chat: Chat, { messageId, parts }: A2aMessage): Chat {
  return { ...chat, entries: [...chat.entries, { key: messageId, from: 'person', parts }] };
}

/** Adds an item of the agent's answer to a chat, and returns the new chat. */
export function withAnswer(chat: Chat, { task, message, statusUpdate, artifactUpdate }: A2aStreamItem): Chat {
  if (message) return withAgentMessage(fromContext(withoutTask(chat), message.contextId), message);
  if (task) {
    let shown: Chat = { ...fromContext(chat, task.contextId), taskId: task.id };
    for (const artifact of task.artifacts ?? []) shown = withArtifact(shown, task.id, artifact, false);
    return inStatus(shown, task.status);
  }
  if (statusUpdate) {
    return inStatus({ ...fromContext(chat, statusUpdate.contextId), taskId: statusUpdate.taskId }, statusUpdate.status);
  }
  if (!artifactUpdate) return chat;
  const { taskId, artifact, append = false, contextId } = artifactUpdate;
  return withArtifact({ ...fromContext(chat, contextId), taskId }, taskId, artifact, append);
}

/**
 * Adds the status of a Task, with its message, to a chat. If an Artifact of an ended Task has the same text as the
 * message, the text is shown only once.
 */
function inStatus(chat: Chat, { state, message }: A2aTaskStatus): Chat {
  const at = { ...chat, state };
  return message && !(isEnded(state) && repeatsArtifact(chat, message.parts)) ? withAgentMessage(at, message) : at;
}

function repeatsArtifact({ entries, taskId }: Chat, parts: readonly A2aPart[]): boolean {
  const text = partsText(parts);
  return entries.some((entry) => entry.key.startsWith(`${taskId}/`) && partsText(entry.parts) === text);
}

function withAgentMessage(chat: Chat, { messageId, parts }: A2aMessage): Chat {
  if (chat.entries.some(({ key }) => key === messageId)) return chat;
  return { ...chat, entries: [...chat.entries, { key: messageId, from: 'agent', parts }] };
}

function withArtifact(
  chat: Chat,
  taskId: string,
  { artifactId, name = artifactId, parts }: A2aArtifact,
  append: boolean,
): Chat {
  const key = `${taskId}/${artifactId}`;
  const known = chat.entries.find((entry) => entry.key === key);
  if (!known) return { ...chat, entries: [...chat.entries, { key, from: 'agent', name, parts }] };
  const changed = { ...known, parts: append ? joinedParts([...known.parts, ...parts]) : parts };
  return { ...chat, entries: chat.entries.map((entry) => (entry === known ? changed : entry)) };
}

function fromContext(chat: Chat, contextId: string | undefined): Chat {
  return contextId === undefined || contextId === '' ? chat : { ...chat, contextId };
}

/** Returns the chat without its Task: an agent that answers with a Message alone has no Task to continue. */
function withoutTask({ taskId: _taskId, state: _state, ...chat }: Chat): Chat {
  return chat;
}

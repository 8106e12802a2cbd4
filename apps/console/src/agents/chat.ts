import { joinedParts, partsText } from '../api/parts.js';
import {
  type Artifact,
  isEnded,
  isWaiting,
  type Message,
  type Part,
  type StreamResponse,
  type TaskStatus,
} from '../api/task.js';

export interface ChatEntry {
  key: string;
  from: 'person' | 'agent';
  /** What an Artifact is called; absent for a Message. */
  name?: string;
  parts: Part[];
}

/** A talk with an agent: what was said, and where the next Message goes on. */
export interface Chat {
  entries: ChatEntry[];
  contextId?: string;
  /** The Task of the last answer. */
  taskId?: string;
  state?: string;
}

export const EMPTY_CHAT: Chat = { entries: [] };

/** What the next Message must carry: the context, and the Task while that waits for it. */
export function continuation({ contextId, taskId, state }: Chat): { contextId?: string; taskId?: string } {
  const goesOn = taskId !== undefined && state !== undefined && isWaiting(state);
  return { ...(contextId !== undefined && { contextId }), ...(goesOn && { taskId }) };
}

/** Whether the Task of the last answer is at work. */
export function isAtWork({ taskId, state }: Chat): boolean {
  return taskId !== undefined && state !== undefined && !isEnded(state) && !isWaiting(state);
}

export function withMessage(chat: Chat, { messageId, parts }: Message): Chat {
  return { ...chat, entries: [...chat.entries, { key: messageId, from: 'person', parts }] };
}

/** The chat after an item of the agent's answer. */
export function withAnswer(chat: Chat, { task, message, statusUpdate, artifactUpdate }: StreamResponse): Chat {
  if (message) return said(fromContext(withoutTask(chat), message.contextId), message);
  if (task) {
    let shown: Chat = { ...fromContext(chat, task.contextId), taskId: task.id };
    for (const artifact of task.artifacts ?? []) shown = made(shown, task.id, artifact, false);
    return inStatus(shown, task.status);
  }
  if (statusUpdate) {
    return inStatus({ ...fromContext(chat, statusUpdate.contextId), taskId: statusUpdate.taskId }, statusUpdate.status);
  }
  if (!artifactUpdate) return chat;
  const { taskId, artifact, append = false, contextId } = artifactUpdate;
  return made({ ...fromContext(chat, contextId), taskId }, taskId, artifact, append);
}

/** What an agent says at the end is often what it has made: that is shown once. */
function inStatus(chat: Chat, { state, message }: TaskStatus): Chat {
  const at = { ...chat, state };
  return message && !(isEnded(state) && isMade(chat, message.parts)) ? said(at, message) : at;
}

function isMade({ entries, taskId }: Chat, parts: readonly Part[]): boolean {
  const text = partsText(parts);
  return entries.some((entry) => entry.key.startsWith(`${taskId}/`) && partsText(entry.parts) === text);
}

function said(chat: Chat, { messageId, parts }: Message): Chat {
  if (chat.entries.some(({ key }) => key === messageId)) return chat;
  return { ...chat, entries: [...chat.entries, { key: messageId, from: 'agent', parts }] };
}

function made(chat: Chat, taskId: string, { artifactId, name = artifactId, parts }: Artifact, append: boolean): Chat {
  const key = `${taskId}/${artifactId}`;
  const known = chat.entries.find((entry) => entry.key === key);
  if (!known) return { ...chat, entries: [...chat.entries, { key, from: 'agent', name, parts }] };
  const changed = { ...known, parts: append ? joinedParts([...known.parts, ...parts]) : parts };
  return { ...chat, entries: chat.entries.map((entry) => (entry === known ? changed : entry)) };
}

function fromContext(chat: Chat, contextId: string | undefined): Chat {
  return contextId === undefined || contextId === '' ? chat : { ...chat, contextId };
}

/** An agent that answers with a Message alone has no Task to go on with. */
function withoutTask({ taskId: _taskId, state: _state, ...chat }: Chat): Chat {
  return chat;
}

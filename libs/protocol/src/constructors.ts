import type { JsonObject } from './json.js';
import { type Message, type Part, textPart } from './message.js';
import { randomId } from './random-id.js';
import type { Artifact, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from './task.js';
import type { TaskState } from './task-state.js';
import { timestampNow } from './timestamp.js';

/** Names the Task that an event belongs to; a Task's RequestContext is one. */
export interface TaskReference {
  taskId: string;
  contextId: string;
}

/** Creates a Message from a caller. Text becomes one text Part. */
export function userMessage(content: string | Part[], fields: Partial<Omit<Message, 'role' | 'parts'>> = {}): Message {
  return { messageId: fields.messageId ?? randomId(), ...fields, role: 'ROLE_USER', parts: toParts(content) };
}

/** Creates a Message from the agent that works on the Task. Text becomes one text Part. */
export function agentMessage(reference: TaskReference, content: string | Part[], metadata?: JsonObject): Message {
  return {
    messageId: randomId(),
    contextId: reference.contextId,
    taskId: reference.taskId,
    role: 'ROLE_AGENT',
    parts: toParts(content),
    ...(metadata && { metadata }),
  };
}

/** Creates the Task of an accepted first Message: SUBMITTED, with that Message as its history. */
export function submittedTask(reference: TaskReference, message: Message, metadata?: JsonObject): Task {
  return {
    id: reference.taskId,
    contextId: reference.contextId,
    status: { state: 'TASK_STATE_SUBMITTED', timestamp: timestampNow() },
    history: [{ ...message, taskId: reference.taskId, contextId: reference.contextId }],
    ...(metadata && { metadata }),
  };
}

/** Creates a status update with the current time. Text or Parts become the status Message. */
export function statusUpdate(
  reference: TaskReference,
  state: TaskState,
  content?: string | Part[],
  metadata?: JsonObject,
): { statusUpdate: TaskStatusUpdateEvent } {
  const { taskId, contextId } = reference;
  const timestamp = timestampNow();
  const status =
    content === undefined ? { state, timestamp } : { state, message: agentMessage(reference, content), timestamp };
  return { statusUpdate: metadata ? { taskId, contextId, status, metadata } : { taskId, contextId, status } };
}

export interface ArtifactOptions {
  append?: boolean;
  lastChunk?: boolean;
  metadata?: JsonObject;
}

/** Creates an update with a new Artifact, or with `append` further Parts of one. */
export function artifactUpdate(
  reference: TaskReference,
  artifact: Omit<Artifact, 'artifactId'> & { artifactId?: string },
  options: ArtifactOptions = {},
): { artifactUpdate: TaskArtifactUpdateEvent } {
  return {
    artifactUpdate: {
      taskId: reference.taskId,
      contextId: reference.contextId,
      artifact: { ...artifact, artifactId: artifact.artifactId ?? randomId() },
      ...options,
    },
  };
}

function toParts(content: string | Part[]): Part[] {
  return typeof content === 'string' ? [textPart(content)] : content;
}

import type { JsonObject } from './json.js';
import type { Message, Part } from './message.js';
import type { TaskState } from './task-state.js';

/** An output of a Task (A2A 1.0, section 4.1.7). */
export interface Artifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  metadata?: JsonObject;
  extensions?: string[];
}

export interface TaskStatus {
  state: TaskState;
  message?: Message;
  /** ISO 8601, UTC, milliseconds (section 5.6.1). */
  timestamp?: string;
}

/** The stateful unit of work of the protocol (section 4.1.1). */
export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: JsonObject;
}

export interface TaskStatusUpdateEvent {
  taskId: string;
  contextId: string;
  status: TaskStatus;
  metadata?: JsonObject;
}

export interface TaskArtifactUpdateEvent {
  taskId: string;
  contextId: string;
  artifact: Artifact;
  /** True to add the Parts to the Artifact with the same id; otherwise they replace it. */
  append?: boolean;
  lastChunk?: boolean;
  metadata?: JsonObject;
}

/** Item of a stream: exactly one key is present (section 3.2.3). */
export type StreamResponse =
  | { task: Task }
  | { message: Message }
  | { statusUpdate: TaskStatusUpdateEvent }
  | { artifactUpdate: TaskArtifactUpdateEvent };

/** Answer to SendMessage: a Task, or a direct Message if no Task was needed (section 3.1.1). */
export type SendMessageResponse = { task: Task } | { message: Message };

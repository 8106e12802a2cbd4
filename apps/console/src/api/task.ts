/** Members of an A2A 1.0 Part, in JSON, that the console shows. */

export interface A2aPart {
  text?: string;
  /** Bytes of a file, in base64. */
  raw?: string;
  url?: string;
  data?: unknown;
  mediaType?: string;
  filename?: string;
}

export interface A2aMessage {
  messageId: string;
  role: string;
  parts: A2aPart[];
  contextId?: string;
  taskId?: string;
}

export interface A2aArtifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: A2aPart[];
}

export interface A2aTaskStatus {
  state: string;
  message?: A2aMessage;
  timestamp?: string;
}

export interface A2aTask {
  id: string;
  contextId: string;
  status: A2aTaskStatus;
  history?: A2aMessage[];
  artifacts?: A2aArtifact[];
  metadata?: Record<string, unknown>;
}

interface StatusUpdate {
  taskId: string;
  contextId: string;
  status: A2aTaskStatus;
  metadata?: Record<string, unknown>;
}

interface ArtifactUpdate {
  taskId: string;
  contextId: string;
  artifact: A2aArtifact;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: Record<string, unknown>;
}

/** An item of an agent's answer; exactly one member is set. */
export interface A2aStreamItem {
  task?: A2aTask;
  message?: A2aMessage;
  statusUpdate?: StatusUpdate;
  artifactUpdate?: ArtifactUpdate;
}

/** An event of a Task's log. */
export interface TaskLogEvent {
  /** Number of the event, from 1 without a gap. */
  sequence: number;
  item: A2aStreamItem;
}

export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_AUTH_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
] as const;

export function isEnded(state: string): boolean {
  return ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'].includes(state);
}

/** True if the Task waits for the caller's next Message. */
export function isWaiting(state: string): boolean {
  return state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED';
}

/** Returns the Task's state in an item of an answer, if the item has one. */
export function stateIn({ task, statusUpdate }: A2aStreamItem): string | undefined {
  return statusUpdate?.status.state ?? task?.status.state;
}

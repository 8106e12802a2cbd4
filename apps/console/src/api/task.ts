/** A2A 1.0 in its JSON form, as far as the console shows it. */

export interface Part {
  text?: string;
  /** Base64. */
  raw?: string;
  url?: string;
  data?: unknown;
  mediaType?: string;
  filename?: string;
}

export interface Message {
  messageId: string;
  role: string;
  parts: Part[];
  contextId?: string;
  taskId?: string;
}

export interface Artifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
}

export interface TaskStatus {
  state: string;
  message?: Message;
  timestamp?: string;
}

export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus;
  history?: Message[];
  artifacts?: Artifact[];
  metadata?: Record<string, unknown>;
}

export interface StatusUpdate {
  taskId: string;
  contextId: string;
  status: TaskStatus;
  metadata?: Record<string, unknown>;
}

export interface ArtifactUpdate {
  taskId: string;
  contextId: string;
  artifact: Artifact;
  append?: boolean;
  lastChunk?: boolean;
  metadata?: Record<string, unknown>;
}

/** An item of an agent's answer; exactly one member is set. */
export interface StreamResponse {
  task?: Task;
  message?: Message;
  statusUpdate?: StatusUpdate;
  artifactUpdate?: ArtifactUpdate;
}

/** An event of a Task's log. */
export interface TaskEvent {
  /** Number of the event, from 1 without a gap. */
  sequence: number;
  item: StreamResponse;
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

/** Returns the state of the Task in an item, if the item has one. */
export function stateIn({ task, statusUpdate }: StreamResponse): string | undefined {
  return statusUpdate?.status.state ?? task?.status.state;
}

/** Task states as ProtoJSON writes them (A2A 1.0, section 4.1.3). */
export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;

export type TaskState = (typeof TASK_STATES)[number];

const TERMINAL: ReadonlySet<TaskState> = new Set<TaskState>([
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]);

const WAITING: ReadonlySet<TaskState> = new Set<TaskState>(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']);

/** True for a terminal state: the Task never changes again (section 4.1.3). */
export function isTerminalState(state: TaskState): boolean {
  return TERMINAL.has(state);
}

/** True for a waiting ("interrupted") state: the Task does nothing until its caller sends the next Message. */
export function isWaitingState(state: TaskState): boolean {
  return WAITING.has(state);
}

/** True for a state that is neither terminal nor waiting: an executor is, or should be, working. */
export function isActiveState(state: TaskState): boolean {
  return !TERMINAL.has(state) && !WAITING.has(state);
}

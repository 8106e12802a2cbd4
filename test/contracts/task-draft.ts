import { randomUUID } from 'node:crypto';
import { isTerminalState, statusUpdate, submittedTask, type TaskState, textPart, userMessage } from '#libs/protocol';
import {
  ANONYMOUS_SCOPE,
  type JournalEntry,
  newTaskId,
  parkedUntil,
  type RecordedEvent,
  type TaskEvent,
  type TaskHeader,
  toStreamResponse,
} from '#libs/tasks';

/** Who executes a draft where nothing else is said. */
export const REPLICA = 'replica-1';

interface DraftOptions {
  taskId?: string;
  contextId?: string;
  owner?: string;
  agent?: string;
  replicaId?: string;
  parentToken?: string;
  text?: string;
  at?: Date;
  metadata?: { [key: string]: number };
  parentTaskId?: string;
  parentReference?: string;
}

/** A Task on its way into the store. */
export function newDraft(options: DraftOptions = {}) {
  const { taskId = newTaskId(), contextId = randomUUID() } = options;
  const reference = { taskId, contextId };
  const token = randomUUID();
  const at = options.at ?? new Date();
  const header: TaskHeader = {
    ...reference,
    ...ANONYMOUS_SCOPE,
    ...(options.owner !== undefined && { owner: options.owner }),
    agent: options.agent ?? 'workflows/w',
    state: 'TASK_STATE_SUBMITTED',
    lastSequence: 0,
    ...(options.parentTaskId !== undefined && { parentTaskId: options.parentTaskId }),
    ...(options.parentReference !== undefined && { parentReference: options.parentReference }),
    createdAt: at,
    updatedAt: at,
  };
  const entry = (entryToken: string, after: number, events: TaskEvent[]): JournalEntry => ({
    ...reference,
    token: entryToken,
    after,
    events: events.map((event, index) => recorded(reference.taskId, after + index + 1, event)),
    state: lastState(events),
    updatedAt: at,
    ...withWakeTime(events.at(-1)),
    ...withQuestions(events.at(-1), header),
  });
  return {
    ...reference,
    token,
    at,
    status: (state: TaskState, text?: string): TaskEvent => statusUpdate(reference, state, text),
    parked: (until: Date, state: TaskState = 'TASK_STATE_WORKING'): TaskEvent => ({
      ...statusUpdate(reference, state),
      parks: until,
    }),
    /** A chunk of the Task's only Artifact. */
    chunk: (text: string): TaskEvent => ({
      artifactUpdate: { ...reference, artifact: { artifactId: 'a', parts: [textPart(text)] }, append: true },
    }),
    created(...events: TaskEvent[]): JournalEntry {
      const message = userMessage(options.text ?? 'hello', { messageId: 'm1' });
      const task = submittedTask(reference, message, options.metadata);
      const { replicaId = REPLICA, parentToken } = options;
      const create = { header, replicaId, ...(parentToken !== undefined && { parentToken }) };
      return { ...entry(token, 0, [{ task }, ...events]), create };
    },
    continued: (entryToken: string, after: number, ...events: TaskEvent[]): JournalEntry =>
      entry(entryToken, after, events),
  };
}

function recorded(taskId: string, sequence: number, event: TaskEvent): RecordedEvent {
  return { taskId, sequence, event, json: JSON.stringify(toStreamResponse(event)) };
}

function withWakeTime(last: TaskEvent | undefined): Pick<JournalEntry, 'wakeAt'> {
  const wakeAt = last && parkedUntil(last);
  return wakeAt ? { wakeAt } : {};
}

function withQuestions(last: TaskEvent | undefined, header: TaskHeader): Pick<JournalEntry, 'asked'> {
  if (!last || !('statusUpdate' in last)) return {};
  const { questions = isTerminalState(last.statusUpdate.status.state) ? [] : undefined } = last;
  return questions ? { asked: { header, questions } } : {};
}

function lastState(events: readonly TaskEvent[]): TaskState {
  const states = events.map((event) =>
    'task' in event ? event.task.status.state : 'statusUpdate' in event ? event.statusUpdate.status.state : undefined,
  );
  return states.findLast((it) => it !== undefined) ?? 'TASK_STATE_WORKING';
}

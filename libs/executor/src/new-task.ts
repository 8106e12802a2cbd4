import {
  A2AError,
  ContentTooLarge,
  type JsonObject,
  randomId,
  type SendMessageRequest,
  dateOfTimestamp,
  timestampNow,
} from '#libs/protocol';
import { begunTask, newTaskId, type TaskEvent, type TaskHeader, type TaskRecording, type TaskStore } from '#libs/tasks';
import type { ServedAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';
import { keptTrace } from './spans/kept-trace.js';

/** Task metadata with the revision of the agent that accepted the Task. */
export const REVISION_KEY = 'parley/revision';

/** Returns the header of the Task that a Message creates at an agent. */
export function newHeader(agent: ServedAgent, request: SendMessageRequest, call: CallContext): TaskHeader {
  const now = dateOfTimestamp(timestampNow());
  return {
    taskId: call.newTaskId?.() ?? agent.executor.newTaskId?.() ?? newTaskId(),
    contextId: request.message.contextId || randomId(),
    tenant: call.scope.tenant,
    owner: call.scope.owner,
    agent: agent.path,
    state: 'TASK_STATE_SUBMITTED',
    lastSequence: 0,
    ...(call.parent && { parentTaskId: call.parent.taskId, parentReference: call.parent.reference }),
    createdAt: now,
    updatedAt: now,
  };
}

/** Returns the metadata of a new Task, readable by its caller: revision, trace and the executor's own. */
export function newTaskMetadata(agent: ServedAgent, request: SendMessageRequest, call: CallContext): JsonObject {
  return {
    ...agent.executor.taskMetadata?.(request, call),
    ...keptTrace(request, call),
    [REVISION_KEY]: agent.version,
  };
}

/** Returns the revision of the agent that accepted a Task; `undefined` if its log does not contain it. */
export async function acceptedRevision(
  tasks: Pick<TaskStore, 'readEvents'>,
  taskId: string,
): Promise<string | undefined> {
  const revision = (await begunTask(tasks, taskId))?.metadata?.[REVISION_KEY];
  return typeof revision === 'string' ? revision : undefined;
}

/** Records the first event of a Message. @throws A2AError INVALID_REQUEST with status 413 if it is too large */
export function recordAccepted(recording: TaskRecording, event: TaskEvent): void {
  try {
    recording.recordEvent(event);
  } catch (error) {
    if (!(error instanceof ContentTooLarge)) throw error;
    const options = { message: error.message, detailReason: 'MESSAGE_TOO_LARGE', status: 413, cause: error };
    throw new A2AError('INVALID_REQUEST', options);
  }
}

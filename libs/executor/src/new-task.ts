import {
  A2AError,
  ContentTooLarge,
  type JsonObject,
  randomId,
  type SendMessageRequest,
  timeOf,
  timestampNow,
} from '#libs/protocol';
import { begunTask, newTaskId, type TaskEvent, type TaskHeader, type TaskRecording, type TaskStore } from '#libs/tasks';
import type { ServedAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';
import { keptTrace } from './spans/kept-trace.js';

/** The Task metadata that names the revision of the agent that a Task was accepted by. */
export const REVISION_KEY = 'parley/revision';

/** The row of a Task that a Message makes at an agent. */
export function newHeader(agent: ServedAgent, request: SendMessageRequest, call: CallContext): TaskHeader {
  const now = timeOf(timestampNow());
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

/** What a caller may read of how its Task was accepted. */
export function taskMetadata(agent: ServedAgent, request: SendMessageRequest, call: CallContext): JsonObject {
  return {
    ...agent.executor.taskMetadata?.(request, call),
    ...keptTrace(request, call),
    [REVISION_KEY]: agent.version,
  };
}

/** The revision of the agent that a Task was accepted by; `undefined` where its log does not say. */
export async function acceptedRevision(tasks: Pick<TaskStore, 'events'>, taskId: string): Promise<string | undefined> {
  const revision = (await begunTask(tasks, taskId))?.metadata?.[REVISION_KEY];
  return typeof revision === 'string' ? revision : undefined;
}

/** Records what a Message begins with. @throws A2AError INVALID_REQUEST with status 413 where it is too large */
export function accept(recording: TaskRecording, event: TaskEvent): void {
  try {
    recording.record(event);
  } catch (error) {
    if (!(error instanceof ContentTooLarge)) throw error;
    const options = { message: error.message, detailReason: 'MESSAGE_TOO_LARGE', status: 413, cause: error };
    throw new A2AError('INVALID_REQUEST', options);
  }
}

import { isTerminalState, joinedText, type JsonObject, type TaskState } from '#libs/protocol';
import { aboutOf, taskResult } from './call-result.js';
import type { AskingTask, McpExchange } from './exchange.js';
import { inputRequests } from './questions.js';

/** Recommended polling interval in milliseconds. */
const POLL_MS = 1_000;

/** Milliseconds that an answer waits for a working run. */
const PATIENCE_MS = 10_000;

type McpTaskStatus = 'working' | 'input_required' | 'completed' | 'cancelled';

/** Status in MCP by Task state. A failed run is a completed call, whose result reports the failure. */
const STATUSES: Readonly<Record<TaskState, McpTaskStatus>> = {
  TASK_STATE_SUBMITTED: 'working',
  TASK_STATE_WORKING: 'working',
  TASK_STATE_INPUT_REQUIRED: 'input_required',
  TASK_STATE_AUTH_REQUIRED: 'input_required',
  TASK_STATE_COMPLETED: 'completed',
  TASK_STATE_FAILED: 'completed',
  TASK_STATE_REJECTED: 'completed',
  TASK_STATE_CANCELED: 'cancelled',
};

/** Returns the answer to a call that continues: the durable A2A Task as a task of MCP, with the same id. */
export function createdTask(asking: AskingTask): JsonObject {
  return { resultType: 'task', ...mcpTask(asking), ...aboutOf(asking.task) };
}

/** Handles `tasks/get`: returns the task with its questions or its result. @throws A2AError */
export async function getTask(exchange: McpExchange, taskId: string): Promise<JsonObject> {
  const asking = await exchange.loadTask(taskId);
  const task = mcpTask(asking);
  return {
    ...task,
    ...(task['status'] === 'input_required' && {
      inputRequests: inputRequests(asking.questions) as unknown as JsonObject,
    }),
    ...(task['status'] === 'completed' && { result: taskResult(asking.task) }),
  };
}

/**
 * Handles `tasks/update`: sends the answers as a follow-up Message. Replies to closed questions are ignored.
 * @throws A2AError; McpError if the run is still working after 10 seconds
 */
export async function updateTask(
  exchange: McpExchange,
  taskId: string,
  replies: Readonly<Record<string, unknown>>,
): Promise<JsonObject> {
  await exchange.answerTask(await exchange.loadTask(taskId), replies, AbortSignal.timeout(PATIENCE_MS));
  return {};
}

/**
 * Handles `tasks/cancel` by CancelTask. Returns once the cancellation is durable; the metadata and `tasks/get` report
 * the resulting state. A Task that has ended stays unchanged.
 * @throws A2AError
 */
export async function cancelTask(exchange: McpExchange, taskId: string): Promise<JsonObject> {
  const { header, task } = await exchange.loadTask(taskId);
  if (isTerminalState(header.state)) return { _meta: { 'parley/state': task.status.state } };
  const canceled = await exchange.backend.handler.cancelTask(exchange.agent, { id: taskId }, exchange.call);
  return { _meta: { 'parley/state': canceled.status.state } };
}

function mcpTask({ header, task }: AskingTask): JsonObject {
  const said = joinedText(task.status.message?.parts ?? []);
  return {
    taskId: header.taskId,
    status: STATUSES[header.state],
    ...(said !== undefined && said !== '' && { statusMessage: said }),
    createdAt: header.createdAt.toISOString(),
    lastUpdatedAt: header.updatedAt.toISOString(),
    // Tasks are kept until the operator's retention removes them, long after they have ended.
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
}

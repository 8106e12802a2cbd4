import { isTerminalState, joinedText, type JsonObject, type TaskState } from '#libs/protocol';
import { aboutOf, resultOf } from './call-result.js';
import type { AskingTask, Exchange } from './exchange.js';
import { inputRequests } from './questions.js';

/** How often a client should ask, in milliseconds. */
const POLL_MS = 1_000;

/** So long an answer waits for a run that is at work. */
const PATIENCE_MS = 10_000;

type McpTaskStatus = 'working' | 'input_required' | 'completed' | 'cancelled';

/** A run that fails is a call that came to its end: its result says so. */
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

/** The answer to a call that goes on: the A2A Task as a task of MCP, under the same id. It is durable. */
export function createdTask(asking: AskingTask): JsonObject {
  return { resultType: 'task', ...mcpTask(asking), ...aboutOf(asking.task) };
}

/** `tasks/get`: the task with what it asks, or what came of it. @throws A2AError */
export async function getTask(exchange: Exchange, taskId: string): Promise<JsonObject> {
  const asking = await exchange.task(taskId);
  const task = mcpTask(asking);
  return {
    ...task,
    ...(task['status'] === 'input_required' && {
      inputRequests: inputRequests(asking.questions) as unknown as JsonObject,
    }),
    ...(task['status'] === 'completed' && { result: resultOf(asking.task) }),
  };
}

/**
 * `tasks/update`: answers go down as a follow-up Message. What is not asked any more is ignored.
 * @throws A2AError; McpError where the run stays at work, so that nobody can tell what it asks
 */
export async function updateTask(
  exchange: Exchange,
  taskId: string,
  replies: Readonly<Record<string, unknown>>,
): Promise<JsonObject> {
  await exchange.answer(await exchange.task(taskId), replies, AbortSignal.timeout(PATIENCE_MS));
  return {};
}

/**
 * `tasks/cancel`: CancelTask. Answers when that is durable; what became of it is what `tasks/get` says, and the metadata
 * here. A Task that has ended stays as it is.
 * @throws A2AError
 */
export async function cancelTask(exchange: Exchange, taskId: string): Promise<JsonObject> {
  const { header, task } = await exchange.task(taskId);
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
    // Tasks are kept until the operator's retention removes them, long after their end.
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
}

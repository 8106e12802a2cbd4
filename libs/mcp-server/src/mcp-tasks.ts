import {
  type Artifact,
  isTerminalState,
  joinedText,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type Task,
  type TaskState,
  textRows,
} from '#libs/protocol';
import type { AskingTask, McpExchange } from './exchange.js';
import { type CallResult, type ContentBlock, fitResult } from './fit-result.js';
import { inputRequests } from './questions.js';

const SENTENCES: Partial<Record<TaskState, string>> = {
  TASK_STATE_CANCELED: 'The run was canceled',
  TASK_STATE_REJECTED: 'The message was rejected',
  TASK_STATE_FAILED: 'The run failed',
};

/**
 * Returns a result of `tools/call` that reports an error. `text` must be safe to show to a caller; `about` has further
 * members of the result, such as `_meta`.
 */
export function failureResult(text: string, about: JsonObject = {}): CallResult {
  return { content: [{ type: 'text', text }], isError: true, ...about };
}

/**
 * Returns the result of `tools/call` for a Task that has ended: its Artifacts, else the text of its status. A Task that
 * failed, was canceled or was rejected gives an error result. A result beyond MOST_BYTES is shortened (`fitResult`).
 * @param url URL at which the caller can read the whole Task
 */
export function taskResult(task: Task, url: string): CallResult {
  const { status, artifacts = [] } = task;
  const said = joinedText(status.message?.parts ?? []);
  const sentence = SENTENCES[status.state];
  if (sentence !== undefined) return fitResult(failureResult(said || sentence, aboutOf(task)), url);
  const content = artifacts.flatMap(({ artifactId, parts }) =>
    blocksOf(parts, (index) => `parley://tasks/${task.id}/artifacts/${artifactId}/${index}`),
  );
  const result = {
    content: content.length > 0 || said === undefined ? content : [{ type: 'text', text: said }],
    ...(artifacts.length > 0 && { structuredContent: structuredContent(artifacts) }),
    ...aboutOf(task),
  };
  return fitResult(result, url);
}

/** Returns the result of `tools/call` for a direct Message. */
export function messageResult({ messageId, contextId, parts }: Message): CallResult {
  const content = blocksOf(parts, (index) => `parley://messages/${messageId}/${index}`);
  return { content, ...(contextId !== undefined && { _meta: { 'parley/contextId': contextId } }) };
}

/** Returns the `_meta` that names the Task and its context, so that a client can inspect or continue them. */
export function aboutOf({ id, contextId }: Pick<Task, 'id' | 'contextId'>): { _meta: JsonObject } {
  return { _meta: { 'parley/taskId': id, 'parley/contextId': contextId } };
}

/**
 * Returns an object with one member for each Artifact, by the name of the Artifact. The value is the text of the
 * Artifact, or else its single data value, or else its Parts.
 */
function structuredContent(artifacts: readonly Artifact[]): JsonObject {
  return Object.fromEntries(artifacts.map((it) => [it.name ?? it.artifactId, artifactValue(it.parts)]));
}

function artifactValue(parts: readonly Part[]): JsonValue {
  const isText = parts.every(({ text }) => text !== undefined);
  if (isText) return textRows(parts).filter(Boolean).join('\n\n');
  const [only, another] = parts;
  if (only?.data !== undefined && another === undefined) return only.data;
  return parts as unknown as JsonValue;
}

/**
 * Converts Parts to content blocks. Consecutive text Parts become one block.
 * @param uriOf returns the URI for the block of a file, by the index of its Part
 */
function blocksOf(parts: readonly Part[], uriOf: (index: number) => string): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  let row: Part[] = [];
  const flushTexts = (): void => {
    blocks.push(...textRows(row).map((text): ContentBlock => ({ type: 'text', text })));
    row = [];
  };
  for (const [index, part] of parts.entries()) {
    if (part.text !== undefined) row.push(part);
    else {
      flushTexts();
      blocks.push(blockOf(part, uriOf(index)));
    }
  }
  flushTexts();
  return blocks;
}

function blockOf({ raw, url, data, mediaType, filename }: Part, uri: string): ContentBlock {
  if (url !== undefined) {
    return { type: 'resource_link', uri: url, name: filename ?? url, ...(mediaType && { mimeType: mediaType }) };
  }
  if (raw === undefined) return { type: 'text', text: JSON.stringify(data) };
  const mimeType = mediaType ?? 'application/octet-stream';
  const [kind] = mimeType.split('/', 1);
  if (kind === 'image' || kind === 'audio') return { type: kind, data: raw, mimeType };
  return { type: 'resource', resource: { uri, blob: raw, mimeType } };
}

/** Polling interval in milliseconds that is recommended to clients. */
const POLL_MS = 1_000;

/** Maximum milliseconds that `tasks/update` waits while the Task still works and cannot take an answer. */
const PATIENCE_MS = 10_000;

type McpTaskStatus = 'working' | 'input_required' | 'completed' | 'cancelled';

/**
 * Status of a task of MCP, by Task state. A failed or rejected Task is a completed call whose result reports the
 * failure.
 */
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

/** Returns the answer to a call whose Task has not ended: the A2A Task as a task of MCP, with the same id. */
export function createdTask(asking: AskingTask): JsonObject {
  return { resultType: 'task', ...mcpTask(asking), ...aboutOf(asking.task) };
}

/**
 * Handles `tasks/get`: returns the task with its open questions, or with its result.
 * @throws A2AError if the caller has no such Task of this agent
 */
export async function getTask(exchange: McpExchange, taskId: string): Promise<JsonObject> {
  const asking = await exchange.loadTask(taskId);
  const task = mcpTask(asking);
  return {
    ...task,
    ...(task['status'] === 'input_required' && {
      inputRequests: inputRequests(asking.questions) as unknown as JsonObject,
    }),
    ...(task['status'] === 'completed' && { result: taskResult(asking.task, exchange.taskUrl(asking.task)) }),
  };
}

/**
 * Handles `tasks/update`: sends the answers to open questions as a follow-up Message. Replies to closed questions are
 * ignored.
 * @throws A2AError if the caller has no such Task of this agent, or the agent rejects the answer
 * @throws McpError if the Task still works after 10 seconds
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
 * Handles `tasks/cancel` by CancelTask of A2A. Returns once the cancellation is durable; `_meta` and `tasks/get` report
 * the resulting state. A Task that has ended is unchanged.
 * @throws A2AError if the caller has no such Task of this agent, or CancelTask fails
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

import { randomUUID } from 'node:crypto';
import type { RequestHandler } from '#libs/a2a-server';
import type { CallContext, ServedAgent } from '#libs/executor';
import {
  A2AError,
  isActiveState,
  isJsonObject,
  isWaitingState,
  type JsonObject,
  type JsonValue,
  type Message,
} from '#libs/protocol';
import type { StoredTask, TaskQuestions, TaskStore } from '#libs/tasks';
import { INTERNAL_ERROR, INVALID_PARAMS, McpError } from './mcp-error.js';
import { answerMessage, isAccepted, type McpQuestion, questionsOf } from './questions.js';

const AT_WORK = 'The run is at work; it takes answers when it waits again';

/** Services that MCP requests are answered from. */
export interface McpBackend {
  handler: RequestHandler;
  tasks: Pick<TaskStore, 'readHeader' | 'loadTask'>;
  questions: Pick<TaskQuestions, 'listQuestions'>;
  /** Maximum number of members in one JSON text; the default of `JSON_MEMBERS_LIMIT` unless set. */
  jsonMembers?: number;
}

/** Task in its current state, with its open questions. */
export interface AskingTask extends StoredTask {
  questions: McpQuestion[];
}

/** Context of one HTTP request of an MCP client: the caller and the agents it may reach. */
export class McpExchange {
  /** Failure with status 503 reported inside an answer; HTTP repeats it while the answer is not a stream. */
  failed: { status: number; error: unknown } | undefined;

  constructor(
    readonly backend: McpBackend,
    /** Agent that the request was sent to: the service with all workflows as tools, or one workflow. */
    readonly agent: ServedAgent,
    readonly call: CallContext,
    /** Aborts when the client has left, and on shutdown (reason SHUTTING_DOWN). Neither cancels any run. */
    readonly signal: AbortSignal,
    /** Session of a client of 2025-11-25. */
    readonly session: string | undefined,
  ) {}

  /** Returns the call's context with another agent. */
  callAt(path: string): CallContext {
    return { ...this.call, agent: path };
  }

  /**
   * Returns a Task of the caller, under the same access rules as GetTask of A2A.
   * @throws A2AError if the caller has no such Task here
   */
  async loadTask(id: string, agent = this.agent): Promise<AskingTask> {
    const { backend, call } = this;
    // PostgreSQL rejects every statement that contains a NUL.
    if (id.includes('\0')) throw new A2AError('TASK_NOT_FOUND');
    // Checks that the Task is found here, and that there is room for its contents.
    const task = await backend.handler.getTask(agent, { id }, call);
    for (;;) {
      const stored = await backend.tasks.loadTask(id, call.scope);
      if (!stored) throw new A2AError('TASK_NOT_FOUND', { metadata: { taskId: task.id } });
      const questions = await questionsOf(stored, backend.questions);
      if (!isWaitingState(stored.header.state)) return { ...stored, questions };
      // If the Task has advanced between the two reads, the questions belong to another state.
      const { lastSequence } = (await backend.tasks.readHeader(id, call.scope)) ?? stored.header;
      if (lastSequence === stored.header.lastSequence) return { ...stored, questions };
    }
  }

  /** Returns the Message that answers a Task's open questions; `undefined` if no reply is for one of them. */
  answerTo({ header, questions }: AskingTask, replies: Readonly<Record<string, unknown>>) {
    if (!isWaitingState(header.state)) return undefined;
    return answerMessage(header.taskId, questions, replies, this.backend.jsonMembers);
  }

  /**
   * Answers the questions of a Task. Returns once the answer is recorded; the Task continues on its own.
   *
   * - While the Task works, the answer is held back until it waits again.
   * - Replies to questions that are no longer open are ignored.
   *
   * @param patience ends the holding back; by default it lasts as long as the client waits
   * @throws McpError if the Task still works when `patience` ends, the client leaves, or the process shuts down
   */
  async answerTask(
    asking: AskingTask,
    replies: Readonly<Record<string, unknown>>,
    patience: AbortSignal = this.signal,
  ): Promise<void> {
    if (!Object.values(replies).some(isAccepted)) return;
    const { taskId } = asking.header;
    for (let current = asking; ; current = await this.loadTask(taskId)) {
      const message = this.answerTo(current, replies);
      if (message ? await this.isTaken(message) : !isActiveState(current.header.state)) return;
      this.refuseEnded(taskId);
      if (patience.aborted) throw new McpError(INVALID_PARAMS, AT_WORK, 409);
      await this.untilItWaits(current, AbortSignal.any([this.signal, patience]));
    }
  }

  /** Throws if the client has left or the process shuts down. @throws McpError */
  refuseEnded(taskId: string): void {
    const { signal } = this;
    if (signal.reason === SHUTTING_DOWN) {
      throw new McpError(INTERNAL_ERROR, `The service is shutting down; the run ${taskId} goes on`, 503);
    }
    if (signal.aborted) throw new McpError(INTERNAL_ERROR, 'The client has left', 499);
  }

  /** Sends the answer. Returns false if the Task has advanced since it was read, after another answer or a timeout. */
  private async isTaken(message: Message): Promise<boolean> {
    const { backend, agent, call } = this;
    // The answer may be sent again: only a Task that still waits accepts it.
    const { idempotencyKey: _key, ...unkeyed } = call;
    try {
      await backend.handler.sendMessage(agent, { message, configuration: { returnImmediately: true } }, unkeyed);
      return true;
    } catch (error) {
      if (error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION') return false;
      throw error;
    }
  }

  /** Resolves once the Task waits again or has ended, or the signal aborts. */
  private async untilItWaits({ header }: AskingTask, signal: AbortSignal): Promise<void> {
    const { backend, agent, call } = this;
    const request = { id: header.taskId };
    const items = backend.handler.subscribeToTask(agent, request, call, { since: header.lastSequence, signal });
    for await (const { response } of items) {
      if ('statusUpdate' in response && !isActiveState(response.statusUpdate.status.state)) return;
    }
  }
}

/** Abort reason of exchanges on shutdown. */
export const SHUTTING_DOWN = new Error('The service is shutting down');

/** Extension of MCP by which a call becomes a task that the client polls. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Optional capabilities of a client. */
export interface ClientSupport {
  tasks: boolean;
  /**
   * Way to ask the client's user:
   * - `result`: the result asks, and the client repeats the call with the answers (2026-07-28).
   * - `request`: a request in the open stream (2025-11-25).
   * - Absent: the user cannot be asked.
   */
  asks?: 'result' | 'request';
}

/** Returns the capabilities that a client of 2026-07-28 declares with each request. */
export function declaredSupport(capabilities: unknown): ClientSupport {
  const said = isJsonObject(capabilities as JsonValue) ? (capabilities as JsonObject) : {};
  const extensions = isJsonObject(said['extensions']) ? said['extensions'] : {};
  return {
    tasks: isJsonObject(extensions[TASKS_EXTENSION]),
    ...(takesForms(said['elicitation']) && { asks: 'result' }),
  };
}

/** True if the client supports forms. An elicitation without any mode is a form. */
function takesForms(elicitation: JsonValue | undefined): boolean {
  return isJsonObject(elicitation) && ('form' in elicitation || Object.keys(elicitation).length === 0);
}

const ASKABLE = 'askable-';

/**
 * Returns a session id for an initializing client of 2025-11-25; `undefined` if its user cannot be asked. The id itself
 * says that the user can be asked, so every replica knows it from each later request.
 */
export function sessionOf(initialize: JsonObject): string | undefined {
  const { capabilities } = initialize;
  const isAskable = isJsonObject(capabilities) && takesForms(capabilities['elicitation']);
  return isAskable ? `${ASKABLE}${randomUUID()}` : undefined;
}

/** Returns the capabilities of a client of 2025-11-25, read from its session id. */
export function sessionSupport(session: string | undefined): ClientSupport {
  return { tasks: false, ...(session?.startsWith(ASKABLE) === true && { asks: 'request' }) };
}

import { randomUUID } from 'node:crypto';
import type { RequestHandler } from '#libs/a2a-server';
import type { BuiltInAgents, CallContext, ServedAgent } from '#libs/agents';
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
import { RegisteredTools, isRegisteredPath } from './agent-tools.js';
import type { DeclinedQuestions } from './declined-questions.js';
import { INTERNAL_ERROR, INVALID_PARAMS, McpError } from './mcp-error.js';
import { answerMessage, isAccepted, type McpQuestion, questionsOf } from './questions.js';

const AT_WORK = 'The run is at work; it takes answers when it waits again';

/** Services that answer MCP requests. */
export interface McpBackend {
  handler: RequestHandler;
  tasks: Pick<TaskStore, 'readHeader' | 'loadTask'>;
  questions: Pick<TaskQuestions, 'listQuestions'>;
  agents: Pick<BuiltInAgents, 'findSource'>;
  /** Maximum number of members and elements in one JSON text; absent: the default of `JSON_MEMBERS_LIMIT`. */
  jsonMembers?: number;
}

/** Stored Task in its current state, with its open questions. */
export interface AskingTask extends StoredTask {
  questions: McpQuestion[];
}

/** HTTP request of an MCP client. */
interface McpRequest {
  call: CallContext;
  /**
   * Scopes of the caller and headers of the request, which are passed on to registered agents; absent: nothing is
   * passed on.
   */
  inbound?: CallContext['inbound'];
  /** Aborts when the client has left, and on shutdown (reason SHUTTING_DOWN). An abort cancels no run. */
  signal: AbortSignal;
  /** Session id of a client that speaks the MCP revision 2025-11-25; absent for newer revisions. */
  session?: string | undefined;
  /** Questions of open streams that clients have declined; absent: such questions stay open. */
  declined?: DeclinedQuestions;
}

/** Context of one HTTP request of an MCP client: the caller, and the agent that the request was sent to. */
export class McpExchange {
  /**
   * Error with status 503 that the JSON-RPC answer reports; `undefined` if there is none. The HTTP response gets the
   * status too, unless it is a stream.
   */
  failed: { status: number; error: unknown } | undefined;
  readonly call: CallContext;
  readonly signal: AbortSignal;
  readonly session: string | undefined;
  readonly declined: DeclinedQuestions | undefined;
  private readonly inbound: CallContext['inbound'];

  constructor(
    readonly backend: McpBackend,
    /** Agent that the request was sent to: the service, with all tools, or the agent of one tool. */
    readonly agent: ServedAgent,
    request: McpRequest,
  ) {
    this.call = request.call;
    this.signal = request.signal;
    this.session = request.session;
    this.declined = request.declined;
    this.inbound = request.inbound;
  }

  /** Registered agents of the caller's tenant. */
  get agentTools(): RegisteredTools {
    return new RegisteredTools(this.backend.agents, this.call.scope.tenant);
  }

  /** Returns the context of the call, addressed to the agent at a path. */
  callAt(path: string): CallContext {
    return { ...this.callFor(path), agent: path, namesInputs: true };
  }

  /** Returns the URL at which the caller reads a Task over A2A (GetTask of HTTP+JSON). */
  taskUrl({ id }: { id: string }): string {
    return `${this.call.baseUrl}/a2a/tasks/${encodeURIComponent(id)}`;
  }

  /**
   * Returns the context for a call to the agent at a path. For a registered agent, the context has the caller's scopes
   * and headers.
   */
  private callFor(path: string): CallContext {
    return { ...this.call, ...(isRegisteredPath(path) && this.inbound && { inbound: this.inbound }) };
  }

  /**
   * Returns a Task of the caller with its open questions, under the same access rules as GetTask of A2A.
   * @throws A2AError if the agent has no such Task of the caller
   */
  async loadTask(id: string, agent = this.agent): Promise<AskingTask> {
    const { backend, call } = this;
    // PostgreSQL rejects every statement that contains a NUL.
    if (id.includes('\0')) throw new A2AError('TASK_NOT_FOUND');
    // Checks that the caller may read the Task, and that there is room for its contents.
    const task = await backend.handler.getTask(agent, { id }, call);
    for (;;) {
      const stored = await backend.tasks.loadTask(id, call.scope);
      if (!stored) throw new A2AError('TASK_NOT_FOUND', { metadata: { taskId: task.id } });
      const questions = await questionsOf(stored, backend.questions);
      if (!isWaitingState(stored.header.state)) return { ...stored, questions };
      // If the Task has advanced between the two reads, the questions belong to an earlier state, and both are read
      // again.
      const { lastSequence } = (await backend.tasks.readHeader(id, call.scope)) ?? stored.header;
      if (lastSequence === stored.header.lastSequence) return { ...stored, questions };
    }
  }

  /**
   * Returns the Message that answers open questions of a Task. Returns `undefined` if the Task does not wait, or none
   * of the replies accepts an open question.
   */
  answerTo({ header, questions }: AskingTask, replies: Readonly<Record<string, unknown>>) {
    if (!isWaitingState(header.state)) return undefined;
    return answerMessage(header.taskId, questions, replies, this.backend.jsonMembers);
  }

  /**
   * Sends the replies to the open questions of a Task as a Message, and returns once that Message is recorded. The Task
   * then continues by itself.
   *
   * - While the Task works, the Message is not sent until the Task waits again.
   * - Replies to questions that are no longer open are ignored.
   *
   * @param patience signal that aborts when the wait for the Task must end; by default when the client leaves
   * @throws McpError if the Task still works when `patience` aborts, the client leaves, or the process shuts down
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
      if (message ? await this.isTaken(message, current.header.agent) : !isActiveState(current.header.state)) return;
      this.refuseEnded(taskId);
      if (patience.aborted) throw new McpError(INVALID_PARAMS, AT_WORK, 409);
      await this.untilItWaits(current, AbortSignal.any([this.signal, patience]));
    }
  }

  /** Throws if the client has left, or the process shuts down. @throws McpError */
  refuseEnded(taskId: string): void {
    const { signal } = this;
    if (signal.reason === SHUTTING_DOWN) {
      throw new McpError(INTERNAL_ERROR, `The service is shutting down; the run ${taskId} goes on`, 503);
    }
    if (signal.aborted) throw new McpError(INTERNAL_ERROR, 'The client has left', 499);
  }

  /**
   * Sends the Message that answers questions.
   * @returns false if the Task no longer waits, as another answer or a timeout was first
   */
  private async isTaken(message: Message, owner: string): Promise<boolean> {
    const { backend, agent } = this;
    // Without an idempotency key, a later attempt is a new request. Only a Task that still waits accepts it.
    const { idempotencyKey: _key, ...unkeyed } = this.callFor(owner);
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

/** Abort reason of open requests on shutdown. */
export const SHUTTING_DOWN = new Error('The service is shutting down');

/** Extension of MCP that turns a call into a task, which the client polls. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Optional capabilities of an MCP client. */
export interface ClientSupport {
  /** True if the client supports the tasks extension. */
  tasks: boolean;
  /**
   * Way in which a call can ask the user of the client (elicitation):
   * - `result`: the result of the call asks, and the client repeats the call with the answers (revision 2026-07-28).
   * - `request`: the open stream carries a request that asks (revision 2025-11-25).
   * - absent: the user cannot be asked.
   */
  asks?: 'result' | 'request';
}

/** Returns the capabilities that a client of the revision 2026-07-28 declares with each request. */
export function declaredSupport(capabilities: unknown): ClientSupport {
  const said = isJsonObject(capabilities as JsonValue) ? (capabilities as JsonObject) : {};
  const extensions = isJsonObject(said['extensions']) ? said['extensions'] : {};
  return {
    tasks: isJsonObject(extensions[TASKS_EXTENSION]),
    ...(takesForms(said['elicitation']) && { asks: 'result' }),
  };
}

/** True if the client can show forms to its user. An elicitation capability without any mode means forms. */
function takesForms(elicitation: JsonValue | undefined): boolean {
  return isJsonObject(elicitation) && ('form' in elicitation || Object.keys(elicitation).length === 0);
}

const ASKABLE = 'askable-';

/**
 * Returns a session id for the `initialize` of a client of the revision 2025-11-25; `undefined` if its user cannot be
 * asked. The id itself states that the user can be asked, so that every replica reads it from later requests.
 */
export function sessionOf(initialize: JsonObject): string | undefined {
  const { capabilities } = initialize;
  const isAskable = isJsonObject(capabilities) && takesForms(capabilities['elicitation']);
  return isAskable ? `${ASKABLE}${randomUUID()}` : undefined;
}

/** Returns the capabilities of a client of the revision 2025-11-25, according to its session id. */
export function sessionSupport(session: string | undefined): ClientSupport {
  return { tasks: false, ...(session?.startsWith(ASKABLE) === true && { asks: 'request' }) };
}

import type { RequestHandler } from '#libs/a2a-server';
import type { CallContext, ServedAgent } from '#libs/executor';
import type { StoredTask, TaskQuestions, TaskStore } from '#libs/tasks';
import { A2AError, isActiveState, isWaitingState, type Message } from '#libs/protocol';
import { INTERNAL_ERROR, INVALID_PARAMS, McpError } from './mcp-error.js';
import { answerMessage, isAccepted, type Question, questionsOf } from './questions.js';

const AT_WORK = 'The run is at work; it takes answers when it waits again';

/** What MCP requests are answered from. */
export interface McpBackend {
  handler: RequestHandler;
  tasks: Pick<TaskStore, 'header' | 'load'>;
  questions: Pick<TaskQuestions, 'list'>;
  /** Members that one text of JSON may have; the default of `JSON_MEMBERS_LIMIT` unless set otherwise. */
  jsonMembers?: number;
}

/** A Task as it stands, with what it asks. */
export interface AskingTask extends StoredTask {
  questions: Question[];
}

/** One HTTP request of an MCP client: who calls, and what it may reach. */
export class Exchange {
  /** The most serious status of an error that was told inside of an answer. */
  failed: { status: number; error: unknown } | undefined;

  constructor(
    readonly backend: McpBackend,
    /** Where it came in: the service, whose workflows are all tools, or one workflow. */
    readonly agent: ServedAgent,
    readonly call: CallContext,
    /** Aborts when the client has left, and on shutdown: then its reason is SHUTTING_DOWN. Neither ends any work. */
    readonly signal: AbortSignal,
    /** The session of a client of 2025-11-25. */
    readonly session: string | undefined,
  ) {}

  /** The same call at another agent. */
  at(path: string): CallContext {
    return { ...this.call, agent: path };
  }

  /**
   * A Task of the caller, found where A2A finds it.
   * @throws A2AError where there is none here
   */
  async task(id: string, agent = this.agent): Promise<AskingTask> {
    const { backend, call } = this;
    // PostgreSQL refuses every statement that is given a NUL.
    if (id.includes('\0')) throw new A2AError('TASK_NOT_FOUND');
    // Says whether it is found here, and whether there is room for what it holds.
    const task = await backend.handler.getTask(agent, { id }, call);
    for (;;) {
      const stored = await backend.tasks.load(id, call.scope);
      if (!stored) throw new A2AError('TASK_NOT_FOUND', { metadata: { taskId: task.id } });
      const questions = await questionsOf(stored, backend.questions);
      if (!isWaitingState(stored.header.state)) return { ...stored, questions };
      // Where it has gone on between the two, these are not the questions of this state.
      const { lastSequence } = (await backend.tasks.header(id, call.scope)) ?? stored.header;
      if (lastSequence === stored.header.lastSequence) return { ...stored, questions };
    }
  }

  /** The answer to what a Task asks, or `undefined` where none of what came is for an open question. */
  answerTo({ header, questions }: AskingTask, replies: Readonly<Record<string, unknown>>) {
    if (!isWaitingState(header.state)) return undefined;
    return answerMessage(header.taskId, questions, replies, this.backend.jsonMembers);
  }

  /**
   * Answers what a Task asks; the Task goes on by itself. One that is at work, after another answer for one, asks on when
   * it waits again: until then the answer is kept back. What nobody asks (any more) is left out.
   * @param patience how long it is kept back; as long as the client waits, unless told
   * @throws McpError where the Task still works when the patience is over, the client has left or the process shuts down
   */
  async answer(
    asking: AskingTask,
    replies: Readonly<Record<string, unknown>>,
    patience: AbortSignal = this.signal,
  ): Promise<void> {
    if (!Object.values(replies).some(isAccepted)) return;
    const { taskId } = asking.header;
    for (let current = asking; ; current = await this.task(taskId)) {
      const message = this.answerTo(current, replies);
      if (message ? await this.isTaken(message) : !isActiveState(current.header.state)) return;
      this.refuseEnded(taskId);
      if (patience.aborted) throw new McpError(INVALID_PARAMS, AT_WORK, 409);
      await this.untilItWaits(current, AbortSignal.any([this.signal, patience]));
    }
  }

  /** Nobody waits any more, or nobody here can tell any more. @throws McpError */
  refuseEnded(taskId: string): void {
    const { signal } = this;
    if (signal.reason === SHUTTING_DOWN) {
      throw new McpError(INTERNAL_ERROR, `The service is shutting down; the run ${taskId} goes on`, 503);
    }
    if (signal.aborted) throw new McpError(INTERNAL_ERROR, 'The client has left', 499);
  }

  /** Not where the Task has gone on since it was read: another answer came first, or the time of something has come. */
  private async isTaken(message: Message): Promise<boolean> {
    const { backend, agent, call } = this;
    // An answer may be given again: only what still waits takes it.
    const { idempotencyKey: _key, ...unkeyed } = call;
    try {
      await backend.handler.sendMessage(agent, { message, configuration: { returnImmediately: true } }, unkeyed);
      return true;
    } catch (error) {
      if (error instanceof A2AError && error.reason === 'UNSUPPORTED_OPERATION') return false;
      throw error;
    }
  }

  /** Or has ended, or the signal ends the waiting. */
  private async untilItWaits({ header }: AskingTask, signal: AbortSignal): Promise<void> {
    const { backend, agent, call } = this;
    const request = { id: header.taskId };
    const items = backend.handler.subscribeToTask(agent, request, call, { since: header.lastSequence, signal });
    for await (const { response } of items) {
      if ('statusUpdate' in response && !isActiveState(response.statusUpdate.status.state)) return;
    }
  }
}

/** Why exchanges end when the process does. */
export const SHUTTING_DOWN = new Error('The service is shutting down');

import type { RequestHandler } from '#libs/a2a-server';
import type { CallContext, ServedAgent } from '#libs/executor';
import type { StoredTask, TaskQuestions, TaskStore } from '#libs/tasks';
import { A2AError, isWaitingState } from '#libs/protocol';
import { answerMessage, type Question, questionsOf } from './questions.js';

/** What MCP requests are answered from. */
export interface McpBackend {
  handler: RequestHandler;
  tasks: Pick<TaskStore, 'load'>;
  questions: Pick<TaskQuestions, 'list'>;
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
    const stored = await backend.tasks.load(id, call.scope);
    if (!stored) throw new A2AError('TASK_NOT_FOUND', { metadata: { taskId: task.id } });
    return { ...stored, questions: await questionsOf(stored, backend.questions) };
  }

  /** The answer to what a Task asks, or `undefined` where none of what came is for an open question. */
  answerTo({ header, questions }: AskingTask, replies: Readonly<Record<string, unknown>>) {
    return isWaitingState(header.state) ? answerMessage(header.taskId, questions, replies) : undefined;
  }

  /** Answers what a Task asks; the Task goes on by itself. What nobody asks (any more) is left out. */
  async answer(asking: AskingTask, replies: Readonly<Record<string, unknown>>): Promise<void> {
    const message = this.answerTo(asking, replies);
    if (message === undefined) return;
    const { backend, agent, call } = this;
    // An answer may be given again: only what still waits takes it.
    const { idempotencyKey: _key, ...unkeyed } = call;
    await backend.handler.sendMessage(agent, { message, configuration: { returnImmediately: true } }, unkeyed);
  }
}

/** Why exchanges end when the process does. */
export const SHUTTING_DOWN = new Error('The service is shutting down');

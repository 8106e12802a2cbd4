import { Injectable, Optional } from '@nestjs/common';
import {
  AgentCatalog,
  agentOrGone,
  type CallContext,
  callerGone,
  type Execution,
  ExecutionRegistry,
  REVISION_KEY,
  type ServedAgent,
} from '#libs/executor';
import { ResponseAdmission, ProblemError, ResponseBudget } from '#libs/http';
import {
  A2AError,
  dataPart,
  isTerminalState,
  type JsonObject,
  type Message,
  type SendMessageRequest,
  userMessage,
} from '#libs/protocol';
import {
  begunTask,
  type LogAdmission,
  type PageAdmission,
  type StoredTask,
  type TaskEvent,
  type TaskHeader,
  type TaskScope,
  TaskStore,
  wholeLog,
} from '#libs/tasks';
import { type ProcessListing, type ProcessPage, processPage, type ProcessQuery } from './process-page.js';

/** Who asks for something, and by which address of this service. */
export type ProcessCall = Pick<CallContext, 'scope' | 'baseUrl' | 'trace' | 'whenAnswered'>;

/** One kind of durable process, as its API speaks of it. */
export interface ProcessKind {
  /** What problems call it: `run`. */
  noun: string;
  /** Whether a Task is one, as far as its header says. */
  includes(header: TaskHeader): boolean;
}

/** What a process starts with. */
export interface ProcessRequest {
  /** The path of its agent. */
  agent: string;
  /** The revision of the agent; the newest one unless told. */
  revision?: string;
  /** Its id, where that has to be known before it is started; absent: a new one. */
  taskId?: string;
  /** The data of its first Message. */
  data: JsonObject;
  /** What else its first Message says; `parts` take the place of the data. */
  message?: Partial<Pick<Message, 'contextId' | 'parts' | 'referenceTaskIds'>>;
  metadata?: JsonObject;
  /** `false`: whoever starts it has judged it instead of its agent. */
  check?: boolean;
}

const ID = /^[\x21-\x7e]{1,200}$/;

/**
 * Starts, finds, goes on with and cancels durable processes of any kind. Each is the Task of its agent, under the Task's
 * id; nothing of it is kept elsewhere.
 */
@Injectable()
export class Processes {
  constructor(
    private readonly catalog: AgentCatalog,
    private readonly executions: ExecutionRegistry,
    private readonly tasks: TaskStore,
    @Optional() private readonly answers?: ResponseBudget,
  ) {}

  /** Opens the room of the answer of a call, without which no long log is read for it. A call has one at most. */
  room(call: Pick<ProcessCall, 'scope' | 'whenAnswered'>): ResponseAdmission {
    return new ResponseAdmission(this.answers, call);
  }

  /**
   * Resolves with the process's id when it is durable; it goes on whatever becomes of the caller. The same start under
   * the same key is the same process, and what was accepted once is not judged anew: what it was judged by may have
   * changed since.
   * @throws UnknownAgent; A2AError as the agent's `check` does, 409 for another start under a known `Idempotency-Key`
   */
  async start(
    { data, metadata, check = true, ...to }: ProcessRequest,
    call: ProcessCall,
    key?: string,
  ): Promise<string> {
    const agent = await this.catalog.inTenant(call.scope.tenant).resolve(to.agent, to.revision);
    const { taskId } = to;
    const context = { ...callOf(agent, call), ...(taskId !== undefined && { newTaskId: () => taskId }) };
    // Under a key the Message has the key's name, so that the same data is the same request.
    const { parts = [dataPart(data)], ...fields } = to.message ?? {};
    const message = userMessage(parts, { ...fields, ...(key !== undefined && { messageId: key }) });
    const request = { message, ...(metadata && { metadata }) };
    const known = check && (await this.check(agent, request, context, key));
    const { executions } = this;
    const begin = (): Execution | Promise<Execution> =>
      key === undefined
        ? executions.files.keep(request, context).then((kept) => executions.begin(agent, kept, context))
        : executions.beginOnce(agent, request, context, key);
    const execution = known || (await begin());
    await execution.accepted;
    return execution.taskId;
  }

  /** @throws ProblemError 404 */
  async header(kind: ProcessKind, id: string, scope: TaskScope): Promise<TaskHeader> {
    const header = ID.test(id) ? await this.tasks.header(id, scope) : undefined;
    if (!header || !kind.includes(header)) throw unknownProcess(kind);
    return header;
  }

  /**
   * The process with its Task as that began.
   * @throws ProblemError 404
   */
  async begun(kind: ProcessKind, id: string, scope: TaskScope): Promise<StoredTask> {
    const header = await this.header(kind, id, scope);
    const task = await begunTask(this.tasks, id);
    if (!task) throw unknownProcess(kind);
    return { header, task };
  }

  /**
   * Returns a page of a caller's processes of one kind, the one that changed last first. It is shorter than asked for where
   * their logs are large.
   */
  page<Status extends string, Summary>(
    listing: ProcessListing<Status, Summary>,
    query: ProcessQuery<Status>,
    scope: TaskScope,
    room: PageAdmission,
  ): Promise<ProcessPage<Summary>> {
    return processPage(this.tasks, listing, query, { scope, room });
  }

  /** Returns all that has happened to a process, up to where its header is. */
  async log(header: TaskHeader, room: LogAdmission): Promise<TaskEvent[]> {
    return (await wholeLog(this.tasks, header, room)).map(({ event }) => event);
  }

  /**
   * Resolves when a process has ended, canceled or otherwise; one that had ended already is left as it is. Its log says
   * what it ended as.
   * @param revision of its agent
   * @throws ClientLeft where the caller has gone before that: the cancel stays
   */
  async cancel(process: StoredTask, call: ProcessCall, revision?: string): Promise<void> {
    const { header } = process;
    if (isTerminalState(header.state)) return;
    const agent = await this.agentOf(process, revision);
    try {
      await this.executions.cancel(agent, header.taskId, callOf(agent, call), callerGone(call));
    } catch (error) {
      // It ended in the meantime: what it ended as decides the answer.
      if (!isRefusal(error, 'TASK_NOT_CANCELABLE')) throw error;
    }
  }

  /**
   * Goes on with a process that waits. Resolves when that is durable; with `false` where it does not wait: somebody else
   * was first, or it has ended.
   * @throws ProblemError 409 where its definition is gone
   * @param as `found`: only where it waits as its header was read, and not again
   */
  async resume(process: StoredTask, message: Message, call: ProcessCall, as?: 'found'): Promise<boolean> {
    const agent = await this.agentOf(process);
    if (agent.gone) throw new ProblemError(409, DEFINITION_GONE);
    const { taskId, lastSequence } = process.header;
    try {
      const options = as === 'found' ? { after: lastSequence } : {};
      const execution = await this.executions.resume(agent, taskId, { message }, callOf(agent, call), options);
      await execution.accepted;
      return true;
    } catch (error) {
      if (isRefusal(error, 'UNSUPPORTED_OPERATION')) return false;
      throw error;
    }
  }

  /** The agent whose Task the process is, as it was when that began; what stands for it, where it is gone. */
  private agentOf({ header, task }: StoredTask, named = task.metadata?.[REVISION_KEY]): Promise<ServedAgent> {
    const catalog = this.catalog.inTenant(header.tenant);
    const revision = typeof named === 'string' ? named : undefined;
    return agentOrGone(() => catalog.resolve(header.agent, revision), header.agent, revision);
  }

  /** What was started under the key before, where its agent would refuse it now. */
  private async check(
    agent: ServedAgent,
    request: SendMessageRequest,
    call: CallContext,
    key: string | undefined,
  ): Promise<Execution | undefined> {
    try {
      await agent.executor.check?.(request, call);
      return undefined;
    } catch (error) {
      const known = key !== undefined && (await this.executions.known(agent, request, call, key));
      if (known) return known;
      throw error;
    }
  }
}

/** Why a process takes no Message, and is not shown in all its parts. */
export const DEFINITION_GONE =
  'the definition that it was started with is gone: it can be read and canceled, and takes no message';

/** There is none of its kind under an id, or it is not the caller's. */
export function unknownProcess({ noun }: ProcessKind): ProblemError {
  return new ProblemError(404, `${noun} not found`);
}

/** @param how it ended: `it is completed` */
export function hasEnded({ noun }: ProcessKind, how: string): ProblemError {
  return new ProblemError(409, `the ${noun} has ended: ${how}`);
}

function callOf(agent: ServedAgent, { scope, baseUrl, trace }: ProcessCall): CallContext {
  return { scope, agent: agent.path, extensions: [], baseUrl, ...(trace !== undefined && { trace }) };
}

function isRefusal(error: unknown, reason: string): boolean {
  return error instanceof A2AError && error.reason === reason;
}

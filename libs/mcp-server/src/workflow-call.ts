import type { ServedAgent } from '#libs/executor';
import { A2AError, isActiveState, isTerminalState, type JsonObject, type Message } from '#libs/protocol';
import { aboutOf, failure, resultOf } from './call-result.js';
import type { CallProgress } from './call-progress.js';
import type { ClientSupport } from './client-support.js';
import type { AskingTask, Exchange } from './exchange.js';
import { mcpError } from './mcp-error.js';
import { createdTask } from './mcp-tasks.js';
import { type Elicitation, elicitationOf, inputRequests, readReply } from './questions.js';

/** A call that lasts longer becomes a task, where the client knows tasks. */
const TASK_AFTER_MS = 5_000;

/** How a waiting client is told and asked in the answer's stream. */
export interface Listener {
  support: ClientSupport;
  progress: Pick<CallProgress, 'report'>;
  /** Sends a request whose answer comes as a request of its own, to any replica. */
  ask(id: string, elicitation: Elicitation): Promise<void>;
}

/** Where the reading of a Task's events has come to. */
interface Position {
  taskId: string;
  sequence: number;
}

type Items = ReturnType<Exchange['backend']['handler']['sendStreamingMessage']>;

/**
 * One `tools/call` of a workflow: a Message to its agent, and what the client gets of the Task. One that knows tasks
 * gets the Task's id, when it asks or lasts; everyone else waits for the end.
 */
export class WorkflowCall {
  private readonly asked = new Set<string>();
  private position: Position | undefined;
  /** Ends the reading of events, and nothing else. */
  private readonly signal: AbortSignal;

  constructor(
    private readonly exchange: Exchange,
    private readonly agent: ServedAgent,
    private readonly listener: Listener,
  ) {
    const { signal } = exchange;
    this.signal = listener.support.tasks ? AbortSignal.any([signal, AbortSignal.timeout(TASK_AFTER_MS)]) : signal;
  }

  /** @throws McpError */
  async begin(message: Message): Promise<JsonObject> {
    return this.outcome(this.send(message));
  }

  /**
   * The same call again, with what its user said to the questions of a Task.
   * @throws McpError
   */
  async resume(taskId: string, replies: Readonly<Record<string, unknown>>): Promise<JsonObject> {
    const asking = await this.task(taskId);
    if (isTerminalState(asking.header.state)) return resultOf(asking.task);
    const message = this.exchange.answerTo(asking, replies);
    if (message) return this.outcome(this.send(message));
    const isDeclined = asking.questions.some(({ key }) => readReply(replies[key]) !== undefined);
    if (isDeclined) {
      const text = `The question was not answered; the run ${taskId} still waits for an answer`;
      return failure(text, aboutOf(asking.task));
    }
    if (asking.questions.length > 0) return inputRequired(asking);
    return this.outcome(this.follow({ taskId, sequence: asking.header.lastSequence }));
  }

  private async outcome(items: Items): Promise<JsonObject> {
    try {
      return await this.until(items);
    } catch (error) {
      const known = mcpError(error);
      // A model that chose the arguments can mend them; what it is told is what is wrong with which.
      if (this.position === undefined && isAboutArguments(error)) return failure(known.message);
      throw known;
    }
  }

  private async until(begun: Items): Promise<JsonObject> {
    const { tasks, asks } = this.listener.support;
    for (let items = begun; ; items = this.follow(this.position)) {
      await this.read(items);
      if (!this.position) throw new Error('A Message was taken in, and nothing came of it');
      const asking = await this.task(this.position.taskId);
      if (isTerminalState(asking.header.state)) return resultOf(asking.task);
      if (tasks) return createdTask(asking);
      this.exchange.refuseEnded(asking.header.taskId);
      if (asking.questions.length > 0 && asks === 'result') return inputRequired(asking);
      await this.ask(asking);
    }
  }

  /** Reads until the Task has ended, or waits again, or its signal ends the reading. The first item is durable. */
  private async read(items: Items): Promise<void> {
    for await (const { response, sequence = 0 } of items) {
      if ('message' in response) throw new A2AError('INTERNAL', { message: 'The workflow made no task' });
      if ('task' in response) this.position = { taskId: response.task.id, sequence };
      else if (this.position) this.position.sequence = sequence;
      this.listener.progress.report(response);
      if ('statusUpdate' in response && !isActiveState(response.statusUpdate.status.state)) return;
    }
  }

  /** Each question once; the client's answer is a request of its own. */
  private async ask({ header, questions }: AskingTask): Promise<void> {
    if (this.listener.support.asks !== 'request') return;
    for (const question of questions) {
      if (this.asked.has(question.key)) continue;
      this.asked.add(question.key);
      await this.listener.ask(elicitationId(header.taskId, question.key), elicitationOf(question));
    }
  }

  private send(message: Message): Items {
    const { backend } = this.exchange;
    const call = this.exchange.at(this.agent.path);
    return backend.handler.sendStreamingMessage(this.agent, { message }, call, this.signal);
  }

  private follow({ taskId, sequence }: Position): Items {
    const { backend } = this.exchange;
    const call = this.exchange.at(this.agent.path);
    return backend.handler.subscribeToTask(this.agent, { id: taskId }, call, { since: sequence, signal: this.signal });
  }

  private task(taskId: string): Promise<AskingTask> {
    return this.exchange.task(taskId, this.agent);
  }
}

/** The id of a request in a stream: whichever replica gets the answer knows what it answers. */
export function elicitationId(taskId: string, key: string): string {
  return `parley:${taskId}:${key}`;
}

/** What such an id says; `undefined` of any other. */
export function elicited(id: unknown): { taskId: string; key: string } | undefined {
  const [, taskId, key] = (typeof id === 'string' && /^parley:([^:]+):(.+)$/.exec(id)) || [];
  return taskId === undefined || key === undefined ? undefined : { taskId, key };
}

/** The client asks its user, and calls again with the answers. The state is the Task's id, which is its owner's alone. */
function inputRequired({ header, questions }: AskingTask): JsonObject {
  return {
    resultType: 'input_required',
    inputRequests: inputRequests(questions) as unknown as JsonObject,
    requestState: header.taskId,
  };
}

function isAboutArguments(error: unknown): boolean {
  return error instanceof A2AError && error.reason === 'INVALID_PARAMS';
}

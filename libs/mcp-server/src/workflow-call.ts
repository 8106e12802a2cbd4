import type { ServedAgent } from '#libs/agents';
import {
  A2AError,
  briefText,
  isActiveState,
  isTerminalState,
  joinedText,
  type JsonObject,
  type Message,
  runEventNote,
  type StreamResponse,
} from '#libs/protocol';
import type { AskingTask, ClientSupport, McpExchange } from './exchange.js';
import { mcpError } from './mcp-error.js';
import { aboutOf, createdTask, failureResult, messageResult, taskResult } from './mcp-tasks.js';
import { type Elicitation, elicitationOf, inputRequests, type McpQuestion, readReply } from './questions.js';

/**
 * Interval in milliseconds at which a progress notification is repeated (heartbeat), so that an idle client does not
 * time out.
 */
const HEARTBEAT_MS = 15_000;

/** Parameters of `notifications/progress`. */
export interface ProgressNotification {
  progress: number;
  message?: string;
}

/** Increase of the progress by a notification that repeats the last one. */
const REPEATED = 0.01;

/**
 * Reports the progress of a call to the waiting client: on each event of the run, and every 15 seconds. The progress is
 * the position in the events of the run, so that it also increases from one call of a client to the next.
 */
export class ProgressNotifier implements Disposable {
  private progress = 0;
  private last: string | undefined;
  private readonly heartbeat: NodeJS.Timeout | undefined;

  /** @param notify sends a notification; absent if the client requested no progress */
  constructor(private readonly notify: ((progress: ProgressNotification) => Promise<void>) | undefined) {
    if (notify) this.heartbeat = setInterval(() => this.sendNotification(), HEARTBEAT_MS).unref();
  }

  /** Notes that the client knows the events of the run up to a position. */
  resumeAt(sequence: number): void {
    this.progress = Math.max(this.progress, sequence);
  }

  /** @param sequence position of the event in the events of the run */
  reportEvent(response: StreamResponse, sequence: number): void {
    const said = progressText(response);
    if (said === undefined || this.notify === undefined) return;
    this.last = said;
    this.sendNotification(sequence);
  }

  [Symbol.dispose](): void {
    clearInterval(this.heartbeat);
  }

  private sendNotification(sequence = 0): void {
    const increased = Math.round((this.progress + REPEATED) * 100) / 100;
    this.progress = Math.max(increased, sequence);
    const message = this.last === undefined ? {} : { message: this.last };
    // A notification to a client that has left fails. The call itself notices the disconnect.
    this.notify?.({ progress: this.progress, ...message }).catch(() => undefined);
  }
}

/** Returns one line of text about an event of a run; `undefined` for an event that is not reported. */
export function progressText(response: StreamResponse): string | undefined {
  if (!('statusUpdate' in response)) return undefined;
  const { status, metadata } = response.statusUpdate;
  const { type, node_id: id, instance, payload } = runEventNote(metadata) ?? {};
  const node = instance ?? id;
  if (node === undefined)
    return isActiveState(status.state) ? prefixedText(joinedText(status.message?.parts ?? [])) : undefined;
  switch (type) {
    case 'node.started':
      return `${node} started`;
    case 'node.completed':
      return `${node} completed`;
    case 'node.progress':
      return prefixedText(payload?.['text'], `${node}: `);
    case 'input.required':
      return prefixedText(payload?.['question'], `${node} asks: `);
    default:
      return undefined;
  }
}

function prefixedText(text: unknown, before = ''): string | undefined {
  return typeof text === 'string' && text !== '' ? `${before}${briefText(text)}` : undefined;
}

/** Milliseconds until a call returns a task, if the client supports tasks. */
const TASK_AFTER_MS = 5_000;

/** Capabilities of the waiting client, and functions to inform and ask it within the stream of the response. */
export interface Listener {
  support: ClientSupport;
  progress: Pick<ProgressNotifier, 'reportEvent' | 'resumeAt'>;
  /** Sends an elicitation. The answer arrives as a separate HTTP request, at any replica. */
  askClient(id: string, elicitation: Elicitation): Promise<void>;
}

/** Number of rejected answers to a question that ends a call with an error. */
const MOST_REJECTIONS = 3;

/** Position in the events of a Task: the sequence number of the last event that was read. */
interface EventPosition {
  taskId: string;
  sequence: number;
}

type ResponseItems = ReturnType<McpExchange['backend']['handler']['sendStreamingMessage']>;

/**
 * Handles one `tools/call`: sends a Message to the agent of the workflow or to the registered agent, and waits for the
 * Task.
 * - A client that supports tasks gets a task of MCP once the Task asks, or after five seconds.
 * - Any other client waits for the end. Questions reach it as a result, or in the stream (see `ClientSupport.asks`).
 */
export class WorkflowCall {
  private readonly asked = new Set<string>();
  /** Controller that aborts when the client has declined a question of this call. */
  private readonly declined = new AbortController();
  /** Number of rejected answers in a row in the stream of this call, by the node instance that asks. */
  private readonly rejections = new Map<string, number>();
  /**
   * Number of `tools/call` requests in a row, including this one, whose answers were rejected. A client that gets
   * questions as a result answers by repeating the call.
   */
  private rounds = 0;
  /** Watches of the asked questions, which end with the call. */
  private readonly watches: Disposable[] = [];
  private position: EventPosition | undefined;
  /** Direct Message that a registered agent has answered with. */
  private reply: Message | undefined;
  /** Signal that ends the reading of events. An abort does not cancel the Task. */
  private readonly signal: AbortSignal;

  constructor(
    private readonly exchange: McpExchange,
    private readonly agent: ServedAgent,
    private readonly listener: Listener,
  ) {
    const end = listener.support.tasks ? AbortSignal.timeout(TASK_AFTER_MS) : this.declined.signal;
    this.signal = AbortSignal.any([exchange.signal, end]);
  }

  /**
   * Sends the Message of the call, and returns the result of `tools/call` (see WorkflowCall).
   * @throws McpError if the agent rejects the Message for a reason other than its arguments, the Task cannot be read,
   * the client leaves, or the process shuts down
   */
  async beginCall(message: Message): Promise<JsonObject> {
    return this.awaitOutcome(this.startStream(message));
  }

  /**
   * Handles a repeated call that has the replies of the user to the questions of a Task, and returns the result of
   * `tools/call`.
   * @param state `requestState` of the result that asked
   * @throws McpError if a reply is invalid, the agent rejects the answer, the client leaves, or the process shuts down
   * @throws A2AError if the caller has no such Task
   */
  async resumeCall(state: string, replies: Readonly<Record<string, unknown>>): Promise<JsonObject> {
    const [, rounds] = /~([12])$/.exec(state) ?? [];
    this.rounds = Number(rounds ?? 0);
    const taskId = rounds === undefined ? state : state.slice(0, -2);
    const asking = await this.loadTask(taskId);
    this.listener.progress.resumeAt(asking.header.lastSequence);
    if (isTerminalState(asking.header.state)) return taskResult(asking.task, this.exchange.taskUrl(asking.task));
    const message = this.exchange.answerTo(asking, replies);
    if (message) return this.awaitOutcome(this.startStream(message));
    if (asking.questions.some(({ key }) => readReply(replies[key]) !== undefined)) return unansweredResult(asking);
    if (asking.questions.length > 0) return inputRequired(asking, this.rounds);
    return this.awaitOutcome(this.resumeStream({ taskId, sequence: asking.header.lastSequence }));
  }

  private async awaitOutcome(items: ResponseItems): Promise<JsonObject> {
    try {
      return await this.readUntilAnswer(items);
    } catch (error) {
      const known = mcpError(error);
      // A model that chose the arguments can correct them, so the error is returned as a result.
      if (this.position === undefined && isAboutArguments(error)) return failureResult(known.message);
      throw known;
    } finally {
      for (const watch of this.watches) watch[Symbol.dispose]();
    }
  }

  private async readUntilAnswer(begun: ResponseItems): Promise<JsonObject> {
    const { tasks, asks } = this.listener.support;
    for (let items = begun; ; items = this.resumeStream(this.position)) {
      await this.readItems(items);
      if (this.reply) return messageResult(this.reply);
      if (!this.position) throw new Error('A Message was taken in, and nothing came of it');
      const asking = await this.loadTask(this.position.taskId);
      if (isTerminalState(asking.header.state)) return taskResult(asking.task, this.exchange.taskUrl(asking.task));
      if (tasks) return createdTask(asking);
      this.exchange.refuseEnded(asking.header.taskId);
      if (this.declined.signal.aborted) return unansweredResult(asking);
      if (asking.questions.length > 0 && asks === 'result') return this.askByResult(asking);
      const rejected = await this.askQuestions(asking);
      if (rejected) return rejectedResult(asking, rejected);
    }
  }

  /**
   * Reads events until the Task has ended or waits, or the signal aborts. Also ends after a direct Message, which it
   * stores in `reply`.
   */
  private async readItems(items: ResponseItems): Promise<void> {
    for await (const { response, sequence = 0 } of items) {
      if ('message' in response) return void (this.reply = response.message);
      if ('task' in response) this.position = { taskId: response.task.id, sequence };
      else if (this.position) this.position.sequence = sequence;
      this.listener.progress.reportEvent(response, sequence);
      if ('statusUpdate' in response && !isActiveState(response.statusUpdate.status.state)) return;
    }
  }

  /**
   * Asks each open question once, if the client supports requests in the stream. The answer arrives as a separate HTTP
   * request.
   * @returns the question whose answers were rejected MOST_REJECTIONS times, which is not asked again
   */
  private async askQuestions({ header, questions }: AskingTask): Promise<McpQuestion | undefined> {
    if (this.listener.support.asks !== 'request') return undefined;
    for (const question of questions) {
      if (this.asked.has(question.key)) continue;
      this.asked.add(question.key);
      if (question.complaint !== undefined) {
        const { instance = '' } = question;
        const rejections = (this.rejections.get(instance) ?? 0) + 1;
        this.rejections.set(instance, rejections);
        if (rejections === MOST_REJECTIONS) return question;
      } else this.rejections.delete(question.instance ?? '');
      const id = elicitationId(header.taskId, question.key);
      const { declined } = this.exchange;
      if (declined) this.watches.push(declined.watchQuestion(id, () => this.declined.abort()));
      await this.listener.askClient(id, elicitationOf(question));
    }
    return undefined;
  }

  /** Returns the result that asks the open questions, or an error result after MOST_REJECTIONS rejected answers. */
  private askByResult(asking: AskingTask): JsonObject {
    const rejected = asking.questions.find(({ complaint }) => complaint !== undefined);
    this.rounds = rejected ? this.rounds + 1 : 0;
    return rejected && this.rounds >= MOST_REJECTIONS
      ? rejectedResult(asking, rejected)
      : inputRequired(asking, this.rounds);
  }

  private startStream(message: Message): ResponseItems {
    const { backend } = this.exchange;
    const call = this.exchange.callAt(this.agent.path);
    return backend.handler.sendStreamingMessage(this.agent, { message }, call, this.signal);
  }

  private resumeStream({ taskId, sequence }: EventPosition): ResponseItems {
    const { backend } = this.exchange;
    const call = this.exchange.callAt(this.agent.path);
    return backend.handler.subscribeToTask(this.agent, { id: taskId }, call, { since: sequence, signal: this.signal });
  }

  private loadTask(taskId: string): Promise<AskingTask> {
    return this.exchange.loadTask(taskId, this.agent);
  }
}

/** Returns the JSON-RPC id of an elicitation in a stream. The id identifies the question for every replica. */
export function elicitationId(taskId: string, key: string): string {
  return `parley:${taskId}:${key}`;
}

/** Parses the JSON-RPC id of an elicitation; `undefined` for any other id. */
export function parseElicitationId(id: unknown): { taskId: string; key: string } | undefined {
  const [, taskId, key] = (typeof id === 'string' && /^parley:([^:]+):(.+)$/.exec(id)) || [];
  return taskId === undefined || key === undefined ? undefined : { taskId, key };
}

/**
 * Returns the result that asks the user of the client. The client repeats the call with the answers and with
 * `requestState`, which is the id of the Task, followed by the number of calls in a row whose answers were rejected, if
 * any. Only the owner of the Task can continue the Task with this id.
 */
function inputRequired({ header, questions }: AskingTask, rounds: number): JsonObject {
  return {
    resultType: 'input_required',
    inputRequests: inputRequests(questions) as unknown as JsonObject,
    requestState: rounds === 0 ? header.taskId : `${header.taskId}~${rounds}`,
  };
}

/** Returns the error result of a call whose client has not answered a question. The Task still waits. */
function unansweredResult({ header, task }: AskingTask): JsonObject {
  const text = `The question was not answered; the run ${header.taskId} still waits for an answer`;
  return failureResult(text, aboutOf(task));
}

/** Returns the error result of a call whose answers to a question were rejected too often. The Task still waits. */
function rejectedResult({ header, task }: AskingTask, { complaint = '' }: McpQuestion): JsonObject {
  const waits = `the run ${header.taskId} still waits for an answer`;
  return failureResult(`The answer was rejected ${MOST_REJECTIONS} times (${complaint}); ${waits}`, aboutOf(task));
}

function isAboutArguments(error: unknown): boolean {
  return error instanceof A2AError && error.reason === 'INVALID_PARAMS';
}

import {
  BRAINSTORM_ENTRY,
  type BrainstormEntries,
  type BrainstormEntry,
  type ConversationEntry,
  REVISION_KEY,
  type SaidText,
} from '#libs/agents';
import {
  type AssistantMessage,
  ECHO_MODEL,
  type ModelError,
  type ModelMessage,
  type ModelUsage,
  type StructuredAnswer,
  type ToolResult,
} from '#libs/models';
import {
  contentLength,
  dataPart,
  type FailureNote,
  failureNote,
  firstData,
  isJsonObject,
  isWaitingState,
  joinedText,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  runEventNote,
  type TaskState,
  type TaskStatusUpdateEvent,
  textPart,
} from '#libs/protocol';
import type { TaskEvent, TaskScope } from '#libs/tasks';
import {
  type AgentQuestion,
  type AgentTask,
  type AskedCall,
  type BudgetRaise,
  type CalledNote,
  calledOf,
  errorForModelOf,
  keptOf,
  type ModelFailure,
  type ModelResponse,
  questionOf,
  rememberedOf,
  type ToolOutcome,
} from './agent-events.js';
import type { AgentNodeSettings } from './agent-settings.js';

/** Task of a called agent that waits for an answer, or may wait. */
export interface WaitingAgentTask extends AgentTask {
  /** Id of the call that left the Task waiting. */
  call: string;
  tool: string;
  /** State of the Task, if known. */
  state?: TaskState;
}

/** State of the agents that a Task has called as tools, by tool. */
class CalledAgentLog {
  private readonly ids = new Map<string, Set<string>>();
  private readonly contexts = new Map<string, string>();
  private readonly open = new Map<string, WaitingAgentTask>();
  private readonly tokens = new Map<string, number>();
  /**
   * Tasks of called agents that may still wait, but that no later call answers. They are canceled at the end of the
   * turn.
   */
  private readonly left: WaitingAgentTask[] = [];

  /** Records a call of a tool. Repetitions of a call, which have the same id, count once. */
  recordCall(tool: string, id: string): void {
    const ids = this.ids.get(tool) ?? new Set();
    this.ids.set(tool, ids.add(id));
  }

  /** Records the end of a call. @param called record about the agent's Task; absent if no Task was seen */
  recordCallEnd(tool: string, called: CalledNote | undefined): void {
    if (called === undefined) return;
    const { call, taskId, contextId, state, left, tokens = 0 } = called;
    this.tokens.set(taskId, this.tokensOf(taskId) + tokens);
    const task: WaitingAgentTask = { tool, call, taskId, contextId };
    if (contextId !== '') this.contexts.set(tool, contextId);
    if (left) this.left.push(task);
    if (state !== undefined && isWaitingState(state)) this.open.set(tool, { ...task, state });
    else if (this.open.get(tool)?.taskId === taskId) this.open.delete(tool);
  }

  /** Returns the number of calls of a tool. */
  countCalls(tool: string): number {
    return this.ids.get(tool)?.size ?? 0;
  }

  /** Returns the context id that earlier calls of a tool share, if any. */
  contextOf(tool: string): string | undefined {
    return this.contexts.get(tool);
  }

  /** Returns the waiting Task that the next call of a tool answers, if any. */
  waitingOf(tool: string): WaitingAgentTask | undefined {
    return this.open.get(tool);
  }

  /** Returns the number of tokens that earlier calls have reported for a Task of a called agent. */
  tokensOf(taskId: string): number {
    return this.tokens.get(taskId) ?? 0;
  }

  /** Tasks of called agents that wait for an answer, or may wait. */
  get waiting(): WaitingAgentTask[] {
    return [...this.open.values(), ...this.left];
  }
}

/** Tool call that a model requested, with its state according to the log of the Task. */
export interface LoggedToolCall extends AskedCall {
  step: number;
  /**
   * Number of `tool.call` events of this call. The event is recorded right before each attempt, so this is the number
   * of attempts, including interrupted ones.
   */
  made: number;
  /** Answer to the approval question, if any. */
  approved?: 'yes' | 'no';
  /**
   * Answer to the question whether the interrupted call may be repeated. Absent before the answer, and again once the
   * call has been repeated.
   */
  repeated?: 'yes' | 'no';
  /** Latest record about the Task of the called agent; absent if none is in the log. */
  called?: CalledNote;
  /** Message that answers the question of the called agent; absent if there is none. */
  answer?: Message;
  /** Time when the call was recorded, or when `answer` was received, in milliseconds of the epoch. */
  since?: number;
}

/** Call of a model that has no answer yet. */
export interface OpenStep {
  step: number;
  model: string;
  /** Number of the oldest messages of the memory that the model was not given; absent: none. */
  omitted?: number;
}

/**
 * State of a Task of an `agent` node, computed from the log of the Task alone.
 * - Executions that read the same log continue in the same way.
 * - The executor of the node applies each new event here before it yields the event.
 * - There are three counts of tokens: `usage` counts the tokens of the model. `tokens` also counts the tokens of local
 *   called agents, and is compared with `budget.tokens`. `calledAgents.tokensOf` counts the tokens of one called Task.
 *   The function `tokensOf` only estimates the tokens of texts.
 */
export class AgentLog {
  /** Messages of the Task's first event in the log: the history that it began with. */
  readonly opening: Message[] = [];
  /** Time when the Task began (ISO 8601); `undefined` before the first event. */
  begunAt: string | undefined;
  /**
   * Version of the agent that accepted the Task (metadata key `parley/revision`); `undefined` if the Task names none.
   */
  revision: string | undefined;
  /** Ids of the earlier Tasks that the model is given, oldest first; `undefined` before they are chosen. */
  remembered: readonly string[] | undefined;
  /** Number of the oldest messages of the memory that do not fit into the model's context. */
  omitted = 0;
  /**
   * Conversation after `opening`, without the step in progress. Tools have the names that events use, not WireNames.
   */
  readonly said: ModelMessage[] = [];
  /** Number of the last model call, from 1; 0 before the first. */
  step = 0;
  /** Invalid answers of this Task that the model was asked to correct. */
  readonly mended: Part[][] = [];
  /** Number of tokens that the model has used. */
  readonly usage: ModelUsage = { inputTokens: 0, outputTokens: 0 };
  /**
   * Model call that has no answer yet; `undefined` if there is none. If a model has failed and another model of
   * `fallbacks` is called next, this is the call of that next model.
   */
  open: OpenStep | undefined;
  /** Latest answer of the model; `undefined` if the latest answer requests tool calls, or there is none yet. */
  answer: Part[] | undefined;
  /** Failure that prevents calls of further models; `undefined` if there is none. */
  failure: { message: string; note: FailureNote | undefined } | undefined;
  /** Question that the Task waits for, if any. */
  question: AgentQuestion | undefined;
  /** Answer to the question by how much a budget is raised, until the next call of a model. */
  raise: BudgetRaise | undefined;
  /** True if the last answer to a question about a call was neither yes nor no. */
  isUnanswered = false;
  /** State of the agents that were called as tools. */
  readonly calledAgents = new CalledAgentLog();
  private calledTokens = 0;
  /** Estimated number of tokens of model calls whose provider reported none. */
  private estimatedTokens = 0;
  private calls: LoggedToolCall[] = [];
  private readonly results = new Map<string, ToolResult>();
  private pieces: Part[] = [];

  /** @param complaint returns the message that asks a model to correct an answer */
  constructor(private readonly complaint: (answer: readonly Part[]) => string = () => '') {}

  static fromEvents(events: readonly TaskEvent[], complaint?: (answer: readonly Part[]) => string): AgentLog {
    const log = new AgentLog(complaint);
    for (const event of events) log.applyEvent(event);
    return log;
  }

  /**
   * Number of tokens used by the model and by called agents of this service. It is compared with `budget.tokens`. The
   * tokens of calls whose provider reports none are estimated.
   */
  get tokens(): number {
    return this.usage.inputTokens + this.usage.outputTokens + this.estimatedTokens + this.calledTokens;
  }

  /** First requested tool call that has no result yet; `undefined` if all have one. */
  get call(): LoggedToolCall | undefined {
    return this.calls.find(({ id }) => !this.results.has(id));
  }

  /** True if a tool call with this id was requested earlier in this Task. */
  hasCallId(id: string): boolean {
    return this.calls.some((call) => call.id === id) || this.said.some((it) => hasCall(it, id));
  }

  /**
   * Messages to send to the model after `opening`: `said`, and then the message that asks the model to correct its last
   * answer, if there is one.
   */
  get messagesToSend(): readonly ModelMessage[] {
    return this.answer ? [...this.said, this.complaintAbout(this.answer)] : this.said;
  }

  /** Applies the next event of the log. */
  applyEvent(event: TaskEvent): void {
    if ('task' in event) {
      this.opening.push(...(event.task.history ?? []));
      this.begunAt = event.task.status.timestamp;
      const revision = event.task.metadata?.[REVISION_KEY];
      if (typeof revision === 'string') this.revision = revision;
    } else if ('artifactUpdate' in event) {
      const { append, artifact } = event.artifactUpdate;
      this.pieces = append ? appendPiece(this.pieces, artifact.parts) : artifact.parts;
    } else {
      const { statusUpdate } = event;
      if (event.received) this.recordAnswer(event.received, eventTime(statusUpdate));
      this.question = questionOf(statusUpdate.metadata) ?? this.question;
      this.applyStepEvent(statusUpdate);
      this.recordCalledTask(calledOf(statusUpdate.metadata));
    }
  }

  private applyStepEvent(update: TaskStatusUpdateEvent): void {
    const { metadata } = update;
    const note = runEventNote(metadata);
    const payload = note?.payload as unknown;
    if (note?.type === 'model.request') {
      this.recordModelRequest(payload as OpenStep);
      this.remembered ??= rememberedOf(metadata);
    }
    if (note?.type === 'model.response') this.recordModelResponse(payload as ModelResponse, metadata);
    if (note?.type === 'model.error') this.recordModelFailure(payload as ModelFailure, metadata);
    if (note?.type === 'tool.call') this.recordToolCall(payload as AskedCall, eventTime(update));
    if (note?.type === 'tool.result') {
      const errorForModel = errorForModelOf(metadata);
      const outcome = payload as AskedCall & ToolOutcome;
      this.recordToolResult(
        errorForModel === undefined ? outcome : { ...outcome, error: errorForModel },
        calledOf(metadata),
      );
    }
  }

  private recordModelRequest({ model, step, omitted = 0 }: OpenStep): void {
    if (this.answer) {
      this.mended.push(this.answer);
      this.said.push(this.complaintAbout(this.answer));
      this.answer = undefined;
    }
    this.open = { model, step };
    this.raise = undefined;
    this.omitted = omitted;
    this.step = step;
    this.pieces = [];
  }

  private complaintAbout(answer: readonly Part[]): ModelMessage {
    return { role: 'user', parts: [textPart(this.complaint(answer))] };
  }

  private recordModelFailure({ step, message, next, usage }: ModelFailure, metadata: JsonObject | undefined): void {
    this.step = step;
    this.addUsage(usage);
    if (next === undefined) this.failure = { message, note: failureNote(metadata) };
    else this.open = { model: next, step };
  }

  private recordModelResponse(response: ModelResponse, metadata: JsonObject | undefined): void {
    const { model, step, usage, toolCalls = [] } = response;
    const parts = this.pieces;
    const kept = keptOf(metadata);
    const calls = toolCalls.map(({ id, tool, args }) => ({ id, name: tool, args }));
    const message: AssistantMessage = { role: 'assistant', parts };
    if (calls.length > 0) message.toolCalls = calls;
    if (kept !== undefined) message.kept = kept;
    this.said.push(message);
    if (usage === undefined && model !== ECHO_MODEL) this.estimatedTokens += this.estimateCall();
    this.addUsage(usage);
    this.open = undefined;
    this.calls = toolCalls.map((call) => ({ ...call, step, made: 0 }));
    this.results.clear();
    this.answer = calls.length > 0 ? undefined : parts;
  }

  /** Returns an estimate of the tokens of the last model call: of the whole conversation with its answer. */
  private estimateCall(): number {
    const results = this.said.flatMap((it) => (it.role === 'tool' ? it.results : []));
    const texts = this.said.filter((it) => it.role !== 'tool');
    const said = [...this.opening, ...texts].reduce((sum, { parts }) => sum + contentLength(parts), 0);
    return Math.ceil((said + JSON.stringify(results).length) / TOKEN);
  }

  private addUsage({ inputTokens, outputTokens }: ModelUsage = { inputTokens: 0, outputTokens: 0 }): void {
    this.usage.inputTokens += inputTokens;
    this.usage.outputTokens += outputTokens;
  }

  private recordToolCall({ id, tool }: AskedCall, at: number | undefined): void {
    const call = this.calls.find((it) => it.id === id);
    if (call === undefined) return;
    call.made += 1;
    if (at !== undefined) call.since = at;
    delete call.repeated;
    this.calledAgents.recordCall(tool, id);
  }

  private recordCalledTask(called: CalledNote | undefined): void {
    const call = this.calls.find(({ id }) => id === called?.call);
    if (called && call) call.called = called;
  }

  private recordToolResult(outcome: AskedCall & ToolOutcome, called: CalledNote | undefined): void {
    const { tool, id, result = null, error, truncated } = outcome;
    this.calledAgents.recordCallEnd(tool, called);
    this.calledTokens += called?.tokens ?? 0;
    const isCut = truncated === true;
    const outcomeRead =
      error === undefined ? { result: markTruncated(result, isCut) } : { error: isCut ? `${error}\n${CUT}` : error };
    this.results.set(id, { id, name: tool, ...outcomeRead });
    if (this.call !== undefined) return;
    const results = this.calls.flatMap((call) => this.results.get(call.id) ?? []);
    this.said.push({ role: 'tool', results });
    this.calls = [];
  }

  private recordAnswer(message: Message, at: number | undefined): void {
    const { question } = this;
    if (question?.about === 'budget') {
      const { budget, unit } = question;
      this.raise = { budget, unit, message };
      this.question = undefined;
      return;
    }
    const isForAgent = question?.about === 'agent';
    const decision = isForAgent ? undefined : decisionIn(message.parts);
    this.isUnanswered = question !== undefined && !isForAgent && decision === undefined;
    this.question = undefined;
    const call = this.calls.find(({ id }) => id === question?.call);
    if (isForAgent && call) {
      call.answer = message;
      if (at !== undefined) call.since = at;
    }
    if (call === undefined || decision === undefined) return;
    if (question?.about === 'approval') call.approved = decision;
    else call.repeated = decision;
  }
}

/** Returns the time of an event, in milliseconds of the epoch; `undefined` if it has none. */
function eventTime({ status: { timestamp } }: TaskStatusUpdateEvent): number | undefined {
  return timestamp === undefined ? undefined : Date.parse(timestamp);
}

/** Marks a result if it was truncated (`isCut`), so that a model does not read it as the whole result. */
function markTruncated(result: JsonValue, isCut: boolean): JsonValue {
  if (!isCut) return result;
  return Array.isArray(result)
    ? [...result, CUT]
    : `${typeof result === 'string' ? result : JSON.stringify(result)}\n${CUT}`;
}

const CUT = '[There was more: this result was cut.]';

function hasCall(message: ModelMessage, id: string): boolean {
  return message.role === 'assistant' && (message.toolCalls ?? []).some((call) => call.id === id);
}

/**
 * Reads the answer to an approval or repetition question: `yes` or `no` as text, or as the member `decision` of data;
 * `undefined` for any other answer.
 */
function decisionIn(parts: readonly Part[]): 'yes' | 'no' | undefined {
  const data = firstData(parts);
  const said = isJsonObject(data) ? data.decision : (data ?? joinedText(parts));
  const word = typeof said === 'string' ? said.trim().toLowerCase() : '';
  return word === 'yes' || word === 'no' ? word : undefined;
}

/** Appends a piece to an answer. Text after text is merged into one Part. */
function appendPiece(before: readonly Part[], piece: readonly Part[]): Part[] {
  const last = before.at(-1);
  const [first, ...others] = piece;
  if (last?.text === undefined || first?.text === undefined) return [...before, ...piece];
  return [...before.slice(0, -1), { ...last, text: last.text + first.text }, ...others];
}

/** Request that a brainstorm of this service sends to one of its agents. */
export interface BrainstormRequest {
  systemPrompt: string;
  /**
   * State of the brainstorm, as one data Part. The data that the Message has for agents that cannot read `entry` is
   * omitted.
   */
  parts: Part[];
  entry: BrainstormEntry;
}

/**
 * Returns the request of a brainstorm that a Message contains. Returns `undefined` if the Message has no data that a
 * brainstorm of this service signed for this agent.
 */
export function brainstormRequest(
  message: Message,
  { agent, ...scope }: TaskScope & { agent: string },
  entries: Pick<BrainstormEntries, 'readEntry'> | undefined,
): BrainstormRequest | undefined {
  const entry = entries?.readEntry(message, scope);
  const data = firstData(message.parts);
  if (entry?.agent !== agent || !isJsonObject(data)) return undefined;
  const { systemPrompt, state } = data;
  if (typeof systemPrompt !== 'string' || state === undefined) return undefined;
  return { systemPrompt, parts: [dataPart(state)], entry };
}

/** Data for the report about an answer: the log of the Task, and the required form of the answer. */
interface AnswerSource {
  log: Pick<AgentLog, 'mended' | 'usage'>;
  structure: StructuredAnswer | undefined;
}

/**
 * Returns metadata for the Artifact of an answer to a brainstorm: the corrections of the answer, and its token usage.
 * @param last usage of the last model call, which the log does not contain yet
 */
export function answerReport({ log, structure }: AnswerSource, last?: ModelUsage): JsonObject {
  const { inputTokens, outputTokens } = log.usage;
  const usage = {
    inputTokens: inputTokens + (last?.inputTokens ?? 0),
    outputTokens: outputTokens + (last?.outputTokens ?? 0),
  };
  return { [BRAINSTORM_ENTRY]: { repairs: structure?.faultsOf(log.mended) ?? [], usage } };
}

/** Estimated number of characters of a token. */
export const TOKEN = 4;

/**
 * Message of a conversation in the form for a model. Texts of the agent itself have the role `assistant`, all others
 * `user`.
 */
export interface SaidMessage {
  role: 'user' | 'assistant';
  parts: Part[];
}

/**
 * Returns texts of a conversation from the entry in a Message, oldest first. If not all texts fit in `tokens` tokens,
 * the oldest are omitted.
 */
export function saidMessages(entry: ConversationEntry | undefined, tokens = Infinity): SaidMessage[] {
  const messages = (entry?.said ?? []).map(saidMessage);
  let room = tokens * TOKEN;
  const first = messages.findLastIndex(({ parts }) => (room -= contentLength(parts)) < 0);
  return messages.slice(first + 1);
}

/** Returns the estimated number of tokens in messages. */
export function tokensOf(messages: readonly SaidMessage[]): number {
  return Math.ceil(messages.reduce((sum, { parts }) => sum + contentLength(parts), 0) / TOKEN);
}

function saidMessage({ by, agent, text }: SaidText): SaidMessage {
  const parts = [textPart(agent === undefined ? text : `${JSON.stringify(agent)} said:\n${text}`)];
  return { role: by === 'self' ? 'assistant' : 'user', parts };
}

/** Messages of earlier Tasks that an agent remembers, oldest first. */
export interface Remembered {
  /** Ids of the Tasks that `messages` come from, oldest first; absent if the agent uses no memory. */
  readonly taskIds?: readonly string[];
  readonly messages: readonly ModelMessage[];
}

/** Sources of the messages before a Task: the memory of the agent, and the conversation that called it. */
export interface EarlierSources {
  settings: Pick<AgentNodeSettings, 'history' | 'historyTokens' | 'maxTokens' | 'budget'>;
  /**
   * Conversation entries (data that a conversation of this service sends with a Message) of the current Message, and of
   * the Message that began the Task; each is absent if the Message has none.
   */
  entries: { current?: ConversationEntry; opening?: ConversationEntry };
  log: Pick<AgentLog, 'tokens'>;
  /** Reads the remembered Messages of earlier Tasks. They are read once; repeated calls return the same Messages. */
  recallEarlier(): Promise<Remembered>;
}

/** Messages before a Task, as a model gets them. */
export interface EarlierMessages {
  /** Messages of earlier Tasks, then texts of the conversation, oldest first. */
  readonly messages: readonly ModelMessage[];
  /** Number of texts of the conversation among `messages`. */
  readonly saidCount: number;
}

/**
 * Returns texts of the conversation that this agent neither received nor sent: the newest texts that fit in
 * `historyTokens`.
 */
export function saidBefore({ settings, entries }: Pick<EarlierSources, 'settings' | 'entries'>): SaidMessage[] {
  return settings.history === 'none' ? [] : saidMessages(entries.opening, settings.historyTokens);
}

/** Returns the messages before the Task, without the `omitted` oldest ones. */
export async function readEarlierMessages(sources: EarlierSources, omitted: number): Promise<EarlierMessages> {
  const said = saidBefore(sources);
  const messages = [...(await sources.recallEarlier()).messages, ...said].slice(omitted);
  return { messages, saidCount: Math.min(said.length, messages.length) };
}

/**
 * Returns the number of oldest messages to omit in the next call, after a call for which the context of the model had
 * no room. Each time, half of the messages that are left are omitted, up to the next message with the role `user`.
 * Returns `undefined` if no further message can be omitted, or if the failure has another cause.
 * @param omitted number of messages that the failed call omitted
 */
export async function planOmission(
  sources: EarlierSources,
  failure: ModelError,
  omitted: number,
): Promise<number | undefined> {
  if (!failure.isOverflow && !(omitted === 0 && isCutByContext(sources, failure))) return undefined;
  const { messages } = await readEarlierMessages(sources, 0);
  const left = messages.length - omitted;
  if (left <= 0) return undefined;
  const half = omitted + Math.ceil(left / 2);
  const next = messages.findIndex(({ role }, at) => at >= half && role === 'user');
  return next < 0 ? messages.length : next;
}

/**
 * True if an answer was truncated because the conversation takes most of the context, and not because of a token
 * limit.
 * False if the budget of the node permits no further call.
 */
function isCutByContext({ settings, log }: EarlierSources, failure: ModelError): boolean {
  const { isTruncated, usage, tokenLimit = Infinity } = failure;
  if (!isTruncated || usage === undefined) return false;
  const { inputTokens, outputTokens } = usage;
  const { maxTokens = tokenLimit, budget = Infinity } = settings;
  return outputTokens < maxTokens && inputTokens > outputTokens && log.tokens + inputTokens + outputTokens < budget;
}

import type { RequestContext } from '#libs/agents';
import { CALL_QUESTION, questionMessage } from '#libs/durable';
import {
  type Model,
  type ModelCall,
  type ModelEnd,
  type ModelToolCall,
  type ModelUsage,
  requestedPrompt,
} from '#libs/models';
import {
  artifactUpdate,
  failureMetadata,
  type FailureNote,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  runEventMetadata,
  type RunEventNote,
  statusUpdate,
  type TaskReference,
  type TaskState,
} from '#libs/protocol';
import type { BudgetUnit, ExceededBudget, PromptNote } from '#libs/tasks';
import type { NodeEvent } from '../node-executor.js';

/** Tool call that a model requested, in the form in which events and the log record it. */
export interface AskedCall {
  /** `server/tool`, `agent:name`, or the name of a built-in tool. */
  tool: string;
  id: string;
  args: JsonObject;
  /** Arguments as the model sent them, if they are not a JSON object. */
  malformed?: string;
}

/** Payload of `model.response`: an answer of a model. */
export interface ModelResponse {
  model: string;
  step: number;
  /** Number of tokens of the call; absent if the provider does not report it. */
  usage?: ModelUsage;
  toolCalls?: AskedCall[];
  /**
   * Description of how the answer violates the protocol of the provider, such as `its answer ended with [DONE] and
   * without a finish_reason`; absent if it does not. A reader puts the name of the model before this text.
   */
  note?: string;
}

/** Payload of `model.error`: a failed call of a model. */
export interface ModelFailure {
  model: string;
  step: number;
  status?: number;
  message: string;
  /**
   * Name of the model that is called next: one of `fallbacks`, or the same model without the oldest messages of its
   * memory; absent if none is.
   */
  next?: string;
  /** Number of tokens of the call; absent if the provider does not report it. */
  usage?: ModelUsage;
}

/** Outcome of a tool call: either `result` or `error`. */
export interface ToolOutcome {
  result?: JsonValue;
  error?: string;
  /** Text that the model reads in place of `error`; present if `error` names a credential, which no model may read. */
  errorForModel?: string;
  /** True if the result was truncated. */
  truncated?: true;
}

/**
 * Question of a Task. `about` says what is asked:
 * - `approval`: whether a tool call may be made
 * - `repetition`: whether a tool call whose outcome is unknown may be repeated
 * - `agent`: a question that a called agent itself asks
 * - `budget`: by how much the budget of a run is raised
 */
export type AgentQuestion = CallQuestion | { about: 'budget'; budget: string; unit: BudgetUnit };

/** Answer to the question by how much a budget is raised. */
export interface BudgetRaise {
  /** Run whose budget is raised, and the limit. */
  budget: string;
  unit: BudgetUnit;
  message: Message;
}

/** Question about a tool call. */
export interface CallQuestion {
  about: 'approval' | 'repetition' | 'agent';
  call: string;
}

/** Task that a called agent created for a tool call. */
export interface AgentTask {
  taskId: string;
  contextId: string;
}

/** Record in the log of the calling Task about the Task that a called agent created for a tool call. */
export interface CalledNote extends AgentTask {
  /** Id of the tool call. */
  call: string;
  /** Called agent, as the config names it. */
  agent: string;
  /** State of the Task when the call ended or the agent asked; absent while the call is in progress. */
  state?: TaskState;
  /**
   * True if the call failed before a final state of the Task was seen: the Task may still wait. No later call of the
   * tool answers such a Task; it is canceled when the turn ends.
   */
  left?: true;
  /** Number of tokens that the called agent has reported for this call so far; absent if it reported none. */
  tokens?: number;
}

/** Payload of `tool.canceled`: the outcome of canceling the Task of a called agent. */
export interface CanceledTool {
  tool: string;
  id: string;
  taskId?: string;
  outcome: string;
}

/**
 * Metadata key of opaque data that a provider returns with a model's answer and expects back when later requests repeat
 * that answer. The data is not in the payload, because callers may see the payload.
 */
const KEPT_KEY = 'parley/kept';
/** Metadata key of the ids of the earlier Tasks that the model was given as memory. */
const REMEMBERED_KEY = 'parley/remembered';
/** Metadata key of the record (CalledNote) about the Task of a called agent. */
const CALLED_KEY = 'parley/called';
/** Metadata key of the text that a model reads in place of the error of a call. */
const MODEL_ERROR_KEY = 'parley/model-error';

/** Payload of `model.request`: a call of a model that begins. */
interface ModelRequest {
  model: string;
  step: number;
  /** Number of the oldest messages of the memory that the model is not given; 0 is not recorded. */
  omitted?: number;
}

/**
 * Returns the event `model.request`, which records that a model is called.
 * @param remembered ids of the earlier Tasks that the model is given, oldest first; absent if the log has them already,
 * or none are used
 */
export function modelRequest(
  task: TaskReference,
  { omitted = 0, ...request }: ModelRequest,
  remembered?: readonly string[],
): NodeEvent {
  const payload = { ...request, ...(omitted > 0 && { omitted }) };
  return stepEvent(task, 'model.request', payload, remembered && { [REMEMBERED_KEY]: [...remembered] });
}

/**
 * Returns the event `model.response`.
 * @param kept opaque data that the provider expects back with the answer (KEPT_KEY)
 */
export function modelResponse(task: TaskReference, response: ModelResponse, kept?: JsonValue): NodeEvent {
  const more = kept === undefined ? undefined : { [KEPT_KEY]: kept };
  return stepEvent(task, 'model.response', response as unknown as JsonObject, more);
}

/** Returns the note about an answer, which also states how many messages of the memory were omitted. */
export function noteAbout(note: string | undefined, omitted: number): string | undefined {
  if (omitted === 0) return note;
  const left = `answered without the ${omitted} oldest messages of its memory: its context has no room for them`;
  return note === undefined ? left : `${left}; ${note}`;
}

/** Returns the event `model.error`. @param note failure note for the run; absent if another model is called next */
export function modelError(task: TaskReference, failure: ModelFailure, note?: FailureNote): NodeEvent {
  return stepEvent(task, 'model.error', failure as unknown as JsonObject, note && failureMetadata(note));
}

/**
 * Returns the event `tool.call`, which records that a tool is about to be called.
 * @param step number of the model call that requested it
 */
export function toolCall(task: TaskReference, { tool, id, args }: AskedCall, step: number): NodeEvent {
  return stepEvent(task, 'tool.call', { tool, id, args, step });
}

/**
 * Returns the event `tool.result`.
 * @param called record about the Task of the called agent in its final state, if the tool is an agent
 */
export function toolResult(
  task: TaskReference,
  { tool, id }: AskedCall,
  { errorForModel, ...outcome }: ToolOutcome,
  called?: CalledNote,
): NodeEvent {
  const used: JsonObject = called?.tokens === undefined ? {} : { tokens: called.tokens };
  const more = {
    ...(called && { [CALLED_KEY]: { ...called } }),
    ...(errorForModel !== undefined && { [MODEL_ERROR_KEY]: errorForModel }),
  };
  return stepEvent(task, 'tool.result', { tool, id, ...outcome, ...used }, more);
}

/** Returns the event `tool.called`, which records the Task of a called agent once it is known. */
export function agentCalled(task: TaskReference, { tool, id }: AskedCall, called: CalledNote): NodeEvent {
  const { agent, taskId, contextId } = called;
  return stepEvent(task, 'tool.called', { tool, id, agent, taskId, contextId }, { [CALLED_KEY]: { ...called } });
}

/** Returns an event `node.progress` with the progress of a called agent. */
export function agentProgress(task: TaskReference, { tool, id }: AskedCall, { payload }: RunEventNote): NodeEvent {
  return stepEvent(task, 'node.progress', { tool, call: id, ...payload });
}

/** Returns the event `budget.exceeded`, which warns of a budget that is used up. */
export function budgetExceeded(task: TaskReference, budget: ExceededBudget): NodeEvent {
  const { runId, workflow, unit, limit, spent } = budget;
  return stepEvent(task, 'budget.exceeded', { runId, workflow, unit, limit, spent });
}

/** Returns the event `tool.canceled`, which records the cancel of a called agent's Task. */
export function toolCanceled(task: TaskReference, canceled: CanceledTool): NodeEvent {
  return stepEvent(task, 'tool.canceled', { ...canceled });
}

/**
 * Returns an event with a piece of the node's answer.
 * @param how options of the Artifact update; `metadata` becomes the metadata of the Artifact
 */
export function answerPiece(
  task: TaskReference,
  node: string,
  parts: Part[],
  { metadata, ...how }: { append?: boolean; lastChunk?: boolean; metadata?: JsonObject },
): NodeEvent {
  return artifactUpdate(task, { artifactId: node, name: node, parts, ...(metadata && { metadata }) }, how);
}

/**
 * Returns the event by which the Task starts to wait for the answer to a question about a call or a budget.
 * @param words the question as Parts
 */
export function callQuestion(task: TaskReference, question: AgentQuestion, words: Part[]): NodeEvent {
  return statusUpdate(task, 'TASK_STATE_INPUT_REQUIRED', words, { [CALL_QUESTION]: { ...question } });
}

/**
 * Returns the event by which the Task starts to wait for the answer to a called agent's question.
 * @param words the question as Parts
 * @param asked Message of the agent that contains its question
 */
export function agentQuestion(task: TaskReference, called: CalledNote, words: Part[], asked?: Message): NodeEvent {
  const about: JsonObject = { about: 'agent', call: called.call };
  const metadata = { [CALL_QUESTION]: about, [CALLED_KEY]: { ...called } };
  const event = statusUpdate(task, called.state ?? 'TASK_STATE_INPUT_REQUIRED', undefined, metadata);
  event.statusUpdate.status.message = questionMessage(task, words, about, asked);
  return event;
}

/** Returns the record about the Task of a called agent in the metadata of an event, if any. */
export function calledOf(metadata: JsonObject | undefined): CalledNote | undefined {
  const called = metadata?.[CALLED_KEY];
  return isJsonObject(called) ? (called as unknown as CalledNote) : undefined;
}

/** Returns the text that a model reads in place of the error of a call, if any. */
export function errorForModelOf(metadata: JsonObject | undefined): string | undefined {
  const errorForModel = metadata?.[MODEL_ERROR_KEY];
  return typeof errorForModel === 'string' ? errorForModel : undefined;
}

/** Returns the opaque data that a provider expects back with its answer (KEPT_KEY); `undefined` if there is none. */
export function keptOf(metadata: JsonObject | undefined): JsonValue | undefined {
  return metadata?.[KEPT_KEY];
}

/**
 * Returns the ids of the earlier Tasks that a `model.request` records, oldest first; `undefined` if it records none.
 */
export function rememberedOf(metadata: JsonObject | undefined): string[] | undefined {
  const ids = metadata?.[REMEMBERED_KEY];
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : undefined;
}

/** Returns the question in the metadata of an event, if any. */
export function questionOf(metadata: JsonObject | undefined): AgentQuestion | undefined {
  const question = metadata?.[CALL_QUESTION];
  return isJsonObject(question) ? (question as unknown as AgentQuestion) : undefined;
}

function stepEvent(task: TaskReference, type: string, payload: JsonObject, more?: JsonObject): NodeEvent {
  return statusUpdate(task, 'TASK_STATE_WORKING', undefined, { ...runEventMetadata({ type, payload }), ...more });
}

/** Answer of a model in the form in which the provider sent it. It is stored or exported with the prompt. */
interface PromptedAnswer {
  end: ModelEnd;
  parts: readonly Part[];
  /** Requested tool calls, with the tool names that were sent to the model (wire names). */
  toolCalls: readonly ModelToolCall[];
  note?: string;
}

/**
 * Adds the content of one model call (request and answer) to the events of the call, if the prompts of the Task are
 * stored or exported.
 */
export class PromptedCall {
  private sent: { model: string; at: number; secrets: readonly string[] } | undefined;

  constructor(
    private readonly context: Pick<RequestContext, 'prompts' | 'signal'>,
    private readonly step: number,
  ) {}

  /** Returns the request event with the content that is sent to the model. */
  async attachRequest(event: NodeEvent, model: Model, call: ModelCall): Promise<NodeEvent> {
    const { prompts, signal } = this.context;
    if (!prompts) return event;
    await prompts.loadEarlier();
    const secrets = (await model.readSecrets?.(signal)) ?? [];
    this.sent = { model: model.name, at: performance.now(), secrets };
    const { provider, providerModel } = model;
    const { messages, tools, ...request } = requestedPrompt(model, call);
    return withNote(
      event,
      prompts.describeSent(
        {
          step: this.step,
          model: model.name,
          ...(provider !== undefined && { provider }),
          ...(providerModel !== undefined && { providerModel }),
          ...request,
          messages: messages as unknown as JsonValue[],
          ...(tools && { tools: tools as unknown as JsonValue[] }),
        },
        secrets,
      ),
    );
  }

  /** Returns the answer event with the answer as the provider sent it. */
  attachAnswer(event: NodeEvent, { end, parts, toolCalls, note }: PromptedAnswer): NodeEvent {
    const message = {
      role: 'assistant',
      parts: [...parts],
      ...(toolCalls.length > 0 && { toolCalls: [...toolCalls] }),
      ...(end.kept !== undefined && { kept: end.kept }),
    } as unknown as JsonValue;
    return this.attachOutcome(event, {
      message,
      reason: end.reason,
      ...(end.usage && { usage: { ...end.usage } }),
      ...(note !== undefined && { note }),
    });
  }

  /**
   * Returns the failure event with the text of the error. Returns `event` unchanged if no request was sent to the
   * model.
   */
  attachError(event: NodeEvent, error: string): NodeEvent {
    return this.attachOutcome(event, { error });
  }

  private attachOutcome(event: NodeEvent, outcome: PromptedOutcome): NodeEvent {
    const { sent, step } = this;
    const { prompts } = this.context;
    if (!sent || !prompts) return event;
    const ms = Math.round(performance.now() - sent.at);
    return withNote(event, prompts.describeReceived({ step, model: sent.model, ms, ...outcome }, sent.secrets));
  }
}

type PromptedOutcome = Omit<
  Parameters<NonNullable<RequestContext['prompts']>['describeReceived']>[0],
  'step' | 'model' | 'ms'
>;

function withNote(event: NodeEvent, prompt: PromptNote | undefined): NodeEvent {
  return prompt && 'statusUpdate' in event ? { ...event, prompt } : event;
}

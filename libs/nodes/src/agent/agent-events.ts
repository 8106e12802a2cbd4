import { CALL_QUESTION, questionMessage } from '#libs/durable';
import type { ModelUsage } from '#libs/models';
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
import type { NodeEvent } from '../node-executor.js';

/** Tool call requested by a model, as events and the log record it. */
export interface AskedCall {
  /** `server/tool`, or the name of a built-in tool. */
  tool: string;
  id: string;
  args: JsonObject;
  /** Text that the model sent instead of arguments that are a JSON object. */
  malformed?: string;
}

export interface ModelResponse {
  model: string;
  step: number;
  usage: ModelUsage;
  toolCalls?: AskedCall[];
  /** Peculiarity of the answer, as a part of a sentence about the model. */
  note?: string;
}

export interface ModelFailure {
  model: string;
  step: number;
  status?: number;
  message: string;
  /** Model that is asked next. */
  next?: string;
}

/** Result of a call: either `result` or `error`. */
export interface ToolOutcome {
  result?: JsonValue;
  error?: string;
  /** Text that the model reads in place of `error`, which names a credential. */
  errorForModel?: string;
  /** True if the result was truncated. */
  truncated?: true;
}

/**
 * Question about a call: whether to make it (`approval`), whether to repeat it (`repetition`), or the called agent's
 * own question (`agent`).
 */
export interface CallQuestion {
  about: 'approval' | 'repetition' | 'agent';
  call: string;
}

/** Task that an agent created for a call. */
export interface AgentTask {
  taskId: string;
  contextId: string;
}

/** Log record of the Task that an agent created for a call. */
export interface CalledNote extends AgentTask {
  /** Id of the call. */
  call: string;
  /** Agent as the config names it. */
  agent: string;
  /** State of the Task when the call ended or the agent asked; absent while the call runs. */
  state?: TaskState;
  /**
   * True if the call failed without a final state, so that the Task may still wait. No later call answers it; it is
   * canceled when the turn ends.
   */
  left?: true;
  /** Tokens that the agent has reported so far. */
  tokens?: number;
}

/** Outcome of canceling a called agent's Task. */
export interface CanceledTool {
  tool: string;
  id: string;
  taskId?: string;
  outcome: string;
}

/**
 * Key of data that a provider wants back with its answer. It is kept apart from the step, whose payload callers may
 * see.
 */
const KEPT_KEY = 'parley/kept';
/** Key of the ids of earlier Tasks whose Messages and answers the model was given. */
const REMEMBERED_KEY = 'parley/remembered';
/** Key of the record of a called agent's Task. */
const CALLED_KEY = 'parley/called';
/** Key of the text that a model reads in place of a call's error. */
const MODEL_ERROR_KEY = 'parley/model-error';

/** @param remembered ids of earlier Tasks, oldest first; absent if the log has them already, or none are used */
export function modelRequest(
  task: TaskReference,
  { model, step }: { model: string; step: number },
  remembered?: readonly string[],
): NodeEvent {
  return stepEvent(task, 'model.request', { model, step }, remembered && { [REMEMBERED_KEY]: [...remembered] });
}

export function modelResponse(task: TaskReference, response: ModelResponse, kept?: JsonValue): NodeEvent {
  const more = kept === undefined ? undefined : { [KEPT_KEY]: kept };
  return stepEvent(task, 'model.response', response as unknown as JsonObject, more);
}

/** @param note failure note for the run, if no other model is asked */
export function modelError(task: TaskReference, failure: ModelFailure, note?: FailureNote): NodeEvent {
  return stepEvent(task, 'model.error', failure as unknown as JsonObject, note && failureMetadata(note));
}

export function toolCall(task: TaskReference, { tool, id, args }: AskedCall, step: number): NodeEvent {
  return stepEvent(task, 'tool.call', { tool, id, args, step });
}

/** @param called final record of the called agent's Task, if the tool is an agent */
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

/** Returns the event that records a called agent's Task once it is known. */
export function agentCalled(task: TaskReference, { tool, id }: AskedCall, called: CalledNote): NodeEvent {
  const { agent, taskId, contextId } = called;
  return stepEvent(task, 'tool.called', { tool, id, agent, taskId, contextId }, { [CALLED_KEY]: { ...called } });
}

/** Returns an event with the progress of a called agent. */
export function agentProgress(task: TaskReference, { tool, id }: AskedCall, { payload }: RunEventNote): NodeEvent {
  return stepEvent(task, 'node.progress', { tool, call: id, ...payload });
}

/** Returns the event that records the cancel of a called agent's Task. */
export function toolCanceled(task: TaskReference, canceled: CanceledTool): NodeEvent {
  return stepEvent(task, 'tool.canceled', { ...canceled });
}

/**
 * Returns an event with a piece of the agent's answer.
 * @param how `metadata` is that of the Artifact
 */
export function answerPiece(
  task: TaskReference,
  node: string,
  parts: Part[],
  { metadata, ...how }: { append?: boolean; lastChunk?: boolean; metadata?: JsonObject },
): NodeEvent {
  return artifactUpdate(task, { artifactId: node, name: node, parts, ...(metadata && { metadata }) }, how);
}

/** Returns the event by which the Task waits for an answer about a call. */
export function callQuestion(task: TaskReference, question: CallQuestion, words: Part[]): NodeEvent {
  return statusUpdate(task, 'TASK_STATE_INPUT_REQUIRED', words, { [CALL_QUESTION]: { ...question } });
}

/**
 * Returns the event by which the Task waits for an answer to a called agent's question.
 * @param asked Message with the agent's question
 */
export function agentQuestion(task: TaskReference, called: CalledNote, words: Part[], asked?: Message): NodeEvent {
  const about: JsonObject = { about: 'agent', call: called.call };
  const metadata = { [CALL_QUESTION]: about, [CALLED_KEY]: { ...called } };
  const event = statusUpdate(task, called.state ?? 'TASK_STATE_INPUT_REQUIRED', undefined, metadata);
  event.statusUpdate.status.message = questionMessage(task, words, about, asked);
  return event;
}

/** Returns the record of a called agent's Task, if the event has one. */
export function calledOf(metadata: JsonObject | undefined): CalledNote | undefined {
  const called = metadata?.[CALLED_KEY];
  return isJsonObject(called) ? (called as unknown as CalledNote) : undefined;
}

/** Returns the text that a model reads in place of a call's error. */
export function errorForModelOf(metadata: JsonObject | undefined): string | undefined {
  const errorForModel = metadata?.[MODEL_ERROR_KEY];
  return typeof errorForModel === 'string' ? errorForModel : undefined;
}

/** Returns the data that a provider wants back with its answer. */
export function keptOf(metadata: JsonObject | undefined): JsonValue | undefined {
  return metadata?.[KEPT_KEY];
}

/** Returns the ids of the remembered Tasks in a `model.request`, oldest first; `undefined` if it has none. */
export function rememberedOf(metadata: JsonObject | undefined): string[] | undefined {
  const ids = metadata?.[REMEMBERED_KEY];
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : undefined;
}

export function questionOf(metadata: JsonObject | undefined): CallQuestion | undefined {
  const question = metadata?.[CALL_QUESTION];
  return isJsonObject(question) ? (question as unknown as CallQuestion) : undefined;
}

function stepEvent(task: TaskReference, type: string, payload: JsonObject, more?: JsonObject): NodeEvent {
  return statusUpdate(task, 'TASK_STATE_WORKING', undefined, { ...runEventMetadata({ type, payload }), ...more });
}

import { CALL_QUESTION, questionMessage } from '#libs/agent-calls';
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

/** What a model asks to have called, as events and the log say it. */
export interface AskedCall {
  /** `server/tool`, or the name of a built-in one. */
  tool: string;
  id: string;
  args: JsonObject;
  /** What the model said in place of arguments that are a JSON object. */
  malformed?: string;
}

export interface ModelResponse {
  model: string;
  step: number;
  usage: ModelUsage;
  toolCalls?: AskedCall[];
  /** Oddity of the answer, as a part of a sentence about the model. */
  note?: string;
}

export interface ModelFailure {
  model: string;
  step: number;
  status?: number;
  message: string;
  /** The model that is asked in its place. */
  next?: string;
}

/** What came of a call: either `result` or `error`. */
export interface ToolOutcome {
  result?: JsonValue;
  error?: string;
  /** Text that the model reads in place of `error`, which names a credential. */
  errorForModel?: string;
  /** There was more. */
  truncated?: true;
}

/** What somebody is asked about a call: whether it may be made, or made again; `agent`: what the called agent asks. */
export interface CallQuestion {
  about: 'approval' | 'repetition' | 'agent';
  call: string;
}

/** The Task that an agent made for a call. */
export interface AgentTask {
  taskId: string;
  contextId: string;
}

/** What the log says of the Task that an agent made for a call. */
export interface CalledNote extends AgentTask {
  /** The call's id. */
  call: string;
  /** The agent as the config names it. */
  agent: string;
  /** State of the Task when the call ended, or when the agent asked; absent while the call is under way. */
  state?: TaskState;
  /** True if the call failed without a word of the Task, which may still wait: no call answers it, the end cancels it. */
  left?: true;
  /** Tokens that the agent told of until then. */
  tokens?: number;
}

/** An outcome of the cancel of a called agent's Task. */
export interface CanceledTool {
  tool: string;
  id: string;
  taskId?: string;
  outcome: string;
}

/** What a provider wants back with its answer: beside the step, which tells callers what they may see. */
const KEPT_KEY = 'parley/kept';
/** The Tasks whose Messages and answers the model was told before this Task's own. */
const REMEMBERED_KEY = 'parley/remembered';
/** The Task that a called agent works with. */
const CALLED_KEY = 'parley/called';
/** Text that a model reads in place of the error of a call. */
const MODEL_ERROR_KEY = 'parley/model-error';

/** @param remembered ids of earlier Tasks, the oldest first; absent where the log names them already, or none is looked for */
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

/** @param note what the run is told where no other model is asked */
export function modelError(task: TaskReference, failure: ModelFailure, note?: FailureNote): NodeEvent {
  return stepEvent(task, 'model.error', failure as unknown as JsonObject, note && failureMetadata(note));
}

export function toolCall(task: TaskReference, { tool, id, args }: AskedCall, step: number): NodeEvent {
  return stepEvent(task, 'tool.call', { tool, id, args, step });
}

/** @param called the Task of an agent that was called, as it stands at the end of the call */
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

/** The Task of a called agent has come in sight. */
export function agentCalled(task: TaskReference, { tool, id }: AskedCall, called: CalledNote): NodeEvent {
  const { agent, taskId, contextId } = called;
  return stepEvent(task, 'tool.called', { tool, id, agent, taskId, contextId }, { [CALLED_KEY]: { ...called } });
}

/** What a called agent says and makes while it works. */
export function agentProgress(task: TaskReference, { tool, id }: AskedCall, { payload }: RunEventNote): NodeEvent {
  return stepEvent(task, 'node.progress', { tool, call: id, ...payload });
}

/** The Task of a called agent was canceled together with the caller's. */
export function toolCanceled(task: TaskReference, canceled: CanceledTool): NodeEvent {
  return stepEvent(task, 'tool.canceled', { ...canceled });
}

/**
 * Returns what the agent has made of its answer so far.
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

/** The Task waits for an answer about a call. */
export function callQuestion(task: TaskReference, question: CallQuestion, words: Part[]): NodeEvent {
  return statusUpdate(task, 'TASK_STATE_INPUT_REQUIRED', words, { [CALL_QUESTION]: { ...question } });
}

/**
 * The Task waits for an answer to what a called agent asks.
 * @param asked the Message by which the agent asks
 */
export function agentQuestion(task: TaskReference, called: CalledNote, words: Part[], asked?: Message): NodeEvent {
  const about: JsonObject = { about: 'agent', call: called.call };
  const metadata = { [CALL_QUESTION]: about, [CALLED_KEY]: { ...called } };
  const event = statusUpdate(task, called.state ?? 'TASK_STATE_INPUT_REQUIRED', undefined, metadata);
  event.statusUpdate.status.message = questionMessage(task, words, about, asked);
  return event;
}

/** Returns what an event says of a called agent's Task. */
export function calledOf(metadata: JsonObject | undefined): CalledNote | undefined {
  const called = metadata?.[CALLED_KEY];
  return isJsonObject(called) ? (called as unknown as CalledNote) : undefined;
}

/** Returns what a model reads in place of the error of a call. */
export function errorForModelOf(metadata: JsonObject | undefined): string | undefined {
  const errorForModel = metadata?.[MODEL_ERROR_KEY];
  return typeof errorForModel === 'string' ? errorForModel : undefined;
}

/** What the metadata of a status says beside the step. */
export function keptOf(metadata: JsonObject | undefined): JsonValue | undefined {
  return metadata?.[KEPT_KEY];
}

/** The Tasks that a `model.request` says are remembered, the oldest first; `undefined` where it says nothing of that. */
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

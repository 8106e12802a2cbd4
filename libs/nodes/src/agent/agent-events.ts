import type { ModelUsage } from '#libs/models';
import {
  artifactUpdate,
  failureMetadata,
  type FailureNote,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Part,
  runEventMetadata,
  statusUpdate,
  type TaskReference,
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
  /** There was more. */
  truncated?: true;
}

/** What somebody is asked about a call: whether it may be made, or made again. */
export interface CallQuestion {
  about: 'approval' | 'repetition';
  call: string;
}

/** What a provider wants back with its answer: beside the step, which tells callers what they may see. */
const KEPT_KEY = 'parley/kept';
/** The Tasks whose Messages and answers the model was told before this Task's own. */
const REMEMBERED_KEY = 'parley/remembered';
/** What the Task waits for. */
const QUESTION_KEY = 'parley/question';

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

export function toolResult(task: TaskReference, { tool, id }: AskedCall, outcome: ToolOutcome): NodeEvent {
  return stepEvent(task, 'tool.result', { tool, id, ...outcome });
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
  return statusUpdate(task, 'TASK_STATE_INPUT_REQUIRED', words, { [QUESTION_KEY]: { ...question } });
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
  const question = metadata?.[QUESTION_KEY];
  return isJsonObject(question) ? (question as unknown as CallQuestion) : undefined;
}

function stepEvent(task: TaskReference, type: string, payload: JsonObject, more?: JsonObject): NodeEvent {
  return statusUpdate(task, 'TASK_STATE_WORKING', undefined, { ...runEventMetadata({ type, payload }), ...more });
}

import type { CalledTask } from '#libs/a2a-client';
import { type CallFailure, type CallOutcome, statusTextOf } from '#libs/agent-calls';
import {
  type Artifact,
  failureNote,
  type FieldViolation,
  type FormQuestion,
  formQuestion,
  mergedTexts,
  type Part,
  type RunEventNote,
  type TaskState,
  redactedUrl,
} from '#libs/protocol';
import type { FailureKind } from './failure.js';
import { isFailureKind } from './failure-kinds.js';
import type { NodeInstance } from './node-run.js';
import type { WorkflowNode } from './workflow.js';

/** Outcome of a call to an agent, as its run takes it. */
export type ChildEnding =
  | { kind: 'completed'; status: string; artifacts: Artifact[] }
  // `refused`: the agent rejected an answer and still waits.
  | { kind: 'waiting'; status: string; question: Part[]; asks?: FormQuestion; refused?: FieldViolation[] }
  // The Task had continued when the answer to its question arrived.
  | { kind: 'moved-on'; status?: undefined }
  | FailedEnding;

export interface FailedEnding {
  kind: 'failed';
  /** State of the Task as a word; absent if the agent gave no answer. */
  status?: string;
  error: string;
  failure: FailureKind;
  /** Set if the agent may still work or wait, and its Task is to be canceled. */
  isLeft?: true;
  /** Milliseconds that the agent asks to wait before the next call. */
  retryAfter?: number;
}

/** Update of a node's call. */
export interface ChildUpdate {
  node: NodeInstance;
  /** The attempt this update belongs to. */
  attempt: number;
  url: string;
  taskId: string | undefined;
  contextId: string | undefined;
  /** Step that the agent reported. */
  step?: RunEventNote;
  ending?: ChildEnding;
}

/** Formats the state of a Task as a word: `completed`, `input-required`. */
export function formatState(state: TaskState): string {
  return state.slice('TASK_STATE_'.length).toLowerCase().replace('_', '-');
}

/**
 * Returns what the outcome of a call means for the node.
 * - Only COMPLETED or a direct Message is a success.
 * - A waiting Task makes the node wait.
 * - Any other end is an error of the node.
 */
export function readChildEnding(node: WorkflowNode, url: string, outcome: CallOutcome): ChildEnding {
  const { answer } = outcome;
  if (outcome.kind === 'completed') {
    const artifacts = node.type === 'agent' ? readWholeAnswer(answer) : readAnswerArtifacts(answer);
    const merged = artifacts.map((artifact) => ({ ...artifact, parts: mergedTexts(artifact.parts) }));
    return { kind: 'completed', status: 'completed', artifacts: putOutputFirst(node, merged) };
  }
  const status = answer.state && formatState(answer.state);
  if (outcome.kind === 'waiting') {
    const message = answer.status?.message;
    const asks = formQuestion(message);
    return { kind: 'waiting', status: status ?? '', question: message?.parts ?? [], ...(asks && { asks }) };
  }
  const { failure } = outcome;
  const { state } = failure;
  const { kind, retryAfter } = readFailureReason(node, failure, answer);
  return {
    kind: 'failed',
    ...(state !== undefined && { status: formatState(state) }),
    error:
      state === undefined
        ? formatCallError(node, url, failure.message)
        : formatEndError(node, url, state, statusTextOf(answer)),
    failure: kind,
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/** Returns the kind of a failure. The kind that a local agent names is used; that of a remote agent is not trusted. */
function readFailureReason(
  { type }: WorkflowNode,
  { kind, rateLimited, retryAfter }: CallFailure,
  { status }: CalledTask,
): { kind: FailureKind; retryAfter?: number | undefined } {
  const said = kind === 'failed' && type !== 'external' ? failureNote(status?.message?.metadata) : undefined;
  if (said && isFailureKind(said.kind)) return { ...said, kind: said.kind };
  return { kind: rateLimited ? 'rate-limited' : kind, retryAfter };
}

/** Formats the node's error for a call that failed without a Task state. */
function formatCallError(node: WorkflowNode, url: string, cause: string): string {
  return node.type === 'external' ? `external agent call to ${redactedUrl(url)}: ${cause}` : cause;
}

function formatEndError(node: WorkflowNode, url: string, state: TaskState, said: string): string {
  const word = formatState(state);
  if (node.type === 'external') return `external agent ${redactedUrl(url)} ${word}${said ? `: ${said}` : ''}`;
  const cause = said.replace(/^Error: /, '');
  if (word === 'failed') return cause || 'the node failed';
  return `the node was ${word}${cause ? `: ${cause}` : ''}`;
}

/** Replaces the Parts of an only Artifact by those of the last status: a model's answer may have come in pieces. */
function readWholeAnswer(answer: CalledTask): Artifact[] {
  const artifacts = readAnswerArtifacts(answer);
  const said = answer.status?.message?.parts ?? [];
  return artifacts.length === 1 && said.length > 0 ? artifacts.map((it) => ({ ...it, parts: said })) : artifacts;
}

/** Types whose Artifacts others have named: the first one is the output. */
const NAMED_BY_OTHERS = new Set(['external', 'script', 'workflow']);

/** Puts the Artifact with the node's id first: it is the output, even if the node made others before it. */
function putOutputFirst({ id, type }: WorkflowNode, artifacts: Artifact[]): Artifact[] {
  const own = NAMED_BY_OTHERS.has(type) ? undefined : artifacts.find(({ artifactId }) => artifactId === id);
  return own === undefined ? artifacts : [own, ...artifacts.filter((it) => it !== own)];
}

/** Returns a direct reply, or the Artifacts that are not empty. Without any, the last status Message is the output. */
function readAnswerArtifacts({ reply, status, artifacts: made }: CalledTask): Artifact[] {
  if (reply) return [{ artifactId: reply.messageId, parts: reply.parts }];
  const artifacts = made.filter(({ parts }) => parts.length > 0);
  const said = status?.message;
  if (artifacts.length > 0 || !said || said.parts.length === 0) return artifacts;
  return [{ artifactId: said.messageId, parts: said.parts }];
}

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
  type TaskState,
  shownUrl,
} from '#libs/protocol';
import type { FailureKind } from './failure.js';
import { isFailureKind } from './failure-kinds.js';
import type { WorkflowNode } from './workflow.js';

/** How a call to an agent came to its end. */
export type ChildEnding =
  | { kind: 'completed'; status: string; artifacts: Artifact[] }
  // `refused`: it has not taken an answer, and waits on.
  | { kind: 'waiting'; status: string; question: Part[]; asks?: FormQuestion; refused?: FieldViolation[] }
  // Its Task had gone on when the answer to what it asked came.
  | { kind: 'moved-on'; status?: undefined }
  | FailedEnding;

export interface FailedEnding {
  kind: 'failed';
  /** Absent where the agent gave no answer. */
  status?: string;
  error: string;
  failure: FailureKind;
  /** Present where the agent may be at work, or wait, and nobody reads on: its Task is to be canceled. */
  isLeft?: true;
  /** How many milliseconds the agent asks to wait before it is called again. */
  retryAfter?: number;
}

/** A Task state as a word: `completed`, `input-required`. */
export function stateWord(state: TaskState): string {
  return state.slice('TASK_STATE_'.length).toLowerCase().replace('_', '-');
}

/**
 * What a call's outcome means for the node: only COMPLETED or a direct Message is success, a waiting Task makes
 * the node wait, any other end is the node's error.
 */
export function childEnding(node: WorkflowNode, url: string, outcome: CallOutcome): ChildEnding {
  const { answer } = outcome;
  if (outcome.kind === 'completed') {
    const artifacts = node.type === 'agent' ? wholeAnswer(answer) : artifactsOf(answer);
    const merged = artifacts.map((artifact) => ({ ...artifact, parts: mergedTexts(artifact.parts) }));
    return { kind: 'completed', status: 'completed', artifacts: outputFirst(node, merged) };
  }
  const status = answer.state && stateWord(answer.state);
  if (outcome.kind === 'waiting') {
    const message = answer.status?.message;
    const asks = formQuestion(message);
    return { kind: 'waiting', status: status ?? '', question: message?.parts ?? [], ...(asks && { asks }) };
  }
  const { failure } = outcome;
  const { state } = failure;
  const { kind, retryAfter } = reasonOf(node, failure, answer);
  return {
    kind: 'failed',
    ...(state !== undefined && { status: stateWord(state) }),
    error:
      state === undefined ? callError(node, url, failure.message) : endError(node, url, state, statusTextOf(answer)),
    failure: kind,
    ...(retryAfter !== undefined && { retryAfter }),
  };
}

/** What an agent of our own says of the end of its Task counts; anybody else could say what they like. */
function reasonOf(
  { type }: WorkflowNode,
  { kind, rateLimited, retryAfter }: CallFailure,
  { status }: CalledTask,
): { kind: FailureKind; retryAfter?: number | undefined } {
  const said = kind === 'failed' && type !== 'external' ? failureNote(status?.message?.metadata) : undefined;
  if (said && isFailureKind(said.kind)) return { ...said, kind: said.kind };
  return { kind: rateLimited ? 'rate-limited' : kind, retryAfter };
}

/** The node's error where the call itself failed. */
function callError(node: WorkflowNode, url: string, cause: string): string {
  return node.type === 'external' ? `external agent call to ${shownUrl(url)}: ${cause}` : cause;
}

function endError(node: WorkflowNode, url: string, state: TaskState, said: string): string {
  const word = stateWord(state);
  if (node.type === 'external') return `external agent ${shownUrl(url)} ${word}${said ? `: ${said}` : ''}`;
  const cause = said.replace(/^Error: /, '');
  if (word === 'failed') return cause || 'the node failed';
  return `the node was ${word}${cause ? `: ${cause}` : ''}`;
}

/** A model's answer may have come in pieces; its last word has it whole. */
function wholeAnswer(answer: CalledTask): Artifact[] {
  const artifacts = artifactsOf(answer);
  const said = answer.status?.message?.parts ?? [];
  return artifacts.length === 1 && said.length > 0 ? artifacts.map((it) => ({ ...it, parts: said })) : artifacts;
}

/** Types whose Artifacts have the names that somebody else gave them: what is first is their output. */
const NAMED_BY_OTHERS = new Set(['external', 'script', 'workflow']);

/** What a node says and returns is the Artifact of its own name, also where it made others before it said anything. */
function outputFirst({ id, type }: WorkflowNode, artifacts: Artifact[]): Artifact[] {
  const own = NAMED_BY_OTHERS.has(type) ? undefined : artifacts.find(({ artifactId }) => artifactId === id);
  return own === undefined ? artifacts : [own, ...artifacts.filter((it) => it !== own)];
}

/** What an agent says, directly or at the end, is its output where it made no Artifact. */
function artifactsOf({ reply, status, artifacts: made }: CalledTask): Artifact[] {
  if (reply) return [{ artifactId: reply.messageId, parts: reply.parts }];
  const artifacts = made.filter(({ parts }) => parts.length > 0);
  const said = status?.message;
  if (artifacts.length > 0 || !said || said.parts.length === 0) return artifacts;
  return [{ artifactId: said.messageId, parts: said.parts }];
}

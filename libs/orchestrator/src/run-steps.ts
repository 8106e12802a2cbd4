import type { CallCancelOutcome } from '#libs/agent-calls';
import {
  type Artifact,
  type FieldViolation,
  type FormQuestion,
  type JsonObject,
  type Part,
  type RunEventNote,
  userMessage,
} from '#libs/protocol';
import {
  eachStarted,
  edgeError,
  loopEnded,
  loopNext,
  nodeResumed,
  nodeRetrying,
  nodeReused,
  nodeSkipped,
  nodeWaiting,
  runDeadline,
  runEnding,
  runNearlyFull,
  runParked,
} from './control-steps.js';
import type { WorkflowFailure } from './failure.js';
import type { CanceledChild, RunError } from './node-run.js';
import { instanceOf } from './progress.js';
import { NODE_KEY } from './run-answer.js';
import type { RunFacts } from './run-facts.js';
import { type Fold, type NodeFold, NodeStep, RunStep } from './run-step.js';

export const nodeStarted = new NodeStep<{ attempt: number }>('node.started', (node, { attempt }, at, run) => {
  node.attempts = attempt;
  node.startedAt = at;
  delete node.messageId;
  delete node.sentAt;
  delete node.taskId;
  delete node.contextId;
  run.progress.beginAttempt(node, at);
});

/** Payload of a call to an agent. */
export interface SendingPayload {
  url: string;
  messageId: string;
  /** Task of the agent whose question the Message answers. */
  taskId?: string;
  /** Set if the run answers with `parts` itself, because the deadline of the question has passed. */
  answeredBy?: 'deadline';
  parts?: Part[];
}

export const a2aSending = new NodeStep<SendingPayload>(
  'a2a.sending',
  (node, { url, messageId, taskId, answeredBy, parts = [] }, at, run) => {
    node.agentUrl = url;
    node.messageId = messageId;
    node.sentAt = at;
    run.progress.recordSent(node, at);
    delete node.resumes;
    const { question = [], wantsAuth = false } = node;
    delete node.question;
    delete node.wantsAuth;
    delete node.answer;
    delete node.answered;
    if (answeredBy !== undefined) node.answer = userMessage(parts, { messageId, metadata: { [NODE_KEY]: node.id } });
    if (taskId === undefined || answeredBy !== undefined || run.received === undefined) return;
    node.answer = run.received;
    node.answered = { question, wantsAuth };
    run.undelivered = false;
  },
);

/** Word for the state of a Task that waits for authentication. */
export const AUTH_REQUIRED = 'auth-required';

/**
 * Payload of an agent's response.
 * - `status`: state of the agent's Task as a word.
 * - `question`: present if the agent waits for an answer.
 * - `refused`: present if it has rejected the last answer and keeps waiting.
 */
export interface ReceivedPayload {
  url: string;
  status: string;
  message: string;
  taskId?: string;
  contextId?: string;
  question?: Part[];
  /** Form of the answer. */
  asks?: FormQuestion;
  refused?: FieldViolation[];
}

export const a2aReceived = new NodeStep<ReceivedPayload>('a2a.received', (node, payload, at, run) => {
  if (payload.taskId !== undefined) node.taskId = payload.taskId;
  if (payload.contextId !== undefined) node.contextId = payload.contextId;
  if (payload.question === undefined) return;
  node.question = payload.question;
  delete node.isAsked;
  // A question repeated because its answer was rejected keeps its original `askedAt`.
  if (node.askedAt === undefined || (payload.refused ?? payload.asks?.violations) === undefined) {
    node.askedAt = at;
    delete node.openSince;
  }
  if (payload.asks) node.asks = payload.asks;
  else delete node.asks;
  if (payload.refused) node.refused = payload.refused;
  else delete node.refused;
  node.wantsAuth = payload.status === AUTH_REQUIRED;
  run.progress.recordQuestion(node, at);
});

/** Edges that were taken at a node's end, if one of its edges has a condition. */
interface Taken {
  /** Taken edges as indexes in `edges`, of the edges that `RunState.choosableEdges` returns. */
  taken?: number[];
}

/**
 * Completion of a node. `artifacts` is absent if the event itself carries the node's only Artifact. `fallback`: no
 * attempt succeeded, and the result is the fallback of the definition.
 */
export const nodeCompleted = new NodeStep<{ status: string; artifacts?: Artifact[]; fallback?: true } & Taken>(
  'node.completed',
  (node, { artifacts, taken, fallback }, at, run) => {
    node.artifacts = artifacts ?? [];
    node.finishedAt = at;
    if (fallback) node.fallback = true;
    delete node.failure;
    run.progress.completeNode(node, taken);
  },
);

/**
 * Failure of a node. `error` is the cause; `message` describes it for the run. Logs from before failures had kinds lack
 * `failure`.
 */
export const nodeError = new NodeStep<{ error: string; message: string; failure?: WorkflowFailure } & Taken>(
  'node.error',
  (node, { error, message, failure, taken }, at, run) => {
    node.error = error;
    node.finishedAt = at;
    if (failure) node.failure = failure;
    run.progress.failNode(node, { node: node.id, ...instanceOf(node), ...failure, message }, taken);
  },
);

export const nodeCanceled = new NodeStep<{ url?: string; taskId?: string; outcome: CallCancelOutcome }>(
  'node.canceled',
  (node, { taskId, outcome }, at, run) => {
    node.finishedAt = at;
    node.cancelOutcome = outcome;
    if (taskId !== undefined) node.taskId = taskId;
    delete node.question;
    delete node.wantsAuth;
    run.progress.cancelNode(node);
  },
);

/** Question of the run. `state` is present if it asks for authentication. */
export const inputRequired = new NodeStep<{ question: string; taskId?: string; state?: typeof AUTH_REQUIRED }>(
  'input.required',
  (node, _payload, at, run) => {
    node.isAsked = true;
    if (node.openSince !== undefined) return;
    node.openSince = at;
    run.progress.openQuestion(node);
  },
);

/** Payload of a failed run. Logs from before failures had kinds lack `failure`. */
export interface FailedPayload {
  error: string;
  node?: string;
  failure?: WorkflowFailure;
}

export const workflowFailed = new RunStep<FailedPayload>('workflow.failed', (run, payload) => {
  run.error ??= runErrorOf(payload);
  run.failureReported = true;
});

/** Returns the error of a run from the payload of `workflow.failed`. */
export function runErrorOf({ error, node, failure }: FailedPayload): RunError {
  return { ...(node !== undefined && { node }), ...failure, message: error };
}

export const workflowCanceled = new RunStep<{ children: CanceledChild[] }>('workflow.canceled', (run, { children }) => {
  run.children = children;
});

export const done = new RunStep<{ status: string; state: JsonObject; error?: string }>('done', () => undefined);

const RUN_STEPS = new Map(
  [nodeSkipped, runNearlyFull, runParked, runDeadline, runEnding, workflowFailed, workflowCanceled, done].map(
    (step) => [step.type as string, step.fold as Fold<JsonObject>],
  ),
);
const NODE_STEPS = new Map(
  [
    nodeStarted,
    a2aSending,
    a2aReceived,
    nodeCompleted,
    nodeError,
    nodeCanceled,
    inputRequired,
    nodeResumed,
    nodeRetrying,
    nodeWaiting,
    nodeReused,
    edgeError,
    eachStarted,
    loopNext,
    loopEnded,
  ].map((step) => [step.type as string, step.fold as NodeFold<JsonObject>]),
);

/** Applies a step to a folded run. Steps without an effect (`model.*`, `tool.*`) and unknown ones are ignored. */
export function foldStep(run: RunFacts, note: RunEventNote, at: string): void {
  const node = note.node_id === undefined ? undefined : run.findInstance(note.instance ?? note.node_id);
  if (node === undefined) RUN_STEPS.get(note.type)?.(run, note.payload, at);
  else NODE_STEPS.get(note.type)?.(node, note.payload, at, run);
}

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
import type { Failure } from './failure.js';
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
  run.progress.begin(node, at);
});

/** What an agent is sent. */
export interface SendingPayload {
  url: string;
  messageId: string;
  /** Present when the Message answers what that Task of the agent asks. */
  taskId?: string;
  /** Nobody has answered in time: the run does, with these Parts. */
  answeredBy?: 'deadline';
  parts?: Part[];
}

export const a2aSending = new NodeStep<SendingPayload>(
  'a2a.sending',
  (node, { url, messageId, taskId, answeredBy, parts = [] }, at, run) => {
    node.agentUrl = url;
    node.messageId = messageId;
    node.sentAt = at;
    run.progress.send(node, at);
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

/** The state of a Task that goes on when its caller has authenticated, as a word. */
export const AUTH_REQUIRED = 'auth-required';

/**
 * `status` is the agent's Task state as a word; `question` is present when the agent waits for an answer, `refused` where
 * it waits on, since it has not taken the last one.
 */
export interface ReceivedPayload {
  url: string;
  status: string;
  message: string;
  taskId?: string;
  contextId?: string;
  question?: Part[];
  /** What the agent says of an answer beside that. */
  asks?: FormQuestion;
  refused?: FieldViolation[];
}

export const a2aReceived = new NodeStep<ReceivedPayload>('a2a.received', (node, payload, at, run) => {
  if (payload.taskId !== undefined) node.taskId = payload.taskId;
  if (payload.contextId !== undefined) node.contextId = payload.contextId;
  if (payload.question === undefined) return;
  node.question = payload.question;
  delete node.isAsked;
  // One that is asked again because of its answer is the same question.
  if (node.askedAt === undefined || (payload.refused ?? payload.asks?.violations) === undefined) {
    node.askedAt = at;
    delete node.openSince;
  }
  if (payload.asks) node.asks = payload.asks;
  else delete node.asks;
  if (payload.refused) node.refused = payload.refused;
  else delete node.refused;
  node.wantsAuth = payload.status === AUTH_REQUIRED;
  run.progress.ask(node, at);
});

/** What the end of a node says of the edges from it, where one of them has a condition. */
interface Taken {
  /** Those that are taken, as places in `edges`: of the edges that `RunState.choices` gives. */
  taken?: number[];
}

/**
 * `artifacts` is absent where the event itself carries the node's one Artifact. `fallback`: no attempt succeeded, and they
 * are what the definition gives for that.
 */
export const nodeCompleted = new NodeStep<{ status: string; artifacts?: Artifact[]; fallback?: true } & Taken>(
  'node.completed',
  (node, { artifacts, taken, fallback }, at, run) => {
    node.artifacts = artifacts ?? [];
    node.finishedAt = at;
    if (fallback) node.fallback = true;
    delete node.failure;
    run.progress.complete(node, taken);
  },
);

/**
 * `error` is the cause; `message` is what the run says of it when it is the first failure. Logs from before failures had
 * kinds lack `failure`.
 */
export const nodeError = new NodeStep<{ error: string; message: string; failure?: Failure } & Taken>(
  'node.error',
  (node, { error, message, failure, taken }, at, run) => {
    node.error = error;
    node.finishedAt = at;
    if (failure) node.failure = failure;
    run.progress.fail(node, { node: node.id, ...instanceOf(node), ...failure, message }, taken);
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
    run.progress.cancel(node);
  },
);

/** `state` is present where authentication is asked for. */
export const inputRequired = new NodeStep<{ question: string; taskId?: string; state?: typeof AUTH_REQUIRED }>(
  'input.required',
  (node, _payload, at, run) => {
    node.isAsked = true;
    if (node.openSince !== undefined) return;
    node.openSince = at;
    run.progress.open(node);
  },
);

/** Logs from before failures had kinds lack `failure`. */
export interface FailedPayload {
  error: string;
  node?: string;
  failure?: Failure;
}

export const workflowFailed = new RunStep<FailedPayload>('workflow.failed', (run, payload) => {
  run.error ??= runErrorOf(payload);
  run.failureReported = true;
});

/** What `workflow.failed` says of the run. */
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

/** Does to a run what a step's event says. Steps that change nothing (`model.*`, `tool.*`) and unknown ones pass. */
export function foldStep(run: RunFacts, note: RunEventNote, at: string): void {
  const node = note.node_id === undefined ? undefined : run.find(note.instance ?? note.node_id);
  if (node === undefined) RUN_STEPS.get(note.type)?.(run, note.payload, at);
  else NODE_STEPS.get(note.type)?.(node, note.payload, at, run);
}

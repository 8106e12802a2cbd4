import {
  type Artifact,
  type CallCancelOutcome,
  type FieldViolation,
  type FormQuestion,
  type JsonObject,
  type JsonValue,
  type Part,
  type RunEventNote,
  userMessage,
} from '#libs/protocol';
import type { WorkflowFailure } from '#libs/workflow-definition';
import type { LeftOutPayload } from '../messages/node-message.js';
import type { EndingOutcome } from './frontier.js';
import type { CanceledChild, LoopReason, NodeInstance, RunError, SkipReason } from './node-instance.js';
import { isForwardedStep, type RunEventType } from './run-metadata.js';
import { instanceOf, type RunFacts } from './run-progress.js';
import { NODE_KEY } from './run-questions.js';

type Fold<P> = (run: RunFacts, payload: P, at: string) => void;
type NodeFold<P> = (node: NodeInstance, payload: P, at: string, run: RunFacts) => void;

/** A kind of step of the whole run: its event, and the effect of that event on the state of a run. */
class RunStep<P extends object> {
  constructor(
    readonly type: RunEventType,
    readonly fold: Fold<P>,
  ) {}

  createNote(payload: P): RunEventNote {
    return { type: this.type, payload: { ...payload } as unknown as JsonObject };
  }
}

/** A kind of step of one node: its event, and the effect of that event on the state of a run. */
export class NodeStep<P extends object> {
  constructor(
    readonly type: RunEventType,
    readonly fold: NodeFold<P>,
  ) {}

  createNote(node: { id: string; type: string; instance?: string }, payload: P): RunEventNote {
    return {
      type: this.type,
      node_id: node.id,
      node_type: node.type,
      ...(node.instance !== undefined && node.instance !== node.id && { instance: node.instance }),
      payload: { ...payload } as unknown as JsonObject,
    };
  }
}

/**
 * Event that lists skipped instances, for readers of the log. It does not change the state of the run, in which earlier
 * events have already skipped these instances.
 */
export const nodeSkipped = new RunStep<{ instances: string[]; because: SkipReason }>(
  'node.skipped',
  (run, { instances }) => run.progress.markReported(instances),
);

/** Failure of an attempt that is retried at `retryAt` (ISO 8601). `attempt` is the number of the failed attempt. */
export const nodeRetrying = new NodeStep<{ attempt: number; failure: WorkflowFailure; retryAt: string }>(
  'node.retrying',
  (node, { failure, retryAt }, _at, run) => {
    node.failure = failure;
    run.progress.waitUntil(node, { state: 'retry', until: retryAt });
  },
);

/** Resumption of a node whose Task no longer waits for an answer of the run: the agent works again. */
export const nodeResumed = new NodeStep<{ taskId?: string }>('node.resumed', (node, _payload, at, run) => {
  node.sentAt = at;
  node.resumes = (node.resumes ?? 0) + 1;
  run.progress.recordSent(node, at);
  delete node.question;
  delete node.wantsAuth;
  delete node.answer;
});

/** Start of the wait of a `wait` node, which ends at `until` (ISO 8601). */
export const nodeWaiting = new NodeStep<{ until: string }>('node.waiting', (node, { until }, _at, run) => {
  run.progress.waitUntil(node, { state: 'timer', until });
});

/**
 * Result that a rerun reuses from the run `origin`; the node is not run. The other members of the payload are as in
 * `node.completed`.
 */
export const nodeReused = new NodeStep<{ origin: string; artifacts?: Artifact[]; taken?: number[]; fallback?: true }>(
  'node.reused',
  (node, { origin, artifacts, taken, fallback }, at, run) => {
    node.origin = origin;
    node.artifacts = artifacts ?? [];
    node.finishedAt = at;
    if (fallback) node.fallback = true;
    run.progress.completeNode(node, taken);
  },
);

/** Failed evaluation of an edge's condition. `edge` is the index in `edges`. The failure of the source node follows. */
export const edgeError = new NodeStep<{ edge: number; failure: WorkflowFailure }>('edge.error', () => undefined);

/** Evaluated list of a node with `each`; its first entries start. */
export const eachStarted = new NodeStep<{ items: JsonValue[] }>('each.started', (node, { items }, _at, run) => {
  run.progress.startItems(node, items);
});

/** Loop that an event belongs to. */
interface LoopReference {
  /** Index of the back-edge in `edges`. */
  edge: number;
  /** Iterations of the enclosing loops, outermost first; absent if there are none. */
  path?: number[];
}

/**
 * Start of a loop's next iteration, from the second on, not before `at` (ISO 8601). It is recorded for the last node of
 * the loop.
 */
export const loopNext = new NodeStep<LoopReference & { iteration: number; at?: string }>(
  'loop.next',
  (_node, { edge, path = [], iteration, at }, _at, run) => run.progress.startIteration({ edge, path }, iteration, at),
);

/**
 * End of a loop.
 * - `taken`: indexes of the taken edges out of the loop, among those that need a decision.
 * - `failure`: set if the loop itself fails, rather than one of its nodes. The last node of the loop then has that
 *   failure.
 */
export const loopEnded = new NodeStep<
  LoopReference & { reason: LoopReason; iterations: number; taken?: number[]; failure?: WorkflowFailure }
>('loop.ended', (_node, { edge, path = [], reason, taken, failure }, at, run) => {
  run.progress.endLoop({ edge, path }, { reason, at, ...(taken && { taken }), ...(failure && { failure }) });
});

/**
 * Event for Parts of other nodes' results that were not passed on to the node: they were left out, or replaced by a
 * line of text.
 */
export const partsLeftOut = new NodeStep<LeftOutPayload>('parts.left-out', () => undefined);

/**
 * Removal of a result, because the last iteration of a loop skipped a result node. The event carries an empty text as
 * Artifact, which replaces the result of an earlier iteration.
 */
export const resultEmptied = new NodeStep<object>('result.emptied', () => undefined);

/**
 * Release of the run by its process, because only timers and questions are left. `until` is the time at which the run
 * resumes (ISO 8601); absent if it waits only for an answer.
 */
export const runParked = new RunStep<{ until?: string }>('run.parked', () => undefined);

/**
 * Warning that the log of the run has passed three quarters of TASK_LIMIT; at the limit the run fails. `bytes` and
 * `limit` are in bytes. It is recorded once in a run.
 */
export const runNearlyFull = new RunStep<{ bytes: number; limit: number; message: string }>(
  'run.nearly-full',
  (run) => {
    run.isNearlyFull = true;
  },
);

/** Creates the warning that the log of the run is nearly full. */
export function createNearlyFullNote({ bytes, limit }: { bytes: number; limit: number }): RunEventNote {
  const message = `The log of the run has ${bytes} of at most ${limit} bytes (TASK_LIMIT); at the limit the run fails.`;
  return runNearlyFull.createNote({ bytes, limit, message });
}

/** Event for the end of a run whose deadline has passed. `at` is that deadline (ISO 8601). */
export const runDeadline = new RunStep<{ at: string; failure: WorkflowFailure }>('run.deadline', (run, { failure }) => {
  run.progress.expireRun(failure);
});

/** Final outcome of the run. The `onExit` nodes for this outcome run after this event. */
export const runEnding = new RunStep<{ outcome: EndingOutcome }>('run.ending', (run, { outcome }, at) => {
  run.progress.beginEnding(outcome, at);
});

/** Start of an attempt of a node. */
export const nodeStarted = new NodeStep<{ attempt: number }>('node.started', (node, { attempt }, at, run) => {
  node.attempts = attempt;
  node.startedAt = at;
  delete node.messageId;
  delete node.sentAt;
  delete node.taskId;
  delete node.contextId;
  delete node.forwarded;
  run.progress.beginAttempt(node, at);
});

/** Payload of `a2a.sending`: a Message to the agent of a node. */
export interface SendingPayload {
  url: string;
  messageId: string;
  /** Task whose question the Message answers; absent for a Message that begins a Task. */
  taskId?: string;
  /** Set if the run itself answers with `parts`, because the deadline of the question has passed. */
  answeredBy?: 'deadline';
  parts?: Part[];
}

/** Record of a Message to the agent of a node, written before the Message is sent. */
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
    const forwardsAnswer = taskId !== undefined && answeredBy === undefined;
    if (!forwardsAnswer || run.received === undefined) return;
    node.answer = run.received;
    node.answered = { question, wantsAuth };
    run.undelivered = false;
  },
);

/** State of a Task that waits for authentication, as a word. */
export const AUTH_REQUIRED = 'auth-required';

/**
 * Payload of `a2a.received`: a response of a node's agent.
 * - `status`: state of the agent's Task as a word.
 * - `question`: present if the agent waits for an answer.
 * - `refused`: present if the agent has rejected the last answer and keeps waiting.
 */
export interface ReceivedPayload {
  url: string;
  status: string;
  message: string;
  taskId?: string;
  contextId?: string;
  question?: Part[];
  /** Form that the answer must fit; absent if any answer does. */
  asks?: FormQuestion;
  refused?: FieldViolation[];
}

/** Response of a node's agent. */
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

/** Edges that are taken at the end of a node; present only if any edge of the node needs a decision. */
interface Taken {
  /** Indexes in `edges` of the taken edges, among those that `RunState.choosableEdges` returns. */
  taken?: number[];
}

/**
 * Completion of a node.
 * - `artifacts`: absent if the event itself carries the only Artifact of the node.
 * - `fallback`: no attempt succeeded, and the result is the `fallback` of the definition.
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
 * Failure of a node. `error` is the cause; `message` describes it for the run. `failure` is absent in logs of older
 * versions, in which failures had no kinds.
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

/** Cancel of a node. `outcome` is the outcome of the cancel at the node's agent. */
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

/** Question of a node that the run itself asks its caller. `state` is present if it asks for authentication. */
export const inputRequired = new NodeStep<{ question: string; taskId?: string; state?: typeof AUTH_REQUIRED }>(
  'input.required',
  (node, _payload, at, run) => {
    node.isAsked = true;
    if (node.openSince !== undefined) return;
    node.openSince = at;
    run.progress.openQuestion(node);
  },
);

/** Payload of `workflow.failed`. `failure` is absent in logs of older versions, in which failures had no kinds. */
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

/** End of a canceled run. `reason` is set if the run itself ends so, because no slot is free (`onFull: skip`). */
export const workflowCanceled = new RunStep<{ children: CanceledChild[]; reason?: string }>(
  'workflow.canceled',
  (run, { children }) => {
    run.children = children;
  },
);

/** End of the run, with its state map. */
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

/**
 * Applies a step that happened at `at` (ISO 8601) to the state of a run. Steps of the node's own Task (`model.*`,
 * `tool.*`) are only counted, and unknown steps are ignored.
 */
export function foldStep(run: RunFacts, note: RunEventNote, at: string): void {
  const node = note.node_id === undefined ? undefined : run.findInstance(note.instance ?? note.node_id);
  if (node === undefined) RUN_STEPS.get(note.type)?.(run, note.payload, at);
  else if (isForwardedStep(note)) node.forwarded = (node.forwarded ?? 0) + 1;
  else NODE_STEPS.get(note.type)?.(node, note.payload, at, run);
}

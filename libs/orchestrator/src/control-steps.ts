import type { Artifact, JsonValue, RunEventNote } from '#libs/protocol';
import type { WorkflowFailure } from './failure.js';
import type { LoopReason } from './loop-run.js';
import type { SkipReason } from './node-run.js';
import type { LeftOutPayload } from './passed-content.js';
import type { EndingOutcome } from './plan.js';
import { NodeStep, RunStep } from './run-step.js';

/** Report of skipped instances to readers of the log. The fold itself has skipped them before. */
export const nodeSkipped = new RunStep<{ instances: string[]; because: SkipReason }>(
  'node.skipped',
  (run, { instances }) => run.progress.markReported(instances),
);

/** Failure of an attempt after which there is another one at `retryAt` (ISO 8601). `attempt` is the one that failed. */
export const nodeRetrying = new NodeStep<{ attempt: number; failure: WorkflowFailure; retryAt: string }>(
  'node.retrying',
  (node, { failure, retryAt }, _at, run) => {
    node.failure = failure;
    run.progress.waitUntil(node, { state: 'retry', until: retryAt });
  },
);

/** Resumption of a node whose Task no longer waits for an answer from the run: its agent works again. */
export const nodeResumed = new NodeStep<{ taskId?: string }>('node.resumed', (node, _payload, at, run) => {
  node.sentAt = at;
  node.resumes = (node.resumes ?? 0) + 1;
  run.progress.recordSent(node, at);
  delete node.question;
  delete node.wantsAuth;
  delete node.answer;
});

/** Start of the pause of a `waitUntil` node. */
export const nodeWaiting = new NodeStep<{ until: string }>('node.waiting', (node, { until }, _at, run) => {
  run.progress.waitUntil(node, { state: 'timer', until });
});

/** Result reused from the run `origin`; the node is not run. The rest of the payload is as in `node.completed`. */
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

/** Condition of an edge that cannot be evaluated; `edge` is its index in `edges`. The failure of its source follows. */
export const edgeError = new NodeStep<{ edge: number; failure: WorkflowFailure }>('edge.error', () => undefined);

/** List that a node iterates over. */
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

/** Next iteration of a loop, from the second on; not before `at` (ISO 8601). Recorded for the loop's last node. */
export const loopNext = new NodeStep<LoopReference & { iteration: number; at?: string }>(
  'loop.next',
  (_node, { edge, path = [], iteration, at }, _at, run) => run.progress.startIteration({ edge, path }, iteration, at),
);

/**
 * End of a loop. `taken` lists the edges out of it that were taken, among those that need a decision. `failure` is set
 * if the loop fails itself rather than one of its nodes; its last node then has that failure.
 */
export const loopEnded = new NodeStep<
  LoopReference & { reason: LoopReason; iterations: number; taken?: number[]; failure?: WorkflowFailure }
>('loop.ended', (_node, { edge, path = [], reason, taken, failure }, at, run) => {
  run.progress.endLoop({ edge, path }, { reason, at, ...(taken && { taken }), ...(failure && { failure }) });
});

/** Parts of other nodes' answers that did not reach the node. Each is replaced by a line of text, or by nothing. */
export const partsLeftOut = new NodeStep<LeftOutPayload>('parts.left-out', () => undefined);

/**
 * Removal of a result: the last iteration of a loop skipped a result node. The Artifact of the event, an empty text,
 * replaces the result of an earlier iteration.
 */
export const resultEmptied = new NodeStep<object>('result.emptied', () => undefined);

/**
 * Release of the run by its process: only timers and questions are left. `until` is the time at which the run resumes
 * (ISO 8601); absent if it only waits for an answer.
 */
export const runParked = new RunStep<{ until?: string }>('run.parked', () => undefined);

/**
 * Warning that the log of the run has passed three quarters of TASK_LIMIT, at which the run fails. Sizes are in bytes.
 * Recorded once in a run.
 */
export const runNearlyFull = new RunStep<{ bytes: number; limit: number; message: string }>(
  'run.nearly-full',
  (run) => {
    run.isNearlyFull = true;
  },
);

/** Creates the warning that the log of the run is nearly full. */
export function createNearlyFullNote({ bytes, limit }: { bytes: number; limit: number }): RunEventNote {
  const message = `The log of the run has ${bytes} of at most ${limit} bytes (TASK_LIMIT): there the run fails.`;
  return runNearlyFull.createNote({ bytes, limit, message });
}

/** Expiry of the run's deadline, which was `at` (ISO 8601). */
export const runDeadline = new RunStep<{ at: string; failure: WorkflowFailure }>('run.deadline', (run, { failure }) => {
  run.progress.expireRun(failure);
});

/** Outcome of the run, which is final. The `onExit` nodes for this outcome run from here on. */
export const runEnding = new RunStep<{ outcome: EndingOutcome }>('run.ending', (run, { outcome }, at) => {
  run.progress.beginEnding(outcome, at);
});

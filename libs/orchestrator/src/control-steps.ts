import type { Artifact, JsonValue, RunEventNote } from '#libs/protocol';
import type { Failure } from './failure.js';
import type { LoopReason } from './loop-run.js';
import type { SkipReason } from './node-run.js';
import type { LeftOutPayload } from './passed-content.js';
import type { EndingOutcome } from './plan.js';
import { NodeStep, RunStep } from './run-step.js';

/** What folding has skipped, for those who read: instances that never ran. It changes nothing. */
export const nodeSkipped = new RunStep<{ instances: string[]; because: SkipReason }>(
  'node.skipped',
  (run, { instances }) => run.progress.reported(instances),
);

/** An attempt has failed, and there is another one at `retryAt` (ISO 8601). `attempt` is the one that failed. */
export const nodeRetrying = new NodeStep<{ attempt: number; failure: Failure; retryAt: string }>(
  'node.retrying',
  (node, { failure, retryAt }, _at, run) => {
    node.failure = failure;
    run.progress.wait(node, { state: 'retry', until: retryAt });
  },
);

/** What its Task asked is answered there, or asked no more: the agent is at work without the run. */
export const nodeResumed = new NodeStep<{ taskId?: string }>('node.resumed', (node, _payload, at, run) => {
  node.sentAt = at;
  node.resumes = (node.resumes ?? 0) + 1;
  run.progress.send(node, at);
  delete node.question;
  delete node.wantsAuth;
  delete node.answer;
});

/** A `wait` node has begun to wait. */
export const nodeWaiting = new NodeStep<{ until: string }>('node.waiting', (node, { until }, _at, run) => {
  run.progress.wait(node, { state: 'timer', until });
});

/** A result that another run had: the node is not run. `origin` is that run; the rest as of `node.completed`. */
export const nodeReused = new NodeStep<{ origin: string; artifacts?: Artifact[]; taken?: number[]; fallback?: true }>(
  'node.reused',
  (node, { origin, artifacts, taken, fallback }, at, run) => {
    node.origin = origin;
    node.artifacts = artifacts ?? [];
    node.finishedAt = at;
    if (fallback) node.fallback = true;
    run.progress.complete(node, taken);
  },
);

/** The condition of an edge could not be decided; `edge` is its place in `edges`. The failure of its source follows. */
export const edgeError = new NodeStep<{ edge: number; failure: Failure }>('edge.error', () => undefined);

/** The list that a node goes through. */
export const eachStarted = new NodeStep<{ items: JsonValue[] }>('each.started', (node, { items }, _at, run) => {
  run.progress.startItems(node, items);
});

/** Which loop of a run an event is of. */
interface LoopPlace {
  /** The back-edge's place in `edges`. */
  edge: number;
  /** The iterations of the loops around it, outermost first; absent where there are none. */
  path?: number[];
}

/** A loop goes on with this iteration, from the second one on; not before `at` (ISO 8601). Told by the loop's last node. */
export const loopNext = new NodeStep<LoopPlace & { iteration: number; at?: string }>(
  'loop.next',
  (_node, { edge, path = [], iteration, at }, _at, run) => run.progress.iterate({ edge, path }, iteration, at),
);

/**
 * A loop has ended. `taken` are the edges out of it that were taken, of those for which something had to be decided;
 * `failure` is there where it fails by itself and not by a node: it is then the failure of its last node.
 */
export const loopEnded = new NodeStep<
  LoopPlace & { reason: LoopReason; iterations: number; taken?: number[]; failure?: Failure }
>('loop.ended', (_node, { edge, path = [], reason, taken, failure }, at, run) => {
  run.progress.endLoop({ edge, path }, { reason, at, ...(taken && { taken }), ...(failure && { failure }) });
});

/** Parts of what other nodes have answered did not reach the node: a line about each stands for them, or nothing does. */
export const partsLeftOut = new NodeStep<LeftOutPayload>('parts.left-out', () => undefined);

/**
 * The last iteration of a loop left a result node out: the event's Artifact, an empty text, takes the place of what an
 * earlier iteration made.
 */
export const resultEmptied = new NodeStep<object>('result.emptied', () => undefined);

/** Nothing is left but times and questions, and the process gives the run up until then (ISO 8601; absent: an answer). */
export const runParked = new RunStep<{ until?: string }>('run.parked', () => undefined);

/**
 * The log of the run has passed three quarters of TASK_LIMIT: at the limit the run fails. Sizes are in bytes. Recorded once
 * in a run.
 */
export const runNearlyFull = new RunStep<{ bytes: number; limit: number; message: string }>(
  'run.nearly-full',
  (run) => {
    run.isNearlyFull = true;
  },
);

/** Says that the log of the run is nearly full. */
export function nearlyFullNote({ bytes, limit }: { bytes: number; limit: number }): RunEventNote {
  const message = `The log of the run has ${bytes} of at most ${limit} bytes (TASK_LIMIT): there the run fails.`;
  return runNearlyFull.note({ bytes, limit, message });
}

/** The run's time is over. `at` is when it was (ISO 8601). */
export const runDeadline = new RunStep<{ at: string; failure: Failure }>('run.deadline', (run, { failure }) => {
  run.progress.expire(failure);
});

/** How the run ends is known, and does not change any more; the nodes of `onExit` that want to know run now. */
export const runEnding = new RunStep<{ outcome: EndingOutcome }>('run.ending', (run, { outcome }, at) => {
  run.progress.beginEnding(outcome, at);
});

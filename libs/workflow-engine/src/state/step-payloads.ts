import type {
  a2aReceived,
  a2aSending,
  done,
  eachStarted,
  edgeError,
  inputRequired,
  loopEnded,
  loopNext,
  nodeCanceled,
  nodeCompleted,
  nodeError,
  nodeResumed,
  nodeRetrying,
  nodeReused,
  nodeSkipped,
  nodeStarted,
  NodeStep,
  nodeWaiting,
  partsLeftOut,
  runDeadline,
  runEnding,
  runNearlyFull,
  runParked,
  workflowCanceled,
  workflowFailed,
} from './run-steps.js';

/** Payload of a kind of step: of a node, or of the whole run. */
type PayloadOf<S> = S extends NodeStep<infer P> ? P : S extends { createNote(payload: infer P): unknown } ? P : never;

/**
 * Payloads of the steps that the engine records, by the types of their events. The typed client declares the same
 * payloads.
 */
export interface StepPayloads {
  'a2a.received': PayloadOf<typeof a2aReceived>;
  'a2a.sending': PayloadOf<typeof a2aSending>;
  'each.started': PayloadOf<typeof eachStarted>;
  'edge.error': PayloadOf<typeof edgeError>;
  'input.required': PayloadOf<typeof inputRequired>;
  'loop.ended': PayloadOf<typeof loopEnded>;
  'loop.next': PayloadOf<typeof loopNext>;
  'node.canceled': PayloadOf<typeof nodeCanceled>;
  'node.completed': PayloadOf<typeof nodeCompleted>;
  'node.error': PayloadOf<typeof nodeError>;
  'node.resumed': PayloadOf<typeof nodeResumed>;
  'node.retrying': PayloadOf<typeof nodeRetrying>;
  'node.reused': PayloadOf<typeof nodeReused>;
  'node.skipped': PayloadOf<typeof nodeSkipped>;
  'node.started': PayloadOf<typeof nodeStarted>;
  'node.waiting': PayloadOf<typeof nodeWaiting>;
  'parts.left-out': PayloadOf<typeof partsLeftOut>;
  'run.deadline': PayloadOf<typeof runDeadline>;
  'run.ending': PayloadOf<typeof runEnding>;
  'run.nearly-full': PayloadOf<typeof runNearlyFull>;
  'run.parked': PayloadOf<typeof runParked>;
  'workflow.canceled': PayloadOf<typeof workflowCanceled>;
  'workflow.failed': PayloadOf<typeof workflowFailed>;
  done: PayloadOf<typeof done>;
}

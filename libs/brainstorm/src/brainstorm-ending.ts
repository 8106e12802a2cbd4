import {
  agentMessage,
  artifactUpdate,
  dataPart,
  type JsonObject,
  type RunEventNote,
  runEventMetadata,
  statusUpdate,
  type TaskReference,
  type TaskState,
  textPart,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { BrainstormProgress } from './brainstorm-progress.js';
import { brainstormNote, type StoppedAgent } from './brainstorm-steps.js';
import { stateJson } from './core/canonical-state.js';
import { convergenceOf } from './core/convergence.js';
import { mergePass } from './core/merge-pass.js';

/**
 * Metadata key in the status Message of a Task that awaits input: the status of the brainstorm, `converged` or
 * `failed`.
 */
export const AWAITED_STATUS_KEY = 'parley/brainstorm-status';

/**
 * Form in which a brainstorm's result appears in its Task. Brainstorms of the management API and of workflow nodes have
 * different forms.
 */
export interface BrainstormEnding {
  /** Id and name of the Artifact that has the state. */
  artifactId: string;
  /**
   * Task state of a converged brainstorm. With a waiting state a caller can continue the brainstorm; otherwise it has
   * ended.
   */
  converged: TaskState;
  failed: TaskState;
}

/**
 * Returns the event that ends a pass: the merged state as the Task's Artifact, whose metadata has the sources of its
 * parts (provenance).
 */
export function mergedEvent(reference: TaskReference, progress: BrainstormProgress, artifactId: string): TaskEvent {
  const { pass, history, provenance, state: before, spec } = progress;
  const iteration = pass?.iteration ?? history.length;
  const outputs = (pass?.agents ?? []).flatMap(({ agent, role, state }) =>
    state === undefined ? [] : [{ source: { agent, role, iteration }, state }],
  );
  const merged = mergePass({ iteration, history, provenance, outputs });
  const convergence = convergenceOf(before, merged.state, spec.maxIterations);
  const { confidence } = merged.state.metrics;
  const note = brainstormNote('iteration.completed', {
    iteration,
    confidence,
    provenance: merged.provenance,
    verdict: convergence,
  });
  const parts = [dataPart(stateJson(merged.state)), textPart(convergence.sentence)];
  const metadata = runEventMetadata({ ...note, timestamp: new Date().toISOString() });
  return artifactUpdate(reference, { artifactId, name: artifactId, parts }, { lastChunk: true, metadata });
}

export function convergedEvent(
  reference: TaskReference,
  progress: BrainstormProgress,
  ending: BrainstormEnding,
): TaskEvent {
  const convergence = progress.verdict?.sentence ?? '';
  const note = brainstormNote('brainstorm.converged', { iteration: progress.state.meta.iteration, convergence });
  return awaitInputEvent(reference, ending.converged, convergence, note, { [AWAITED_STATUS_KEY]: 'converged' });
}

export function failedEvent(
  reference: TaskReference,
  progress: BrainstormProgress,
  ending: BrainstormEnding,
): TaskEvent {
  const { agent = '', message = '' } = progress.failure ?? {};
  const iteration = progress.pass?.iteration ?? progress.state.meta.iteration;
  const note = brainstormNote('brainstorm.failed', { iteration, agent, error: message });
  const text = `Error: agent "${agent}": ${message}`;
  return awaitInputEvent(reference, ending.failed, text, note, { [AWAITED_STATUS_KEY]: 'failed' });
}

export function approvedEvent(reference: TaskReference, progress: BrainstormProgress): TaskEvent {
  const { iteration } = progress.state.meta;
  const note = brainstormNote('brainstorm.approved', { iteration });
  return statusUpdate(
    reference,
    'TASK_STATE_COMPLETED',
    `Approved after iteration ${iteration}.`,
    runEventMetadata(note),
  );
}

export function canceledEvent(reference: TaskReference, agents: StoppedAgent[]): TaskEvent {
  const note = brainstormNote('brainstorm.canceled', { agents });
  return statusUpdate(reference, 'TASK_STATE_CANCELED', undefined, runEventMetadata(note));
}

function awaitInputEvent(
  reference: TaskReference,
  state: TaskState,
  text: string,
  note: RunEventNote,
  metadata: JsonObject,
): TaskEvent {
  const event = statusUpdate(reference, state, undefined, runEventMetadata(note));
  event.statusUpdate.status.message = agentMessage(reference, [textPart(text)], metadata);
  return event;
}

import { type RunEventNote, runEventNote } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { nodeReused } from './control-steps.js';
import { RunState } from './run-state.js';
import { a2aSending, nodeCompleted } from './run-steps.js';
import type { WorkflowDefinition } from './workflow.js';

/** A run's log and its definition. */
interface FoldedLog {
  definition: WorkflowDefinition;
  events: readonly TaskEvent[];
}

/** Returns the run at the last call of an instance. A forwarded answer is no call. */
export function whenCalled(log: FoldedLog, instance: string): RunState | undefined {
  return runAfterLast(
    log,
    instance,
    ({ type, payload }) => type === a2aSending.type && payload['taskId'] === undefined,
  );
}

/** Returns the run at the completion of an instance. */
export function whenCompleted(log: FoldedLog, instance: string): RunState | undefined {
  return runAfterLast(log, instance, ({ type }) => COMPLETES.has(type));
}

const COMPLETES: ReadonlySet<string> = new Set([nodeCompleted.type, nodeReused.type]);

/** Returns the run after the last matching event of an instance; `undefined` if there is none. */
function runAfterLast(
  { definition, events }: FoldedLog,
  instance: string,
  isMeant: (note: RunEventNote) => boolean,
): RunState | undefined {
  const last = events.findLastIndex((event) => {
    const note = noteOf(event);
    return note !== undefined && (note.instance ?? note.node_id) === instance && isMeant(note);
  });
  return last < 0 ? undefined : RunState.fromEvents(definition, events.slice(0, last + 1));
}

function noteOf(event: TaskEvent): RunEventNote | undefined {
  if ('task' in event) return undefined;
  return runEventNote('statusUpdate' in event ? event.statusUpdate.metadata : event.artifactUpdate.metadata);
}

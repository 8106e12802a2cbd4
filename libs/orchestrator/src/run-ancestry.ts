import { A2AError, type JsonObject } from '#libs/protocol';
import type { TaskStore } from '#libs/tasks';

/** The key, in a request's and in a run's metadata, of the ids of the runs that led to it, outermost first. */
export const ANCESTRY_KEY = 'parley/ancestry';

/** Runs within runs that are taken for sense; more are taken for a loop. */
const DEEPEST = 32;

/** The runs that metadata names; whatever else it holds under the key counts as none. */
export function ancestryOf(metadata: JsonObject | undefined): string[] {
  const ids = metadata?.[ANCESTRY_KEY];
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}

/** Metadata with the runs, or none where there are none. */
export function ancestryMetadata(runIds: readonly string[]): JsonObject {
  return runIds.length === 0 ? {} : { [ANCESTRY_KEY]: [...runIds] };
}

/**
 * Refuses a call that a run of the same agent led to, however many foreign agents lie in between: such a run would
 * reach itself again without an end. The ids are looked up in our own store, so a caller can only stop itself.
 * @throws A2AError UNSUPPORTED_OPERATION with the reason `LOOP_DETECTED`
 */
export async function refuseLoop(tasks: TaskStore, agent: string, ancestry: readonly string[]): Promise<void> {
  if (ancestry.length > DEEPEST) throw loop(`more than ${DEEPEST} runs led to this call`);
  const headers = await Promise.all(ancestry.map((runId) => tasks.header(runId)));
  const ancestor = headers.find((header) => header?.agent === agent);
  if (ancestor) throw loop(`"${agent}" is already at work on run ${ancestor.taskId}, which led to this call`);
}

function loop(what: string): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', { message: `LOOP_DETECTED: ${what}`, detailReason: 'LOOP_DETECTED' });
}

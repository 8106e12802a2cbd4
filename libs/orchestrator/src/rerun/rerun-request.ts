import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/** Metadata key of the request for a rerun: it names the original run, and what to run again. */
export const RERUN_KEY = 'parley/rerun';

/** Request for a rerun. */
export interface RerunRequest {
  /** Id of the original run. */
  origin: string;
  /** Instances to run again, with everything after them. */
  from?: string[];
  /** True to run the failed instances again, with everything after them. */
  failed?: boolean;
  /** True to run everything again. */
  all?: boolean;
}

export function rerunMetadata(request: RerunRequest): JsonObject {
  return { [RERUN_KEY]: { ...request } };
}

/** Reads the request for a rerun from metadata; `undefined` if there is none, or it is malformed. */
export function readRerunRequest(metadata: JsonObject | undefined): RerunRequest | undefined {
  const rerun = metadata?.[RERUN_KEY];
  if (!isJsonObject(rerun) || typeof rerun['origin'] !== 'string') return undefined;
  const { origin, from, failed, all } = rerun;
  return {
    origin,
    ...(Array.isArray(from) && { from: from.filter((it) => typeof it === 'string') }),
    ...(failed === true && { failed }),
    ...(all === true && { all }),
  };
}

/** Reads the request for a rerun from the Task of a run, the first event of its log. */
export function readTaskRerun(first: TaskEvent | undefined): RerunRequest | undefined {
  return first && 'task' in first ? readRerunRequest(first.task.metadata) : undefined;
}

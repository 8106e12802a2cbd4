import { isJsonObject, type JsonObject } from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';

/** The metadata key under which the request for a run says that it is a rerun, of which run and of what. */
export const RERUN_KEY = 'parley/rerun';

/** What a run takes over of another one, and what it does anew. */
export interface RerunRequest {
  /** The id of the run that it begins with. */
  origin: string;
  /** Instances that are run anew, with everything after them. */
  from?: string[];
  /** Likewise whatever failed. */
  failed?: boolean;
  /** Everything is run anew. */
  all?: boolean;
}

export function rerunMetadata(request: RerunRequest): JsonObject {
  return { [RERUN_KEY]: { ...request } };
}

/** What metadata says of a rerun; `undefined` where it says nothing that makes sense. */
export function readRerun(metadata: JsonObject | undefined): RerunRequest | undefined {
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

/** Reads what the Task of a run, the first event of its log, says of the run that it begins with. */
export function rerunOf(first: TaskEvent | undefined): RerunRequest | undefined {
  return first && 'task' in first ? readRerun(first.task.metadata) : undefined;
}

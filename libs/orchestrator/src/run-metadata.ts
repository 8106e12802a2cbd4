import { isJsonObject, type JsonObject } from '#libs/protocol';

/** Metadata key of a run's Task with the workflow that it runs. */
export const RUN_KEY = 'parley/run';

/** Metadata of a run's Task. */
export interface RunMetadata {
  workflow: string;
  revision: string;
  /** Inputs of the run; absent: they are read from its first Message. */
  inputs?: JsonObject;
}

export function runMetadata(run: RunMetadata): JsonObject {
  return { [RUN_KEY]: { ...run } as unknown as JsonObject };
}

/** Reads the metadata of a run, as far as they exist. */
export function readRunMetadata(metadata: JsonObject | undefined): Partial<RunMetadata> {
  const run = metadata?.[RUN_KEY];
  return isJsonObject(run) ? (run as Partial<RunMetadata>) : {};
}

import { isJsonObject, type JsonObject } from '#libs/protocol';

/** The metadata key of a run's Task that names what is run. */
export const RUN_KEY = 'parley/run';

/** What a run's Task says of the run. */
export interface RunMetadata {
  workflow: string;
  revision: string;
  /** Absent: they are read from the run's first Message. */
  inputs?: JsonObject;
}

export function runMetadata(run: RunMetadata): JsonObject {
  return { [RUN_KEY]: { ...run } as unknown as JsonObject };
}

/** What metadata says of a run, as far as it does. */
export function readRunMetadata(metadata: JsonObject | undefined): Partial<RunMetadata> {
  const run = metadata?.[RUN_KEY];
  return isJsonObject(run) ? (run as Partial<RunMetadata>) : {};
}

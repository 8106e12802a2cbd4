import { ContentTooLarge } from '#libs/protocol';

/** Whatever is shorter counts as many bytes as characters. */
const SHORT = 4096;

/** Something of a Task is larger than this service keeps. The text names the limit and may be told to callers. */
export class TaskLimitExceeded extends ContentTooLarge {
  override readonly name = 'TaskLimitExceeded';

  static ofEvent(limit: number): TaskLimitExceeded {
    return new TaskLimitExceeded(`One event of a task has at most ${limit} bytes (EVENT_LIMIT); this one has more.`);
  }

  static ofArtifact(limit: number): TaskLimitExceeded {
    return new TaskLimitExceeded(`An artifact has at most ${limit} bytes (ARTIFACT_LIMIT); this one has more.`);
  }

  static ofLog(limit: number): TaskLimitExceeded {
    return new TaskLimitExceeded(
      `The log of a task has at most ${limit} bytes (TASK_LIMIT); this one would have more.`,
    );
  }
}

/** The bytes of a JSON text as UTF-8; of a short one about so many. */
export function jsonBytes(json: string): number {
  return json.length <= SHORT ? json.length : Buffer.byteLength(json);
}

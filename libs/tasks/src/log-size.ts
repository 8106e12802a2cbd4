import { contentLength, ContentTooLarge, isTerminalState } from '#libs/protocol';
import type { TaskEvent } from './task-event.js';

/** Maximum bytes of one event, of one Artifact with all its chunks, and of the log of one Task. */
export interface TaskLimits {
  readonly event: number;
  readonly artifact: number;
  readonly log: number;
}

/** Bytes above the limit for the end of a full Task, and for short events before it. */
const END_ROOM = 64 * 1024;
const FEW_WORDS = 16 * 1024;
/** Share of its limit above which a log is nearly full. */
const NEARLY_FULL = 3 / 4;

/** Returns the bytes that an event adds to its log: its JSON, plus approximately those of its received Message. */
export function eventBytes(event: TaskEvent, json: string): number {
  const received = 'statusUpdate' in event ? event.received : undefined;
  return received ? jsonBytes(json) + contentLength(received.parts) : jsonBytes(json);
}

/** Size of one Task's log, and of the Artifacts of this turn. */
export class LogSize {
  private artifacts: Map<string, number> | undefined;

  /** @param bytes bytes that the log already holds */
  constructor(
    private readonly limits: TaskLimits,
    private bytes: number,
  ) {}

  /** Bytes of the whole log. */
  get total(): number {
    return this.bytes;
  }

  /** True if the log has passed three quarters of its limit. */
  get isNearlyFull(): boolean {
    return this.bytes > this.limits.log * NEARLY_FULL;
  }

  /**
   * Checks an event of the given size. @throws TaskLimitExceeded if it is too large in itself, for the log, or for its
   * Artifact
   */
  checkEvent(event: TaskEvent, bytes: number): void {
    const { limits } = this;
    if (bytes > limits.event) throw TaskLimitExceeded.ofEvent(limits.event);
    if (this.bytes + bytes > limits.log && !this.isLastWord(event, bytes)) throw TaskLimitExceeded.ofLog(limits.log);
    if ('artifactUpdate' in event && this.artifactAfter(event, bytes) > limits.artifact)
      throw TaskLimitExceeded.ofArtifact(limits.artifact);
  }

  /** Counts an event that was added to the log. */
  countEvent(event: TaskEvent, bytes: number): void {
    this.bytes += bytes;
    if (!('artifactUpdate' in event)) return;
    const { artifactId } = event.artifactUpdate.artifact;
    (this.artifacts ??= new Map<string, number>()).set(artifactId, this.artifactAfter(event, bytes));
  }

  private isLastWord(event: TaskEvent, bytes: number): boolean {
    if (bytes <= FEW_WORDS && this.bytes + bytes <= this.limits.log + END_ROOM) return true;
    return bytes <= END_ROOM && endsTask(event);
  }

  private artifactAfter({ artifactUpdate }: Extract<TaskEvent, { artifactUpdate: unknown }>, bytes: number): number {
    const before = artifactUpdate.append ? this.artifacts?.get(artifactUpdate.artifact.artifactId) : undefined;
    return (before ?? 0) + bytes;
  }
}

function endsTask(event: TaskEvent): boolean {
  return 'statusUpdate' in event && isTerminalState(event.statusUpdate.status.state);
}

/** Length below which characters count as bytes. */
const SHORT = 4096;

/**
 * Error for an event, an Artifact or a log that exceeds a limit. The text names the limit and may be shown to callers.
 */
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

/** Returns the bytes of a JSON text as UTF-8; approximate for a short one. */
export function jsonBytes(json: string): number {
  return json.length <= SHORT ? json.length : Buffer.byteLength(json);
}

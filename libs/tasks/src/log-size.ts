import { contentLength, ContentTooLarge, isTerminalState } from '#libs/protocol';
import type { TaskEvent } from './task-event.js';

/** Bytes of one event, of one Artifact with all its chunks, and of the log of one Task. */
export interface TaskLimits {
  readonly event: number;
  readonly artifact: number;
  readonly log: number;
}

/** A Task that may hold no more still takes its end, where that is short, and a few words before it. */
const END_ROOM = 64 * 1024;
const FEW_WORDS = 16 * 1024;
/** The share of its limit from which on a log is said to be nearly full. */
const NEARLY_FULL = 3 / 4;

/** How many bytes an event adds to its log: its JSON, and about those of the Message that it answers to. */
export function eventBytes(event: TaskEvent, json: string): number {
  const received = 'statusUpdate' in event ? event.received : undefined;
  return received ? jsonBytes(json) + contentLength(received.parts) : jsonBytes(json);
}

/** How large the log of one Task is, and the Artifacts of this turn. */
export class LogSize {
  private artifacts: Map<string, number> | undefined;

  /** @param bytes of what the log holds already */
  constructor(
    private readonly limits: TaskLimits,
    private bytes: number,
  ) {}

  /** Of all that the log holds. */
  get total(): number {
    return this.bytes;
  }

  /** True if the log has passed three quarters of what it may have. */
  get isNearlyFull(): boolean {
    return this.bytes > this.limits.log * NEARLY_FULL;
  }

  /** @throws TaskLimitExceeded where an event of so many bytes is too much in itself, for the log, or for its Artifact */
  check(event: TaskEvent, bytes: number): void {
    const { limits } = this;
    if (bytes > limits.event) throw TaskLimitExceeded.ofEvent(limits.event);
    if (this.bytes + bytes > limits.log && !this.isLastWord(event, bytes)) throw TaskLimitExceeded.ofLog(limits.log);
    if ('artifactUpdate' in event && this.artifactAfter(event, bytes) > limits.artifact)
      throw TaskLimitExceeded.ofArtifact(limits.artifact);
  }

  /** Counts an event that the log took. */
  take(event: TaskEvent, bytes: number): void {
    this.bytes += bytes;
    if (!('artifactUpdate' in event)) return;
    const { artifactId } = event.artifactUpdate.artifact;
    (this.artifacts ??= new Map<string, number>()).set(artifactId, this.artifactAfter(event, bytes));
  }

  private isLastWord(event: TaskEvent, bytes: number): boolean {
    if (bytes <= FEW_WORDS && this.bytes + bytes <= this.limits.log + END_ROOM) return true;
    return bytes <= END_ROOM && ends(event);
  }

  private artifactAfter({ artifactUpdate }: Extract<TaskEvent, { artifactUpdate: unknown }>, bytes: number): number {
    const before = artifactUpdate.append ? this.artifacts?.get(artifactUpdate.artifact.artifactId) : undefined;
    return (before ?? 0) + bytes;
  }
}

function ends(event: TaskEvent): boolean {
  return 'statusUpdate' in event && isTerminalState(event.statusUpdate.status.state);
}

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

import { createHash } from 'node:crypto';
import {
  canonicalJson,
  type JsonValue,
  keptFileOf,
  type Message,
  type Part,
  type TaskArtifactUpdateEvent,
  withBytes,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import { pointOf, type RecordedPoint } from './work-event.js';

/** Step or question with the answers to it, in order of arrival. */
export interface LoggedPoint extends RecordedPoint {
  answers: Message[];
}

/** Reported answer of the work: its text, and a value at its end if any. */
export interface ReportedAnswer {
  text: string;
  /** Value as canonical JSON. */
  value?: string;
}

/** State of work according to its Task's log: steps, questions, answers and output. */
export class WorkLog {
  readonly points = new Map<number, LoggedPoint>();
  /** Reported answer, if any. */
  answer: ReportedAnswer | undefined;
  private readonly artifacts = new Map<string, string[]>();
  private asked: LoggedPoint | undefined;

  /** @param answerId id of the Artifact with the work's own answer */
  constructor(
    events: readonly TaskEvent[],
    private readonly answerId: string,
  ) {
    for (const event of events) this.applyEvent(event);
  }

  /** True if the Artifact of this name was reported with these Parts as its `count`th one, from 0. */
  hasArtifact(name: string, count: number, parts: readonly Part[]): boolean {
    const reported = this.artifacts.get(name)?.[count];
    return reported !== undefined && reported === contentKey(parts);
  }

  private applyEvent(event: TaskEvent): void {
    if ('task' in event) return;
    if ('artifactUpdate' in event) return this.applyArtifact(event.artifactUpdate);
    if (event.received) this.asked?.answers.push(event.received);
    const point = pointOf(event.statusUpdate.metadata);
    if (point === undefined) return;
    const known = this.points.get(point.at) ?? { ...point, answers: [] };
    this.points.set(point.at, known);
    this.asked = point.key === undefined ? known : undefined;
  }

  private applyArtifact({ artifact, append }: TaskArtifactUpdateEvent): void {
    const { artifactId: id, parts } = artifact;
    if (id !== this.answerId) {
      this.artifacts.set(id, [...(this.artifacts.get(id) ?? []), contentKey(parts)]);
      return;
    }
    if (!append) this.answer = undefined;
    this.answer ??= { text: '' };
    for (const { text, data } of parts) {
      if (text !== undefined) this.answer.text += text;
      if (data !== undefined) this.answer.value = canonicalJson(data);
    }
  }
}

/** Returns the same key for bytes and for the file that the log stores in their place. */
function contentKey(parts: readonly Part[]): string {
  return canonicalJson(parts.map(withDigest) as unknown as JsonValue);
}

function withDigest(part: Part): Part {
  const { raw } = part;
  if (raw !== undefined) return { ...part, raw: createHash('sha256').update(Buffer.from(raw, 'base64')).digest('hex') };
  const file = keptFileOf(part);
  return file ? withBytes(part, file.sha256) : part;
}

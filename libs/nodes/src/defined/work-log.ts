import { createHash } from 'node:crypto';
import {
  canonicalJson,
  formMessage,
  type FormQuestion,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  keptFileOf,
  type Message,
  type Part,
  statusUpdate,
  type TaskArtifactUpdateEvent,
  type TaskReference,
  withBytes,
} from '#libs/protocol';
import type { TaskEvent } from '#libs/tasks';
import type { NodeEvent } from '../node-executor.js';

/** Encrypts parts of a log that only this service may read. A ciphertext is bound to its place. */
export interface Sealer {
  seal(secret: string, place: readonly string[]): string;
  /** @throws if it was not sealed here for this place */
  open(sealed: string, place: readonly string[]): string;
}

/** Step or question of work, as its Task's log records it. */
interface RecordedPoint {
  /** Position among the steps and questions of the work, from 0. */
  at: number;
  /** Key of a step; absent for a question. */
  key?: string;
  /** Sealed outcome of a step. */
  outcome?: string;
}

/** Metadata key of steps and questions. */
const POINT_KEY = 'parley/step';

export function stepDone(task: TaskReference, at: number, key: string, outcome: string): NodeEvent {
  return statusUpdate(task, 'TASK_STATE_WORKING', undefined, { [POINT_KEY]: { at, key, outcome } });
}

export function questionAsked(task: TaskReference, at: number, parts: Part[], question: FormQuestion): NodeEvent {
  const event = statusUpdate(task, 'TASK_STATE_INPUT_REQUIRED', undefined, { [POINT_KEY]: { at } });
  event.statusUpdate.status.message = formMessage(task, parts, question);
  return event;
}

/** Returns the step or question in the metadata of a status, if any. */
function pointOf(metadata: JsonObject | undefined): RecordedPoint | undefined {
  const point = metadata?.[POINT_KEY];
  return isJsonObject(point) ? (point as unknown as RecordedPoint) : undefined;
}

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

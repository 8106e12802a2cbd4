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

/**
 * Encrypts parts of a Task's log that only this service may read. Each text is sealed for a `place`, for example a Task
 * and a step, and can be decrypted only with the same place.
 */
export interface Sealer {
  /** Encrypts a text for a place, such as a Task and a step. */
  seal(secret: string, place: readonly string[]): string;
  /** Decrypts a sealed text. @throws an error if this service did not seal the text for this place */
  open(sealed: string, place: readonly string[]): string;
}

/** Step or question of a DefinedWork, as recorded in the log of the Task. */
interface RecordedPoint {
  /** Position among all steps and questions of the work, from 0. */
  at: number;
  /** Key of the step; absent for a question. */
  key?: string;
  /** Outcome of the step, encrypted by Sealer; absent for a question. */
  outcome?: string;
}

/** Metadata key under which status events record a step or question. */
const POINT_KEY = 'parley/step';

/**
 * Returns the event that records the outcome of a step.
 * @param at position among all steps and questions, from 0
 * @param outcome outcome that Sealer has encrypted
 */
export function stepDone(task: TaskReference, at: number, key: string, outcome: string): NodeEvent {
  return statusUpdate(task, 'TASK_STATE_WORKING', undefined, { [POINT_KEY]: { at, key, outcome } });
}

/**
 * Returns the event by which the Task starts to wait for the answer to a question.
 * @param at position among all steps and questions, from 0
 */
export function questionAsked(task: TaskReference, at: number, parts: Part[], question: FormQuestion): NodeEvent {
  const event = statusUpdate(task, 'TASK_STATE_INPUT_REQUIRED', undefined, { [POINT_KEY]: { at } });
  event.statusUpdate.status.message = formMessage(task, parts, question);
  return event;
}

/** Returns the step or question that a status event records; `undefined` if it records none. */
function pointOf(metadata: JsonObject | undefined): RecordedPoint | undefined {
  const point = metadata?.[POINT_KEY];
  return isJsonObject(point) ? (point as unknown as RecordedPoint) : undefined;
}

/** Recorded step or question, with the answers to the question in order of arrival. */
export interface LoggedPoint extends RecordedPoint {
  answers: Message[];
}

/** Answer that earlier executions of the work have sent to the caller: its text, and its value if it has one. */
export interface ReportedAnswer {
  text: string;
  /** Value as canonical JSON; absent if the answer is only text. */
  value?: string;
  /** True if the last piece of the answer was marked as such (`lastChunk`). */
  isClosed?: boolean;
}

/** State of a DefinedWork, read from the log of its Task: steps, questions, answers and output. */
export class WorkLog {
  readonly points = new Map<number, LoggedPoint>();
  /** Answer that earlier executions reported, if any. */
  answer: ReportedAnswer | undefined;
  private readonly artifacts = new Map<string, string[]>();
  private asked: LoggedPoint | undefined;

  /** @param answerId id of the Artifact with the answer of the work */
  constructor(
    events: readonly TaskEvent[],
    private readonly answerId: string,
  ) {
    for (const event of events) this.applyEvent(event);
  }

  /**
   * True if the log has these Parts as the Artifact with this name and index.
   * @param count index among the Artifacts of the same name, from 0
   */
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

  private applyArtifact({ artifact, append, lastChunk }: TaskArtifactUpdateEvent): void {
    const { artifactId: id, parts } = artifact;
    if (id !== this.answerId) {
      this.artifacts.set(id, [...(this.artifacts.get(id) ?? []), contentKey(parts)]);
      return;
    }
    if (!append) this.answer = undefined;
    this.answer ??= { text: '' };
    this.answer.isClosed = lastChunk === true;
    for (const { text, data } of parts) {
      if (text !== undefined) this.answer.text += text;
      if (data !== undefined) this.answer.value = canonicalJson(data);
    }
  }
}

/**
 * Returns a key for comparing Parts. File bytes have the same key as the stored file that the log has in their place.
 */
function contentKey(parts: readonly Part[]): string {
  return canonicalJson(parts.map(withDigest) as unknown as JsonValue);
}

function withDigest(part: Part): Part {
  const { raw } = part;
  if (raw !== undefined) return { ...part, raw: createHash('sha256').update(Buffer.from(raw, 'base64')).digest('hex') };
  const file = keptFileOf(part);
  return file ? withBytes(part, file.sha256) : part;
}

import {
  formMessage,
  type FormQuestion,
  isJsonObject,
  type JsonObject,
  type Part,
  statusUpdate,
  type TaskReference,
} from '#libs/protocol';
import type { NodeEvent } from '../node-executor.js';

/** Encrypts parts of a log that only this service may read. A ciphertext is bound to its place. */
export interface Sealer {
  seal(secret: string, place: readonly string[]): string;
  /** @throws if it was not sealed here for this place */
  open(sealed: string, place: readonly string[]): string;
}

/** Step or question of work, as its Task's log records it. */
export interface RecordedPoint {
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
export function pointOf(metadata: JsonObject | undefined): RecordedPoint | undefined {
  const point = metadata?.[POINT_KEY];
  return isJsonObject(point) ? (point as unknown as RecordedPoint) : undefined;
}

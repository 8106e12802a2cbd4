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

/** Encrypts what only this service shall read of a log, for one place. */
export interface Sealer {
  seal(secret: string, place: readonly string[]): string;
  /** @throws where it was not sealed here, for this place */
  open(sealed: string, place: readonly string[]): string;
}

/** A step or a question of work, as its Task's log tells it. */
export interface RecordedPoint {
  /** Its place among the steps and questions of the work, from 0. */
  at: number;
  /** The key of a step; a question has none. */
  key?: string;
  /** What came of a step, sealed. */
  outcome?: string;
}

/** The metadata key of such an event. */
const POINT_KEY = 'parley/step';

export function stepDone(task: TaskReference, at: number, key: string, outcome: string): NodeEvent {
  return statusUpdate(task, 'TASK_STATE_WORKING', undefined, { [POINT_KEY]: { at, key, outcome } });
}

export function questionAsked(task: TaskReference, at: number, parts: Part[], question: FormQuestion): NodeEvent {
  const event = statusUpdate(task, 'TASK_STATE_INPUT_REQUIRED', undefined, { [POINT_KEY]: { at } });
  event.statusUpdate.status.message = formMessage(task, parts, question);
  return event;
}

/** The step or question that the metadata of a status names. */
export function pointOf(metadata: JsonObject | undefined): RecordedPoint | undefined {
  const point = metadata?.[POINT_KEY];
  return isJsonObject(point) ? (point as unknown as RecordedPoint) : undefined;
}

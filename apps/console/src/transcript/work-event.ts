import { joinedParts } from '../api/parts.js';
import type { A2aPart, A2aStreamItem } from '../api/task.js';

/** An event of an agent's work: a step, a piece of its answer, a question to a person, or the end. */
export interface WorkEvent {
  /** Type of an agent's step (`model.request`, `tool.call` and the like), or one of the types below. */
  type: string;
  payload: Readonly<Record<string, unknown>>;
  /** Time of the event in ISO 8601, if known. */
  at?: string | undefined;
}

/**
 * Type of the event for a piece of the answer: its Parts are in `parts`; `append` is true if it continues the last
 * piece.
 */
export const TEXT = 'text';
/** Type of the event for a question about the next call; the text of the question is in `text`. */
export const QUESTION = 'question';
/** Type of the event for the end of an agent's work. */
export const END = 'end';

const STEPS = new Set(['model.request', 'model.response', 'model.error', 'tool.call', 'tool.called', 'tool.result']);

/** True if an event of a run or a Task is a step of an agent. */
export function isStep(type: string): boolean {
  return STEPS.has(type);
}

/** Appends an event to an agent's work. Consecutive pieces of an answer are merged. */
export function withWork(work: readonly WorkEvent[], event: WorkEvent): readonly WorkEvent[] {
  const last = work.at(-1);
  if (last?.type !== TEXT || event.type !== TEXT) return [...work, event];
  const parts = event.payload['append'] === true ? joinedParts([...partsIn(last), ...partsIn(event)]) : partsIn(event);
  return [...work.slice(0, -1), { ...last, payload: { ...last.payload, parts } }];
}

/** Returns the tool whose call is running, if any. */
export function toolCalled(work: readonly WorkEvent[]): string | undefined {
  const last = work.at(-1);
  const isUnderWay = last?.type === 'tool.call' || last?.type === 'tool.called';
  const tool = isUnderWay ? last.payload['tool'] : undefined;
  return typeof tool === 'string' ? tool : undefined;
}

export function partsIn({ payload }: WorkEvent): A2aPart[] {
  return Array.isArray(payload['parts']) ? (payload['parts'] as A2aPart[]) : [];
}

/** Returns the event of an agent's work in a Task's event, if any. */
export function workIn({ statusUpdate, artifactUpdate }: A2aStreamItem): WorkEvent | undefined {
  if (artifactUpdate) {
    const { artifact, append = false } = artifactUpdate;
    return { type: TEXT, payload: { parts: artifact.parts, append } };
  }
  if (!statusUpdate) return undefined;
  const { status, metadata } = statusUpdate;
  const at = status.timestamp;
  const note = metadata?.['parley/event'] as { type?: unknown; payload?: WorkEvent['payload'] } | undefined;
  if (typeof note?.type === 'string' && isStep(note.type)) return { type: note.type, payload: note.payload ?? {}, at };
  if (status.state === 'TASK_STATE_INPUT_REQUIRED') {
    const text = status.message?.parts.find((part) => part.text !== undefined)?.text;
    return { type: QUESTION, payload: { text }, at };
  }
  const isEnd = /_(COMPLETED|FAILED|CANCELED|REJECTED)$/.test(status.state);
  return isEnd ? { type: END, payload: {}, at } : undefined;
}

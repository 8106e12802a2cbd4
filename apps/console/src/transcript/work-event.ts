import { joinedParts } from '../api/parts.js';
import type { Part, StreamResponse } from '../api/task.js';

/** Something that an agent told of its work: a step, a piece of its answer, a question, or its end. */
export interface WorkEvent {
  /** A step of an agent (`model.request`, `tool.call` and the like), or one of ours below. */
  type: string;
  payload: Readonly<Record<string, unknown>>;
  /** ISO 8601, where that is known. */
  at?: string | undefined;
}

/** A piece of the answer; its Parts stand in `parts`, and `append` says whether it goes on. */
export const TEXT = 'text';
/** Somebody is asked about the call that is next; the words stand in `text`. */
export const QUESTION = 'question';
/** There is no more. */
export const END = 'end';

const STEPS = new Set(['model.request', 'model.response', 'model.error', 'tool.call', 'tool.called', 'tool.result']);

/** Whether an event of a run, or of a Task, is a step of an agent. */
export function isStep(type: string): boolean {
  return STEPS.has(type);
}

/** The same events and one more; pieces of one answer are kept as one. */
export function withWork(work: readonly WorkEvent[], event: WorkEvent): readonly WorkEvent[] {
  const last = work.at(-1);
  if (last?.type !== TEXT || event.type !== TEXT) return [...work, event];
  const parts = event.payload['append'] === true ? joinedParts([...partsIn(last), ...partsIn(event)]) : partsIn(event);
  return [...work.slice(0, -1), { ...last, payload: { ...last.payload, parts } }];
}

/** The tool whose call is under way. */
export function toolCalled(work: readonly WorkEvent[]): string | undefined {
  const last = work.at(-1);
  const isUnderWay = last?.type === 'tool.call' || last?.type === 'tool.called';
  const tool = isUnderWay ? last.payload['tool'] : undefined;
  return typeof tool === 'string' ? tool : undefined;
}

export function partsIn({ payload }: WorkEvent): Part[] {
  return Array.isArray(payload['parts']) ? (payload['parts'] as Part[]) : [];
}

/** What an event of a Task tells of the work of its agent. */
export function workIn({ statusUpdate, artifactUpdate }: StreamResponse): WorkEvent | undefined {
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

import { derivedId } from '#libs/protocol';
import type { Outcome } from './conversation.js';

/** A turn that was made. Exactly these members. */
export interface TurnData {
  conversationId: string;
  fromAgent: string;
  toAgent: string;
  turn: number;
  maxTurns: number;
  text: string;
  phase: 'turn';
}

/** A turn that could not be made; the end follows. */
export interface ErrorData {
  conversationId: string;
  fromAgent: string;
  toAgent: string;
  turn: number;
  code: string;
  message: string;
  retryable: boolean;
  phase: 'error';
}

/** The end: once, after all turns and before the announcement. Exactly these members. */
export interface CompleteData {
  conversationId: string;
  fromAgent: string;
  toAgent: string;
  phase: 'complete';
}

export type A2aData = TurnData | ErrorData | CompleteData;

/** What is to be emitted, before it is numbered. */
export interface A2aDraft {
  data: A2aData;
  /** On the complete event alone. */
  outcome?: Outcome;
}

/** An event of the `a2a` stream. `data` has exactly the members of its phase; what is ours stands beside it. */
export interface A2aEvent extends A2aDraft {
  /** The step that the event tells of: one for each turn (the id of the Message that asked for it), one for the end. */
  runId: string;
  /** Counts the events of the step, from 1. There is no order between steps in it. */
  seq: number;
  /** Epoch milliseconds. */
  ts: number;
  /** The session of the side that spoke; at the end that of the conversation. */
  sessionKey: string;
  stream: 'a2a';
  /** The conversation sequence: counts the events of the conversation, from 1 without a gap. The SSE id and the cursor. */
  cseq: number;
}

/** The id of a turn's step: the same in every process, before and after a crash. */
export function turnId(conversationId: string, turn: number | 'announce'): string {
  return derivedId(conversationId, turn);
}

/** Numbers what is to be emitted, after the events that were emitted before. */
export function a2aEvent(draft: A2aDraft, emitted: readonly Pick<A2aEvent, 'runId'>[], ts: number): A2aEvent {
  const { data, outcome } = draft;
  const conversationSequence = emitted.length + 1;
  const runId = data.phase === 'complete' ? data.conversationId : turnId(data.conversationId, data.turn);
  return {
    runId,
    seq: emitted.filter((event) => event.runId === runId).length + 1,
    ts,
    sessionKey: sessionKey(data),
    stream: 'a2a',
    cseq: conversationSequence,
    ...(outcome !== undefined && { outcome }),
    data,
  };
}

function sessionKey(data: A2aData): string {
  const conversation = `conversation:${data.conversationId}`;
  if (data.phase === 'complete') return conversation;
  return `${conversation}:${data.turn % 2 === 0 ? 'requester' : 'target'}`;
}

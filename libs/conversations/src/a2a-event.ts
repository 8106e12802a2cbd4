import { derivedId } from '#libs/protocol';
import type { ConversationOutcome } from './conversation.js';

/** Turn that was taken, with exactly these members. */
export interface TurnData {
  conversationId: string;
  fromAgent: string;
  toAgent: string;
  turn: number;
  maxTurns: number;
  text: string;
  phase: 'turn';
}

/** Turn that failed; the end follows. */
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

/** End of a conversation, once, after all turns and before the announcement. It has exactly these members. */
export interface CompleteData {
  conversationId: string;
  fromAgent: string;
  toAgent: string;
  phase: 'complete';
}

export type A2aData = TurnData | ErrorData | CompleteData;

/** Event before it is numbered. */
export interface A2aDraft {
  data: A2aData;
  /** Outcome, on the complete event alone. */
  outcome?: ConversationOutcome;
}

/** Event of the `a2a` stream. `data` has exactly the members of its phase; our own members stand beside it. */
export interface A2aEvent extends A2aDraft {
  /** Step of the event: the messageId of the request for a turn, or the conversation's id for the end. */
  runId: string;
  /** Number of the event within its step, from 1. It defines no order between steps. */
  seq: number;
  /** Epoch milliseconds. */
  ts: number;
  /** Session of the side that spoke; for the end the session of the conversation. */
  sessionKey: string;
  stream: 'a2a';
  /** Number of the event within the conversation, from 1 without gaps. It is the SSE id and the cursor. */
  cseq: number;
}

/** Returns the id of a turn's step: the same in every process, before and after a crash. */
export function turnId(conversationId: string, turn: number | 'announce'): string {
  return derivedId(conversationId, turn);
}

/** Numbers an event after the events that were emitted before. */
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

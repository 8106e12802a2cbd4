import { derivedId } from '#libs/protocol';
import type { ConversationOutcome } from './conversation.js';

/** Data of an event for a completed turn. It has exactly these members, without additions of Parley. */
interface TurnData {
  conversationId: string;
  fromAgent: string;
  toAgent: string;
  turn: number;
  maxTurns: number;
  text: string;
  phase: 'turn';
}

/** Data of an event for a failed turn. The event that ends the conversation (complete event) follows it. */
interface ErrorData {
  conversationId: string;
  fromAgent: string;
  toAgent: string;
  turn: number;
  code: string;
  message: string;
  retryable: boolean;
  phase: 'error';
}

/**
 * Data of the complete event, which ends a conversation. It is emitted once, after all turns and before the
 * announcement, and has exactly these members.
 */
interface CompleteData {
  conversationId: string;
  fromAgent: string;
  toAgent: string;
  phase: 'complete';
}

export type A2aData = TurnData | ErrorData | CompleteData;

/** Event of the `a2a` stream before it gets its ids, its time and its numbers (`seq` and `cseq`). */
export interface A2aDraft {
  data: A2aData;
  /** Outcome of the conversation; present on the complete event alone. */
  outcome?: ConversationOutcome;
}

/**
 * Event of the `a2a` stream. `data` has exactly the members of its phase; members that Parley adds stand beside `data`.
 */
export interface A2aEvent extends A2aDraft {
  /**
   * Id of what the event belongs to, which is not a run: for an event of a turn the `turnId`, for the complete event the
   * conversation's id.
   */
  runId: string;
  /** Number of the event among those with the same `runId`, from 1. `cseq` is the order within the conversation. */
  seq: number;
  /** Time of the event, in milliseconds since 1970. */
  ts: number;
  /**
   * Key of the session between the conversation and the agent that spoke; for the complete event, of the whole
   * conversation.
   */
  sessionKey: string;
  stream: 'a2a';
  /**
   * Number of the event within the conversation, from 1 without gaps. It is the SSE id, and the cursor after which a
   * stream resumes.
   */
  cseq: number;
}

/**
 * Returns the id of a turn or of the announcement. It is also the messageId of the request to the agent.
 * Every process derives the same id, before and after a crash.
 */
export function turnId(conversationId: string, turn: number | 'announce'): string {
  return derivedId(conversationId, turn);
}

/**
 * Returns the event of a draft, numbered after the events in `emitted`, which came before it.
 * @param ts time of the event, in milliseconds since 1970
 */
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

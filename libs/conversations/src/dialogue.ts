import type { A2aData, A2aDraft, A2aEvent } from './a2a-event.js';
import {
  type ConversationSettings,
  nameOf,
  type Outcome,
  type Reply,
  type Side,
  speakerOf,
  TIMEOUT,
  type Turn,
  type TurnFailure,
} from './conversation.js';
import { isToken, REPLY_SKIP } from './reply-text.js';

/** Turn for which an agent is to be called. */
export interface PendingTurn {
  turn: number;
  speaker: Side;
  /** Text of the other side: the only Part that the speaker receives. */
  text: string;
}

export interface DialogueStart {
  conversationId: string;
  settings: ConversationSettings;
  /** True if both sides are the same agent, for which there is no loop. */
  self: boolean;
}

/**
 * Rules of a conversation, without I/O: the next speaker, the meaning of a reply, the next event. A draft changes no
 * state; the event is applied once it is emitted.
 */
export class Dialogue {
  readonly turns: Turn[] = [];
  readonly emitted: Pick<A2aEvent, 'runId'>[] = [];
  error: (TurnFailure & { turn: number }) | undefined;
  outcome: Outcome | undefined;
  /** Time of the end, in epoch milliseconds. */
  endedAt: number | undefined;

  constructor(private readonly start: DialogueStart) {}

  /** Last text, or the first one before any turn. */
  get lastText(): string {
    return this.turns.at(-1)?.text ?? this.start.settings.message;
  }

  /** Number of the last possible turn. */
  get lastTurn(): number {
    const { settings, self } = this.start;
    return self || settings.requester === undefined ? 1 : settings.maxTurns + 1;
  }

  /** Applies an emitted event. */
  take({ runId, ts, data, outcome }: A2aEvent): void {
    this.emitted.push({ runId });
    const { phase } = data;
    if (phase === 'complete') Object.assign(this, { outcome, endedAt: ts });
    else if (phase === 'error') this.error = failureOf(data);
    else this.turns.push({ turn: data.turn, fromAgent: data.fromAgent, toAgent: data.toAgent, text: data.text, ts });
  }

  /** Drafts turn 0, for which no agent is called; `undefined` once it is emitted. */
  opening(): A2aDraft | undefined {
    return this.turns.length === 0 ? this.turn(0, this.start.settings.message) : undefined;
  }

  /** Returns the turn for which an agent is called next; `undefined` if the conversation is to be completed. */
  pending(): PendingTurn | undefined {
    const turn = this.turns.length;
    if (turn === 0 || turn > this.lastTurn || this.error || this.outcome) return undefined;
    return { turn, speaker: speakerOf(turn), text: this.lastText };
  }

  /** Drafts the event that a reply to the pending turn leads to. */
  answered({ turn }: PendingTurn, reply: Reply): A2aDraft {
    if ('failure' in reply) return this.failed(turn, reply.failure);
    if (reply.text.trim() === '' || isToken(reply.text, REPLY_SKIP)) return this.completed('skipped');
    return this.turn(turn, reply.text);
  }

  /** Drafts the end, with a given outcome or the one that follows from the emitted events. */
  completed(outcome: Outcome = this.natural): A2aDraft {
    return { data: { ...this.names(0), phase: 'complete' }, outcome };
  }

  private get natural(): Outcome {
    if (this.error) return this.error.code === TIMEOUT ? 'timeout' : 'error';
    return this.lastTurn > 1 && this.turns.length > this.lastTurn ? 'max_turns' : 'done';
  }

  private turn(turn: number, text: string): A2aDraft {
    const { maxTurns } = this.start.settings;
    return { data: { ...this.names(turn), turn, maxTurns, text, phase: 'turn' } };
  }

  private failed(turn: number, { code, message, retryable }: TurnFailure): A2aDraft {
    return { data: { ...this.names(turn), turn, code, message, retryable, phase: 'error' } };
  }

  private names(turn: number): Pick<A2aData, 'conversationId' | 'fromAgent' | 'toAgent'> {
    const { conversationId, settings } = this.start;
    const speaker = speakerOf(turn);
    return {
      conversationId,
      fromAgent: nameOf(speaker, settings),
      toAgent: nameOf(speaker === 'requester' ? 'target' : 'requester', settings),
    };
  }
}

function failureOf({ turn, code, message, retryable }: TurnFailure & { turn: number }): TurnFailure & { turn: number } {
  return { turn, code, message, retryable };
}

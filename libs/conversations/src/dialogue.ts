import type { A2aData, A2aDraft, A2aEvent } from './a2a-event.js';
import {
  type ConversationOutcome,
  type ConversationSettings,
  type Side,
  sideName,
  speakerOf,
  type SpokenTurn,
  TIMEOUT,
  type TurnFailure,
  type TurnReply,
} from './conversation.js';
import { isToken, REPLY_SKIP } from './turn-reply.js';

/** Turn whose agent is called next. */
export interface PendingTurn {
  turn: number;
  speaker: Side;
  /** Last text of the other side, which the speaker answers. */
  text: string;
}

export interface DialogueStart {
  conversationId: string;
  settings: ConversationSettings;
  /** True if both sides are the same agent. There is then no loop: only turns 0 and 1. */
  self: boolean;
}

/**
 * Rules of a conversation, without I/O: the next speaker, the meaning of a reply, the next event. The methods that
 * draft an event change no state; `applyEvent` does, once the event is emitted. ConversationState has the rest of a
 * conversation: sessions, commands and questions.
 */
export class Dialogue {
  readonly turns: SpokenTurn[] = [];
  readonly emitted: Pick<A2aEvent, 'runId'>[] = [];
  error: (TurnFailure & { turn: number }) | undefined;
  outcome: ConversationOutcome | undefined;
  /** Time of the end, in milliseconds since 1970; `undefined` before. */
  endedAt: number | undefined;

  constructor(private readonly start: DialogueStart) {}

  /** Text of the last turn; before turn 0, the `message` of the settings, which becomes turn 0. */
  get lastText(): string {
    return this.turns.at(-1)?.text ?? this.start.settings.message;
  }

  /** Number of the last possible turn. It is 1 if there is no loop (no requester, or both sides are the same agent). */
  get lastTurn(): number {
    const { settings, self } = this.start;
    return self || settings.requester === undefined ? 1 : settings.maxTurns + 1;
  }

  /** Applies an emitted event. */
  applyEvent({ runId, ts, data, outcome }: A2aEvent): void {
    this.emitted.push({ runId });
    const { phase } = data;
    if (phase === 'complete') Object.assign(this, { outcome, endedAt: ts });
    else if (phase === 'error') this.error = pickFailure(data);
    else this.turns.push({ turn: data.turn, fromAgent: data.fromAgent, toAgent: data.toAgent, text: data.text, ts });
  }

  /** Drafts turn 0, which calls no agent; `undefined` once it is emitted. */
  draftOpening(): A2aDraft | undefined {
    return this.turns.length === 0 ? this.draftTurn(0, this.start.settings.message) : undefined;
  }

  /**
   * Returns the turn for which an agent is called next. Returns `undefined` before turn 0 is emitted, and when no turn
   * is left or a turn has failed: the caller then emits the result of `draftEnd`, unless it was emitted.
   */
  findPending(): PendingTurn | undefined {
    const turn = this.turns.length;
    if (turn === 0 || turn > this.lastTurn || this.error || this.outcome) return undefined;
    return { turn, speaker: speakerOf(turn), text: this.lastText };
  }

  /**
   * Drafts the event that follows from the reply to the pending turn:
   * - after a failure, the error event of the turn;
   * - after an empty text or the skip token, the complete event, with the outcome `skipped`;
   * - otherwise the event of the turn, with the text.
   */
  draftReply({ turn }: PendingTurn, reply: TurnReply): A2aDraft {
    if ('failure' in reply) return this.draftFailure(turn, reply.failure);
    if (reply.text.trim() === '' || isToken(reply.text, REPLY_SKIP)) return this.draftEnd('skipped');
    return this.draftTurn(turn, reply.text);
  }

  /**
   * Drafts the complete event, the last event of a conversation.
   * @param outcome by default `timeout` or `error` after an error event, otherwise `max_turns` or `done`
   */
  draftEnd(outcome: ConversationOutcome = this.natural): A2aDraft {
    return { data: { ...this.nameParties(0), phase: 'complete' }, outcome };
  }

  private get natural(): ConversationOutcome {
    if (this.error) return this.error.code === TIMEOUT ? 'timeout' : 'error';
    return this.lastTurn > 1 && this.turns.length > this.lastTurn ? 'max_turns' : 'done';
  }

  private draftTurn(turn: number, text: string): A2aDraft {
    const { maxTurns } = this.start.settings;
    return { data: { ...this.nameParties(turn), turn, maxTurns, text, phase: 'turn' } };
  }

  private draftFailure(turn: number, { code, message, retryable }: TurnFailure): A2aDraft {
    return { data: { ...this.nameParties(turn), turn, code, message, retryable, phase: 'error' } };
  }

  private nameParties(turn: number): Pick<A2aData, 'conversationId' | 'fromAgent' | 'toAgent'> {
    const { conversationId, settings } = this.start;
    const speaker = speakerOf(turn);
    return {
      conversationId,
      fromAgent: sideName(speaker, settings),
      toAgent: sideName(speaker === 'requester' ? 'target' : 'requester', settings),
    };
  }
}

function pickFailure({
  turn,
  code,
  message,
  retryable,
}: TurnFailure & { turn: number }): TurnFailure & { turn: number } {
  return { turn, code, message, retryable };
}

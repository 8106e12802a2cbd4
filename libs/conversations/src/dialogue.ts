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

/** A turn that an agent is to be asked for. */
export interface PendingTurn {
  turn: number;
  speaker: Side;
  /** What the other side said: the one Part that the speaker is sent. */
  text: string;
}

export interface DialogueStart {
  conversationId: string;
  settings: ConversationSettings;
  /** Whether both sides are the same agent: there is no loop then. */
  self: boolean;
}

/**
 * The rules of a conversation, without any I/O: who speaks next, what a reply means, what is emitted. It decides and
 * does not remember: `take` is given each event once it was emitted.
 */
export class Dialogue {
  readonly turns: Turn[] = [];
  readonly emitted: Pick<A2aEvent, 'runId'>[] = [];
  error: (TurnFailure & { turn: number }) | undefined;
  outcome: Outcome | undefined;
  /** When the end was emitted; epoch milliseconds. */
  endedAt: number | undefined;

  constructor(private readonly start: DialogueStart) {}

  /** The last text, which may be the first. */
  get lastText(): string {
    return this.turns.at(-1)?.text ?? this.start.settings.message;
  }

  /** The last turn that may come. */
  get lastTurn(): number {
    const { settings, self } = this.start;
    return self || settings.requester === undefined ? 1 : settings.maxTurns + 1;
  }

  /** Takes in an event that was emitted. */
  take({ runId, ts, data, outcome }: A2aEvent): void {
    this.emitted.push({ runId });
    const { phase } = data;
    if (phase === 'complete') Object.assign(this, { outcome, endedAt: ts });
    else if (phase === 'error') this.error = failureOf(data);
    else this.turns.push({ turn: data.turn, fromAgent: data.fromAgent, toAgent: data.toAgent, text: data.text, ts });
  }

  /** Turn 0, which nobody is asked for; `undefined` once it was emitted. */
  opening(): A2aDraft | undefined {
    return this.turns.length === 0 ? this.turn(0, this.start.settings.message) : undefined;
  }

  /** The turn to ask for; `undefined` where the conversation is to be completed. */
  pending(): PendingTurn | undefined {
    const turn = this.turns.length;
    if (turn === 0 || turn > this.lastTurn || this.error || this.outcome) return undefined;
    return { turn, speaker: speakerOf(turn), text: this.lastText };
  }

  /** What a reply to the pending turn makes known. */
  answered({ turn }: PendingTurn, reply: Reply): A2aDraft {
    if ('failure' in reply) return this.failed(turn, reply.failure);
    if (reply.text.trim() === '' || isToken(reply.text, REPLY_SKIP)) return this.completed('skipped');
    return this.turn(turn, reply.text);
  }

  /** The end: for a reason from outside, or the one that follows from what was emitted. */
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

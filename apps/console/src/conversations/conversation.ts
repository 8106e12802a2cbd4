import type { Schemas } from '#libs/client';

export type Conversation = Schemas['ConversationDetail'];
export type ConversationSummary = Schemas['ConversationSummary'];
export type ConversationEnd = NonNullable<Conversation['outcome']>;
export type Turn = Schemas['ConversationTurn'];

export type SpeakerSide = 'requester' | 'target';

/** Name in the API for a requester that is not an agent. */
const NOBODY = 'unknown';

/** Returns the name to show for a participant. */
export function shownName(name: string): string {
  return name === NOBODY ? 'Somebody' : name;
}

/** Returns the title of a conversation: its two participants. */
export function titleOf({ requester, target }: Pick<ConversationSummary, 'requester' | 'target'>): string {
  return `${shownName(requester)} → ${target}`;
}

/** Returns the side that speaks in a turn; the requester has the even turns. */
export function sideOf(turn: number): SpeakerSide {
  return turn % 2 === 0 ? 'requester' : 'target';
}

/** Returns the side that speaks next, and its agent's name; `undefined` if the conversation is complete. */
export function nextSpeaker(it: Conversation): { side: SpeakerSide; name: string } | undefined {
  if (it.status === 'complete') return undefined;
  const side = sideOf((it.turns.at(-1)?.turn ?? -1) + 1);
  return { side, name: it[side] };
}

/**
 * Returns the status that the badge of a conversation shows: `paused` or `input-required` for an active conversation
 * that is paused, otherwise the conversation's own status.
 */
export function getBadgeStatus({ status, paused, question }: Omit<Conversation, 'turns'>): string {
  if (status !== 'active' || !paused) return status;
  return question === undefined ? 'paused' : 'input-required';
}

/** Returns the label of an outcome. */
export function outcomeLabel(outcome: ConversationEnd): string {
  return OUTCOMES[outcome].label;
}

/** Returns the end of a conversation in a sentence; `undefined` while it continues. */
export function endingSentence({ outcome, error, maxTurns, target }: Conversation): string | undefined {
  if (outcome === undefined) return undefined;
  if (error) return `Turn ${error.turn} failed: ${error.message}${error.retryable ? ' It may succeed later.' : ''}`;
  return OUTCOMES[outcome].sentence.replace('{maxTurns}', String(maxTurns)).replace('{target}', target);
}

/**
 * Returns a sentence that says if the agent named by `announce` has announced the conversation's last text; `undefined`
 * without such an agent, or before it has answered.
 */
export function announcementSentence({ announcement }: Conversation): string | undefined {
  return announcement && ANNOUNCEMENTS[announcement];
}

const OUTCOMES: Readonly<Record<ConversationEnd, { label: string; sentence: string }>> = {
  done: { label: 'done', sentence: 'There was nothing more to say.' },
  skipped: { label: 'skipped', sentence: 'An agent had nothing more to say.' },
  max_turns: { label: 'turn limit', sentence: 'The limit of {maxTurns} turns after the first answer was reached.' },
  error: { label: 'error', sentence: 'A turn failed.' },
  canceled: { label: 'canceled', sentence: 'It was canceled.' },
  timeout: { label: 'timeout', sentence: 'An agent took too long to answer.' },
};

const ANNOUNCEMENTS: Readonly<Record<NonNullable<Conversation['announcement']>, string>> = {
  delivered: 'The last text was announced.',
  silenced: 'The announcing agent chose to announce nothing.',
  failed: 'The last text could not be announced.',
};

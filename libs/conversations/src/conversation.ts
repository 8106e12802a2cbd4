import { withoutUserinfo } from '#libs/protocol';
/** Whose turn it is: the requester speaks in even turns, the target in odd ones. */
export type Side = 'requester' | 'target';

/** How a conversation came to its end. */
export type Outcome =
  /** There was nothing more to say: no loop was asked for, or somebody stopped it between two turns. */
  | 'done'
  /** An agent answered with the skip token, or with nothing. */
  | 'skipped'
  /** The limit of the loop was reached. */
  | 'max_turns'
  | 'error'
  | 'canceled'
  | 'timeout';

/** Who may be called: either side, or who is told the end. */
export type CalledParty = Side | 'announce';

/** How agents elsewhere are told what a conversation wants of them. */
export type Instructions = (typeof INSTRUCTIONS)[number];
export const INSTRUCTIONS = ['text', 'none'] as const;

/** The call of a tool by which an agent began a conversation. */
export interface ConversationOrigin {
  /** The agent's Task. */
  taskId: string;
  /** Id of the call in that Task. */
  call: string;
}

/** What a conversation is about, as its caller asked for it. */
export interface ConversationSettings {
  /** An agent reference; absent: nobody answers the target, to whom the other side is `unknown`. */
  requester?: string;
  /** An agent reference. */
  target: string;
  message: string;
  /** How many turns follow the first answer; 0 to 20. */
  maxTurns: number;
  /** Milliseconds that an agent has for one turn. */
  timeoutMs: number;
  /** An agent reference: who is told the last text. */
  announce?: string;
  /** How an agent elsewhere that does not read entries gets the prompt of its step: as a text Part; not at all unless set. */
  instructions?: Instructions;
  /** The names of the credentials for those of them that are URLs. */
  auth?: Partial<Record<CalledParty, string>>;
  /** Present where an agent began it by a tool. */
  origin?: ConversationOrigin;
  /** Revision of such a requester; absent: the newest one at each turn. */
  requesterRevision?: string;
}

export const DEFAULT_MAX_TURNS = 5;
export const MOST_TURNS = 20;
/** Milliseconds that an agent has for one turn where its caller sets no limit. */
export const DEFAULT_TURN_MS = 60_000;
/** The longest limit that a caller may set, in milliseconds: an hour, as for a brainstorm's agents. */
export const LONGEST_TURN_MS = 3_600_000;

/** The name of a requester that is not there, in `fromAgent` and `toAgent`. */
export const UNKNOWN_AGENT = 'unknown';

/** One thing that was said. */
export interface Turn {
  /** From 0. */
  turn: number;
  fromAgent: string;
  toAgent: string;
  text: string;
  /** Epoch milliseconds. */
  ts: number;
}

/** Why a turn could not be made. `message` quotes the agent, never our internals. */
export interface TurnFailure {
  code: string;
  message: string;
  /** Whether the same turn may well succeed later. */
  retryable: boolean;
}

/** What came of asking an agent for its turn. */
export type Reply = { text: string } | { failure: TurnFailure };

/** The failure of an agent that took too long. */
export const TIMEOUT = 'TIMEOUT';

export function speakerOf(turn: number): Side {
  return turn % 2 === 0 ? 'requester' : 'target';
}

/** How a side was named, as it is shown. */
export function nameOf(side: Side, settings: Pick<ConversationSettings, 'requester' | 'target'>): string {
  return withoutUserinfo(side === 'target' ? settings.target : (settings.requester ?? UNKNOWN_AGENT));
}

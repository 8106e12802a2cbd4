import { withoutUserinfo } from '#libs/protocol';
/** Side of a conversation: the requester speaks in even turns, the target in odd ones. */
export type Side = 'requester' | 'target';

/** Outcome of a conversation. */
export type ConversationOutcome =
  /** The conversation is complete: there is no loop, or a caller stopped it between two turns. */
  | 'done'
  /** An agent answered with the skip token, or with an empty text. */
  | 'skipped'
  /** The turn limit was reached. */
  | 'max_turns'
  | 'error'
  | 'canceled'
  | 'timeout';

/** Agents that a conversation may call: either side, or the announcer. */
export type CalledParty = Side | 'announce';

/** Form in which agents elsewhere receive their instructions. */
export type Instructions = (typeof INSTRUCTIONS)[number];
export const INSTRUCTIONS = ['text', 'none'] as const;

/** Tool call by which an agent started a conversation. */
export interface TalkOrigin {
  /** The agent's Task. */
  taskId: string;
  /** Id of the call within that Task. */
  call: string;
}

/** Settings of a conversation, from its request. */
export interface ConversationSettings {
  /** Agent reference. If absent, the target gets no reply, and the other side is `unknown` to it. */
  requester?: string;
  /** Agent reference. */
  target: string;
  message: string;
  /** Number of turns after the first answer; 0 to 20. */
  maxTurns: number;
  /** Milliseconds for one turn of an agent. */
  timeoutMs: number;
  /** Reference of the agent that announces the end. */
  announce?: string;
  /** Form of the instructions for an agent elsewhere that reads no entries: a text Part, or none unless set. */
  instructions?: Instructions;
  /** Names of credentials for agents that are given by URLs. */
  auth?: Partial<Record<CalledParty, string>>;
  /** Present if an agent started the conversation by a tool. */
  origin?: TalkOrigin;
  /** Revision of such a requester; the newest at each turn if absent. */
  requesterRevision?: string;
}

export const DEFAULT_MAX_TURNS = 5;
export const MOST_TURNS = 20;
/** Default milliseconds for one turn of an agent. */
export const DEFAULT_TURN_MS = 60_000;
/** Maximum milliseconds for one turn of an agent: an hour, as for the agents of a brainstorm. */
export const LONGEST_TURN_MS = 3_600_000;

/** Name of an absent requester in `fromAgent` and `toAgent`. */
export const UNKNOWN_AGENT = 'unknown';

/** Text of one turn. */
export interface SpokenTurn {
  /** Number of the turn, from 0. */
  turn: number;
  fromAgent: string;
  toAgent: string;
  text: string;
  /** Epoch milliseconds. */
  ts: number;
}

/** Failure of a turn. `message` may quote the agent and never contains internals. */
export interface TurnFailure {
  code: string;
  message: string;
  /** True if the same turn may succeed later. */
  retryable: boolean;
}

/** Result of asking an agent for its turn. */
export type TurnReply = { text: string } | { failure: TurnFailure };

/** Code of the failure of an agent that exceeded its time limit. */
export const TIMEOUT = 'TIMEOUT';

export function speakerOf(turn: number): Side {
  return turn % 2 === 0 ? 'requester' : 'target';
}

/** Returns the displayed name of a side. */
export function sideName(side: Side, settings: Pick<ConversationSettings, 'requester' | 'target'>): string {
  return withoutUserinfo(side === 'target' ? settings.target : (settings.requester ?? UNKNOWN_AGENT));
}

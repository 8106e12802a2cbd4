import { withoutUserinfo } from '#libs/protocol';
/** Side of a conversation: the requester speaks in even turns, the target in odd ones. */
export type Side = 'requester' | 'target';

/** Outcome of a conversation. */
export type ConversationOutcome =
  /**
   * The conversation is complete. Either there was no loop (only turns 0 and 1), or a caller stopped it between two
   * turns.
   */
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

/**
 * Form in which a remote agent gets the prompt of a turn if its card does not declare the extension of conversations:
 * as a `text` Part, or not at all (`none`).
 */
export type Instructions = (typeof INSTRUCTIONS)[number];
export const INSTRUCTIONS = ['text', 'none'] as const;

/** Tool call of an agent that started a conversation. */
export interface TalkOrigin {
  /** Id of the Task of the agent whose model called the tool. */
  taskId: string;
  /** Id of the tool call within that Task. */
  call: string;
}

/** Settings of a conversation, from its request. */
export interface ConversationSettings {
  /**
   * Reference of the requester: the name, path or URL of an agent. If absent, the target's answer is the last turn,
   * and the target sees the other side as `unknown`.
   */
  requester?: string;
  /** Reference of the target: the name, path or URL of an agent. */
  target: string;
  message: string;
  /** Maximum number of turns after the first answer; 0 to 20. */
  maxTurns: number;
  /** Time limit of one turn of an agent, in milliseconds. */
  timeoutMs: number;
  /** Reference of the agent that announces the end (the announcer); absent: the end is not announced. */
  announce?: string;
  /**
   * Form of the prompt for a remote agent that does not read the metadata entry of a conversation: a text Part, or none
   * (the default).
   */
  instructions?: Instructions;
  /**
   * Names of stored credentials, by the party that they authenticate to. Only agents given by URL need a credential.
   */
  auth?: Partial<Record<CalledParty, string>>;
  /** Tool call of the agent that started the conversation; absent if no agent did. */
  origin?: TalkOrigin;
  /** Revision of the requester's workflow, if a tool started the conversation. If absent, each turn uses the newest. */
  requesterRevision?: string;
}

/** Default of `maxTurns`, the maximum number of turns after the first answer. */
export const DEFAULT_MAX_TURNS = 5;
/** Largest allowed `maxTurns`. */
export const MOST_TURNS = 20;
/** Default milliseconds for one turn of an agent. */
export const DEFAULT_TURN_MS = 60_000;
/** Maximum milliseconds for one turn of an agent: an hour, as for the agents of a brainstorm. */
export const LONGEST_TURN_MS = 3_600_000;

/** Name of an absent requester in `fromAgent` and `toAgent`. */
const UNKNOWN_AGENT = 'unknown';

/** Text of one turn. */
export interface SpokenTurn {
  /** Number of the turn, from 0. */
  turn: number;
  fromAgent: string;
  toAgent: string;
  text: string;
  /** Time of the turn, in milliseconds since 1970. */
  ts: number;
}

/** Failure of a turn. `message` may quote the agent and never contains internals. */
export interface TurnFailure {
  code: string;
  message: string;
  /** True if the same turn may succeed later. */
  retryable: boolean;
}

/** Result of calling an agent for its turn. */
export type TurnReply = { text: string } | { failure: TurnFailure };

/** Code of the failure of an agent that exceeded its time limit. */
export const TIMEOUT = 'TIMEOUT';

/** Returns the side that speaks in a turn: the requester in even turns, the target in odd ones. */
export function speakerOf(turn: number): Side {
  return turn % 2 === 0 ? 'requester' : 'target';
}

/**
 * Returns the displayed name of a side of the conversation: its reference in the settings, without a user name and
 * password in a URL. The name of an absent requester is `unknown`.
 */
export function sideName(side: Side, settings: Pick<ConversationSettings, 'requester' | 'target'>): string {
  return withoutUserinfo(side === 'target' ? settings.target : (settings.requester ?? UNKNOWN_AGENT));
}

import type { SaidText } from '#libs/executor';
import type { JsonObject, Message, TaskState } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import type { CalledAgent } from './process-calls.js';

/** Conversation that an agent starts by a tool. */
export interface TalkRequest {
  /** Path of the agent that starts it, which is the requester. */
  requester: string;
  /** Reference of the other side. */
  target: string;
  /** First text of the requester. */
  message: string;
  /** Number of turns after the first answer; 0 to 20. */
  maxTurns: number;
  /** Milliseconds for one turn of an agent. */
  timeoutMs: number;
  /** Reference of the agent that announces the end. */
  announce?: string;
  /** Name of the stored credential for the target. */
  credential?: string;
}

/** Facts about a conversation that only this service may state. */
export interface TalkSource {
  /** Tool call that starts the conversation, and the Task whose model makes it. */
  origin: { taskId: string; call: string };
  /** Texts of that Task up to the call, oldest first. */
  before: readonly SaidText[];
  /** Revision of the agent for which the Task was accepted; the requester keeps it. */
  revision?: string;
}

/** Input that a conversation waits for. */
export interface TalkQuestion {
  state: TaskState;
  /** Message that passes on an agent's question; absent if the conversation is paused. */
  asked?: Message;
}

/** Result of a conversation, as far as its requester waits for it. */
export type TalkOutcome =
  /** `{conversationId, outcome, turns, error?}` at the end, or `{conversationId, reply}` after the first answer. */
  | { result: JsonObject }
  /** The conversation waits; a Message to it resumes it. */
  | { question: TalkQuestion }
  /** Why there is no result. */
  | { error: string };

/** Extent to which a requester waits for a conversation: until its end (`wait`), or until the first answer. */
export interface TalkWait {
  wait: boolean;
  /** Signal of the waiting execution. */
  signal: AbortSignal;
}

/** Lets an agent start a conversation with another one. Its Task belongs to an agent of this service. */
export abstract class AgentTalks {
  /** Returns the target of calls that start conversations. */
  abstract conversationTarget(): Pick<CalledAgent, 'own' | 'findTarget'>;

  /** Returns the Message that starts a conversation, without its source. */
  abstract requestMessage(request: TalkRequest, fields: Pick<Message, 'messageId'>): Message;

  /**
   * Returns the Message with its source, signed for its owner. The conversation shows the origin. The requester
   * receives the newest earlier texts before turn 0, up to a size limit.
   */
  abstract withSource(message: Message, source: TalkSource, scope: TaskScope): Message;

  /**
   * Waits for a conversation, whichever replica executes it. The same log gives the same result.
   * @throws the signal's reason
   */
  abstract awaitOutcome(conversationId: string, wait: TalkWait): Promise<TalkOutcome>;
}

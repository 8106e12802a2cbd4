import type { SaidText } from '#libs/executor';
import type { JsonObject, Message, TaskState } from '#libs/protocol';
import type { TaskScope } from '#libs/tasks';
import type { CalledAgent } from './process-calls.js';

/** A conversation that an agent asks for by a tool. */
export interface TalkRequest {
  /** Path of the agent that asks, which is the requester. */
  requester: string;
  /** Reference of the other side. */
  target: string;
  /** What the requester says first. */
  message: string;
  /** Number of turns that may follow the first answer; 0 to 20. */
  maxTurns: number;
  /** Milliseconds that an agent has for one turn. */
  timeoutMs: number;
  /** Reference of the agent that the end is announced to. */
  announce?: string;
  /** Name of the stored credential for the target. */
  credential?: string;
}

/** What only this service may say of a conversation that an agent asks for. */
export interface TalkSource {
  /** The call that asks, and the Task whose model makes it. */
  origin: { taskId: string; call: string };
  /** What was said in that Task until the call, oldest first. */
  before: readonly SaidText[];
  /** Revision of the agent that the Task was accepted by, which the requester keeps. */
  revision?: string;
}

/** What a conversation waits for. */
export interface TalkQuestion {
  state: TaskState;
  /** The Message with which an agent's question is passed on; absent: the conversation is paused. */
  asked?: Message;
}

/** What came of a conversation, as far as its requester waits for it. */
export type TalkOutcome =
  /** `{conversationId, outcome, turns, error?}` at the end, or `{conversationId, reply}` after the first answer. */
  | { result: JsonObject }
  /** A Message to the conversation goes on with it. */
  | { question: TalkQuestion }
  /** Why nothing can be said of the conversation. */
  | { error: string };

/** How long a requester waits for a conversation: for its end, or for the first answer. */
export interface TalkWait {
  wait: boolean;
  /** Of the execution that waits. */
  signal: AbortSignal;
}

/** Lets an agent hold a conversation with another one. Its Task is that of an agent of this service. */
export abstract class AgentTalks {
  /** Returns whom a conversation is asked of. */
  abstract called(): Pick<CalledAgent, 'own' | 'target'>;

  /** Returns the Message that asks for a conversation, without its source. */
  abstract message(request: TalkRequest, fields: Pick<Message, 'messageId'>): Message;

  /**
   * Returns the Message with its source, signed for its owner: the conversation shows the origin, and the requester is sent
   * the newest texts before turn 0, as far as there is room for them.
   */
  abstract informed(message: Message, source: TalkSource, scope: TaskScope): Message;

  /**
   * Waits for a conversation, whichever replica goes on with it: the same answer for the same log.
   * @throws the signal's reason
   */
  abstract outcome(conversationId: string, wait: TalkWait): Promise<TalkOutcome>;
}

import type { AgentClient, CallOptions } from '#libs/a2a-client';
import type { ChainLink, CallChains, RequestContext } from '#libs/executor';
import type { Message, Part, SendMessageRequest } from '#libs/protocol';
import type { KeptContext } from './kept-context.js';

/** Who calls, what for, and by which right: what the cancel of a call needs as well. */
export type CallIdentity = Pick<
  CallOptions,
  'scope' | 'parent' | 'revision' | 'credential' | 'onlyToHosts' | 'protocol'
>;

export interface CallTarget {
  url: string;
  /** The agent's name in the call chain; its URL unless set otherwise. */
  calledAgent?: string;
}

/** The Task that calls, in its execution. */
export interface CallingTask {
  context: Pick<RequestContext, 'taskId' | 'flush' | 'prove' | 'trace'>;
  /** The agent whose Task it is, as the call chain names it. */
  agent: string;
  /** The calls that led to the Task, and who signs this one. Absent: the agent is not told, since it calls nobody. */
  chain?: { links: readonly ChainLink[]; signer: CallChains };
  /** `performance.now()` before the event that says of this call was yielded; absent: another process yielded it. */
  announcedAt?: number;
  /** The agent works in this process: its Task is never durable before ours, which nobody waits for then. */
  staysHere?: boolean;
}

/** One call of one agent. Whoever recovers a Task makes the same one of it, with the same messageId. */
export interface AgentCallSpec {
  identity: CallIdentity;
  /** Of the execution that calls. Where a caller cancels, an agent that was only just called may tell of its Task. */
  signal: AbortSignal;
  /** Its `messageId` follows from what the call is for. The call chain is added to it. */
  request: SendMessageRequest;
  /**
   * Present: data that the agent does not take goes to it as JSON text, and of a file that it does not take a line about
   * the file. Told of those files, of none as well, once before the Message leaves.
   */
  adapt?(unread: readonly Part[]): void;
  /** Returns the Message as the agent gets it, now that its card is known; the same for every attempt. */
  complete?(message: Message, client: Pick<AgentClient, 'declares'>): Message;
  /** The agent's context of earlier calls: a Message that begins a Task is sent in it. Absent: in none. */
  context?: KeptContext;
  /** Where the agent is. Part of the call: what it throws, the call fails with. */
  target(): CallTarget | Promise<CallTarget>;
  /** The last word before the agent is called, after the check for loops; part of the call. */
  admit?(): Promise<void>;
  /** Absent where no Task calls: such a call is neither recorded nor found again. */
  by?: CallingTask;
  /** An agent of this service, which makes one Task of a Message however often it comes. */
  own?: boolean;
  /** The Task that an earlier call of the same request has made, or that the Message is for: it is followed first. */
  known?: string;
  /** That Task has the Message for certain. */
  delivered?: boolean;
  /** What is done where the agent does not know that Task any more: it gets the Message again, unless the call fails. */
  forgotten?: 'send';
  /** Milliseconds for the whole call; no other limit speaks then. */
  limit?: number;
  /** Called where the limit stops because nothing of the answer is read: no other clock knows the call's time from then on. */
  onPause?(): void;
  /** Called where the limit counts from that moment on, and not from `since`. */
  onRestart?(): void;
  /**
   * From when the limit counts, in milliseconds of the epoch, where another execution decided on the call. The limit
   * counts from the Message where that was never sent: an own agent has no Task of it, or a known Task still waits for it.
   */
  since?: number;
  /** How often the Message is sent again inside this call after 5xx and time-outs; the client's rule unless set. */
  resends?: number;
  /** Limits of single steps, where there is none for the whole. */
  timeouts?: CallOptions['timeouts'];
}

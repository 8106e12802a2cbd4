import type { AgentClient, AgentCallOptions } from '#libs/a2a-client';
import type { ChainLink, CallChains, RequestContext } from '#libs/executor';
import type { Message, Part, SendMessageRequest } from '#libs/protocol';
import type { KeptContext } from './kept-context.js';

/** Identity and authorization of the caller, which the cancel of a call needs as well. */
export type CallIdentity = Pick<
  AgentCallOptions,
  'scope' | 'parent' | 'revision' | 'credential' | 'onlyToHosts' | 'protocol'
>;

export interface CallTarget {
  url: string;
  /** Name of the agent in the call chain; its URL unless set. */
  calledAgent?: string;
}

/** Task that calls, in its current execution. */
export interface CallingTask {
  context: Pick<RequestContext, 'taskId' | 'flush' | 'assertClaimHeld' | 'trace'>;
  /** Agent that owns the Task, as the call chain names it. */
  agent: string;
  /**
   * Calls that led to the Task, and the signer of this one. If absent, the agent is not told about them, since it makes
   * no calls.
   */
  chain?: { links: readonly ChainLink[]; signer: CallChains };
  /**
   * `performance.now()` before this execution yielded the event that announces the call; absent if another execution
   * did.
   */
  announcedAt?: number;
  /**
   * True if the agent works in this process. Its Task is never durable before the calling one, so the call does not
   * wait for a commit.
   */
  staysHere?: boolean;
}

/**
 * Specification of one call of one agent. The recovery of a Task creates the same specification, with the same
 * messageId.
 */
export interface AgentCallSpec {
  identity: CallIdentity;
  /**
   * Signal of the calling execution. After a cancel, an agent that was just called still has a moment to report its
   * Task.
   */
  signal: AbortSignal;
  /** Request of the call. Its `messageId` is derived from the purpose of the call. The call chain is added to it. */
  request: SendMessageRequest;
  /**
   * Makes the call adapt Parts that the agent does not accept: data is sent as JSON text, a file as a line about it.
   * Called once before the Message is sent, with those files, even if there are none.
   */
  adapt?(unread: readonly Part[]): void;
  /** Returns the Message for the agent once its card is known; the same for every attempt. */
  complete?(message: Message, client: Pick<AgentClient, 'declaresExtension'>): Message;
  /** The agent's context of earlier calls. A Message that starts a Task is sent in that context, if any. */
  context?: KeptContext;
  /** Returns the address of the agent. An error that it throws fails the call. */
  findTarget(): CallTarget | Promise<CallTarget>;
  /** Runs last before the agent is called, after the loop check. An error that it throws fails the call. */
  admit?(): Promise<void>;
  /** The calling Task. Without one, the call is neither recorded nor found again. */
  by?: CallingTask;
  /** True for an agent of this service, which creates one Task for a Message, however often it is sent. */
  own?: boolean;
  /** Task that an earlier call of the same request created, or that the Message is for. It is followed first. */
  known?: string;
  /** True if the agent is known to have received the Message for this Task. */
  delivered?: boolean;
  /** Set to send the Message again if the agent no longer knows that Task; otherwise the call fails. */
  forgotten?: 'send';
  /** Time limit of the whole call in milliseconds; it replaces all other limits. */
  limit?: number;
  /**
   * Called when the limit is suspended because the answer is not being read. From then on no other clock measures the
   * call.
   */
  onPause?(): void;
  /** Called when the limit restarts now and no longer counts from `since`. */
  onRestart?(): void;
  /**
   * Start of the limit in epoch milliseconds, if another execution announced the call. If the Message was never sent,
   * the limit starts with the Message: a local agent has no Task for it, or a known Task still waits for it.
   */
  since?: number;
  /** Retries of the Message within this call after 5xx and timeouts; the client's default unless set. */
  resends?: number;
  /** Limits of single steps, if there is no limit for the whole call. */
  timeouts?: AgentCallOptions['timeouts'];
}

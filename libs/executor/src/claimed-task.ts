import type { Message, SendMessageRequest, Task } from '#libs/protocol';
import type { Idempotency, StoredTask, TaskClaim, TaskEvent } from '#libs/tasks';
import type { ServedAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';

/** Task that this process has claimed. */
export interface ClaimedTask {
  agent: ServedAgent;
  stored: StoredTask;
  token: string;
  call: CallContext;
}

/** Message to a waiting Task, and the claim with which it is written. */
export interface Resumption {
  agent: ServedAgent;
  claim: TaskClaim;
  request: SendMessageRequest;
  call: CallContext;
  once: Idempotency | undefined;
  /** Last sequence of the log that the Message answers. */
  after: number | undefined;
}

/** Task that was adopted or woken, with its unfinished turn. */
export interface RecoveredTurn extends ClaimedTask {
  userMessage: Message;
  task: Task | null;
  acceptedAt: number;
  /** The complete log. */
  log: readonly TaskEvent[];
}

import type { Message, SendMessageRequest, Task } from '#libs/protocol';
import type { Idempotency, StoredTask, TaskClaim, TaskEvent } from '#libs/tasks';
import type { ServedAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';

/** A Task that this process has claimed. */
export interface ClaimedTask {
  agent: ServedAgent;
  stored: StoredTask;
  token: string;
  call: CallContext;
}

/** A Message to a Task that waits, and the claim that it is written with. */
export interface Resumption {
  agent: ServedAgent;
  claim: TaskClaim;
  request: SendMessageRequest;
  call: CallContext;
  once: Idempotency | undefined;
  /** Last sequence of the log that the Message answers to. */
  after: number | undefined;
}

/** A Task that was taken over or woken, with the turn that was under way. */
export interface RecoveredTurn extends ClaimedTask {
  userMessage: Message;
  task: Task | null;
  acceptedAt: number;
  /** The whole of it. */
  log: readonly TaskEvent[];
}

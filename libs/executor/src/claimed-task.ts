import type { Message, Task } from '#libs/protocol';
import type { StoredTask, TaskEvent } from '#libs/tasks';
import type { ServedAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';

/** A Task that this process has claimed. */
export interface ClaimedTask {
  agent: ServedAgent;
  stored: StoredTask;
  token: string;
  call: CallContext;
}

/** A Task that was taken over or woken, with the turn that was under way. */
export interface RecoveredTurn extends ClaimedTask {
  userMessage: Message;
  task: Task | null;
  acceptedAt: number;
  /** The whole of it. */
  log: readonly TaskEvent[];
}

import { setTimeout as delay } from 'node:timers/promises';
import type { CallContext, ServedAgent } from '#libs/agents';
import {
  A2AError,
  isTerminalState,
  isWaitingState,
  type Message,
  type SendMessageRequest,
  type Task,
} from '#libs/protocol';
import type { Idempotency, StoredTask, TaskClaim, TaskEvent, TaskStore } from '#libs/tasks';

/**
 * Maximum time, in milliseconds, that a Message waits for a Task that another execution has claimed. It is long enough
 * for a living replica to adopt the Tasks of a dead one, and for a replica to release claims that it does not use.
 */
const PATIENCE_MS = 15_000;
const LOOK_MS = 100;
const TASK_BUSY = 'TASK_BUSY';

/**
 * Claims a waiting Task: makes this replica its only writer. If the Task is already claimed, there are two cases, and
 * in both the function waits:
 * - Another Message is about to resume the Task: until that Message has written an event.
 * - The claiming replica was lost or failed: until the claim is released.
 * @returns `undefined` if the Task does not wait for a Message, or has progressed in the meantime
 * @throws A2AError INTERNAL with reason TASK_BUSY and status 503 if neither happens in time, or this process stops
 */
export async function claimWaiting(
  store: Pick<TaskStore, 'claimTask' | 'readHeader'>,
  { taskId, token }: TaskClaim,
  replicaId: string,
  signal: AbortSignal,
): Promise<StoredTask | undefined> {
  const begun = performance.now();
  let seen: number | undefined;
  for (;;) {
    const stored = await store.claimTask(taskId, replicaId, token, 'waiting');
    if (stored) return stored;
    const header = await store.readHeader(taskId);
    if (!header || !isWaitingState(header.state)) return undefined;
    seen ??= header.lastSequence;
    if (header.lastSequence !== seen) return undefined;
    if (performance.now() - begun > PATIENCE_MS || signal.aborted) throw taskBusy(taskId);
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the error for a Message whose Task could not be claimed: the Task is unknown, has ended or is working. */
export async function explainClaimRefusal(store: Pick<TaskStore, 'readHeader'>, taskId: string): Promise<A2AError> {
  const header = await store.readHeader(taskId);
  if (!header) return new A2AError('TASK_NOT_FOUND', { metadata: { taskId } });
  const what = isTerminalState(header.state) ? `has ended (${header.state})` : 'is being worked on';
  const message = `The task ${what} and takes no message`;
  return new A2AError('UNSUPPORTED_OPERATION', { message, metadata: { taskId } });
}

/**
 * True if the error says that a Message was not stored because another request has claimed its Task. That request may
 * have stored the same Message.
 */
export function isTaskBusy(error: unknown): boolean {
  return error instanceof A2AError && error.detailReason === TASK_BUSY;
}

function taskBusy(taskId: string): A2AError {
  const message =
    'Another request holds the task, and this message was not stored; try again later with the same Idempotency-Key, if any';
  return new A2AError('INTERNAL', { message, detailReason: TASK_BUSY, status: 503, metadata: { taskId } });
}

/**
 * Time for which BegunClaims contains a claim (right to write a Task), in milliseconds. After this time the claim
 * counts as a claim without an execution, even if the SQL statement that acquires it was not answered yet.
 */
const LONGEST_MS = 60_000;

/**
 * Claims (rights to write Tasks) that this process is acquiring and has not passed to an execution yet, by token. For a
 * minute, such a claim does not count as a claim without an execution, even if the statement or the reading of the log
 * takes long.
 */
export class BegunClaims {
  /** Time at which acquiring each claim began, in milliseconds by `performance.now()`. */
  private readonly begunAt = new Map<string, number>();

  /**
   * Runs a function that claims a Task with the token, and then starts the Task's execution or releases the claim.
   * The token is in this set while the function runs.
   */
  async runClaiming<T>(token: string, claim: () => Promise<T>): Promise<T> {
    this.begunAt.set(token, performance.now());
    try {
      return await claim();
    } finally {
      this.begunAt.delete(token);
    }
  }

  has(token: string): boolean {
    const begunAt = this.begunAt.get(token);
    return begunAt !== undefined && performance.now() - begunAt < LONGEST_MS;
  }
}

/** Task that this process has claimed: it has the exclusive right to write the Task. */
export interface ClaimedTask {
  agent: ServedAgent;
  stored: StoredTask;
  token: string;
  call: CallContext;
}

/** Message to a waiting Task, and the claim (right to write the Task) that its write needs. */
export interface Resumption {
  agent: ServedAgent;
  claim: TaskClaim;
  request: SendMessageRequest;
  call: CallContext;
  once: Idempotency | undefined;
  /** Sequence of the last event that the sender of the Message saw; `undefined` if that is not checked. */
  after: number | undefined;
}

/** Unfinished turn of a Task that another replica began, or that was parked (released until a time) and is due now. */
export interface RecoveredTurn extends ClaimedTask {
  userMessage: Message;
  task: Task | null;
  acceptedAt: number;
  /** Complete event log of the Task. */
  log: readonly TaskEvent[];
}

import { setTimeout as delay } from 'node:timers/promises';
import { A2AError, isTerminalState, isWaitingState } from '#libs/protocol';
import type { StoredTask, TaskClaim, TaskStore } from '#libs/tasks';

/** Milliseconds within which another replica takes over, or a replica finds a claim that it does not execute. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 100;
const TASK_BUSY = 'TASK_BUSY';

/**
 * Claims a waiting Task. A Task that is claimed although it waits is about to be worked on, or its replica was just
 * lost. Either a new event or the release of the claim shows which.
 * @returns `undefined` if the Task does not wait for a Message, or has progressed meanwhile
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

/** Returns the error for a Task that could not be claimed and therefore takes no Message. */
export async function explainClaimRefusal(store: Pick<TaskStore, 'readHeader'>, taskId: string): Promise<A2AError> {
  const header = await store.readHeader(taskId);
  if (!header) return new A2AError('TASK_NOT_FOUND', { metadata: { taskId } });
  const what = isTerminalState(header.state) ? `has ended (${header.state})` : 'is being worked on';
  const message = `The task ${what} and takes no message`;
  return new A2AError('UNSUPPORTED_OPERATION', { message, metadata: { taskId } });
}

/**
 * True if the Message was not stored because another request holds its Task. That request may have stored the same
 * Message.
 */
export function isTaskBusy(error: unknown): boolean {
  return error instanceof A2AError && error.detailReason === TASK_BUSY;
}

function taskBusy(taskId: string): A2AError {
  const message =
    'Another request holds the task, and nothing of this message was kept; try again later, under the same Idempotency-Key if there was one';
  return new A2AError('INTERNAL', { message, detailReason: TASK_BUSY, status: 503, metadata: { taskId } });
}

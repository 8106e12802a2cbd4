import { setTimeout as delay } from 'node:timers/promises';
import { A2AError, isTerminalState, isWaitingState } from '#libs/protocol';
import type { StoredTask, TaskClaim, TaskStore } from '#libs/tasks';

/** Time in which another replica takes over, and in which one finds a claim that it does not execute. */
const PATIENCE_MS = 15_000;
const LOOK_MS = 100;
const TASK_BUSY = 'TASK_BUSY';

/**
 * Claims a Task that waits. One that is claimed, and waits all the same, is about to be worked on, or its replica was lost
 * just then: which of both it is shows when something is written, or when the claim is let go.
 * @returns `undefined` where it does not wait for a Message, or has gone on meanwhile
 * @throws A2AError INTERNAL with reason TASK_BUSY and status 503 where neither shows in time, or this process stops
 */
export async function claimWaiting(
  store: Pick<TaskStore, 'claim' | 'header'>,
  { taskId, token }: TaskClaim,
  replicaId: string,
  signal: AbortSignal,
): Promise<StoredTask | undefined> {
  const begun = performance.now();
  let seen: number | undefined;
  for (;;) {
    const stored = await store.claim(taskId, replicaId, token, 'waiting');
    if (stored) return stored;
    const header = await store.header(taskId);
    if (!header || !isWaitingState(header.state)) return undefined;
    seen ??= header.lastSequence;
    if (header.lastSequence !== seen) return undefined;
    if (performance.now() - begun > PATIENCE_MS || signal.aborted) throw taskBusy(taskId);
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Why a Task that could not be claimed so takes no Message. */
export async function refusal(store: Pick<TaskStore, 'header'>, taskId: string): Promise<A2AError> {
  const header = await store.header(taskId);
  if (!header) return new A2AError('TASK_NOT_FOUND', { metadata: { taskId } });
  const what = isTerminalState(header.state) ? `has ended (${header.state})` : 'is being worked on';
  const message = `The task ${what} and takes no message`;
  return new A2AError('UNSUPPORTED_OPERATION', { message, metadata: { taskId } });
}

/** True for the error of a Message that was not kept because another request holds its Task, and may have kept the same one. */
export function isTaskBusy(error: unknown): boolean {
  return error instanceof A2AError && error.detailReason === TASK_BUSY;
}

function taskBusy(taskId: string): A2AError {
  const message =
    'Another request holds the task, and nothing of this message was kept; try again later, under the same Idempotency-Key if there was one';
  return new A2AError('INTERNAL', { message, detailReason: TASK_BUSY, status: 503, metadata: { taskId } });
}

import { setTimeout as delay } from 'node:timers/promises';
import { A2AError, isTerminalState, isWaitingState } from '#libs/protocol';
import type { StoredTask, TaskClaim, TaskStore } from '#libs/tasks';

/** As long as another replica needs to take over. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 100;

/**
 * Claims a Task that waits. One that is claimed, and waits all the same, is about to be worked on, or its replica was lost
 * just then: which of both it is shows when something is written, or when the claim is let go.
 * @returns `undefined` where it does not wait for a Message, or has gone on meanwhile
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
    const isOver = performance.now() - begun > PATIENCE_MS;
    if (header.lastSequence !== seen || isOver || signal.aborted) return undefined;
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

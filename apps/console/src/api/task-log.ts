import { computeBackoff, pauseFor } from './backoff.js';
import type { Connection } from './gateway.js';
import { unwrapResult, rpcRequest, rpcStream } from './json-rpc.js';
import { ApiProblem } from './problem.js';
import { isEnded, stateIn, type A2aStreamItem } from './task.js';

export interface TaskLogReader {
  /** Receives every event once, in the order of the log. */
  onEvent: (sequence: number, item: A2aStreamItem) => void;
  onConnection: (connection: Connection) => void;
}

/**
 * Reads a Task's log after a sequence number (0: the whole log), then follows it until the Task has ended. A lost
 * connection resumes after the last event. Resolves when the Task has ended or the signal aborts.
 * @param base path of the agent, such as `/a2a`
 * @throws ApiProblem if the service refuses
 */
export async function followTaskLog(
  base: string,
  taskId: string,
  after: number,
  { onEvent, onConnection }: TaskLogReader,
  signal: AbortSignal,
): Promise<void> {
  let last = after;
  for (let failures = 0; !signal.aborted; failures += 1) {
    onConnection('connecting');
    try {
      const body = rpcRequest('SubscribeToTask', { id: taskId });
      for await (const { sequence = 0, response } of rpcStream<A2aStreamItem>(base, body, { since: last, signal })) {
        const item = unwrapResult(response);
        failures = 0;
        onConnection('live');
        // A stream that starts after an event first repeats the Task as of that event.
        if (sequence > last) onEvent(sequence, item);
        last = Math.max(last, sequence);
        if (isEnded(stateIn(item) ?? '')) return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (isRefusal(error)) throw error;
    }
    onConnection('lost');
    await pauseFor(computeBackoff(failures + 1), signal);
  }
}

/** True if the service refuses a request, so that a retry would get the same answer. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiProblem)) return false;
  return error.status === 200 || (error.status >= 400 && error.status < 500 && error.status !== 429);
}

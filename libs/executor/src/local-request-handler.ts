import type {
  CancelTaskRequest,
  GetTaskRequest,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '#libs/protocol';
import type { ServedAgent } from './agent-catalog.js';
import type { CallContext } from './agent-executor.js';

/**
 * Request handler for clients inside this process, without a socket. It is implemented in a higher layer than its
 * callers.
 * - Requests come from our own code and are not validated again.
 * - Calls wait while the database is unreachable.
 * - Errors are A2AErrors, as over HTTP.
 */
export interface LocalRequestHandler {
  /** Returns the agent that a call addresses, for the operations on its Tasks. */
  resolveAgent(call: CallContext, signal?: AbortSignal): Promise<ServedAgent>;
  /** Yields the new Task, then its events before they are durable, until it ends or waits; or one direct Message. */
  sendInProcess(
    request: SendMessageRequest,
    call: CallContext,
    signal?: AbortSignal,
  ): AsyncGenerator<StreamResponse, void, undefined>;
  subscribeToTask(
    agent: ServedAgent,
    request: SubscribeToTaskRequest,
    call: CallContext,
    options: { signal?: AbortSignal },
  ): AsyncIterable<{ readonly response: StreamResponse }>;
  getTask(agent: ServedAgent, request: GetTaskRequest, call: CallContext, signal?: AbortSignal): Promise<Task>;
  /** @param signal ends the wait, not the cancel */
  cancelTask(agent: ServedAgent, request: CancelTaskRequest, call: CallContext, signal?: AbortSignal): Promise<Task>;
}

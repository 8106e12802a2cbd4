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
 * The request handler as the clients of this process call it, without a socket: it stands at an edge, above whoever
 * calls. What they ask is built by our own code and is not validated again. While the database is out of reach they wait.
 * Throws A2AError, as HTTP tells it.
 */
export interface LocalRequestHandler {
  /** The agent that a call addresses, for the operations on its Tasks. */
  agent(call: CallContext, signal?: AbortSignal): Promise<ServedAgent>;
  /** The Task as it begins, then its events, be they durable or not, until it ends or waits; or one direct Message. */
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

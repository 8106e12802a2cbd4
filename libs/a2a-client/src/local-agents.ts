import type {
  CancelTaskRequest,
  GetTaskRequest,
  SendMessageRequest,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
} from '#libs/protocol';
import type { CallOptions } from './agent-client.js';

/**
 * The agents of this process, reached without a socket through the same request handler that serves HTTP.
 * Throws A2AError as that handler does.
 */
export abstract class LocalAgents {
  /** The agent path that an URL names, if it is one of ours and calls to ours stay in the process; else `undefined`. */
  abstract pathOf(url: string): string | undefined;
  abstract send(path: string, request: SendMessageRequest, options: CallOptions): AsyncIterable<StreamResponse>;
  abstract subscribe(
    path: string,
    request: SubscribeToTaskRequest,
    options: CallOptions,
  ): AsyncIterable<StreamResponse>;
  abstract getTask(path: string, request: GetTaskRequest, options: CallOptions): Promise<Task>;
  abstract cancelTask(path: string, request: CancelTaskRequest, options: CallOptions): Promise<Task>;
}

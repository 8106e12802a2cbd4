import { Injectable } from '@nestjs/common';
import {
  A2AError,
  type CancelTaskRequest,
  type GetTaskRequest,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type Task,
} from '#libs/protocol';
import { type CallContext, UnknownAgent } from '#libs/executor';
import type { TaskScope } from '#libs/tasks';
import { publicError } from './public-error.js';
import { RequestHandler } from './request-handler.js';
import type { StreamItem } from './stream-item.js';

/** How a caller of this process calls an agent of this process. */
export interface LocalCallOptions {
  /** For whom the call is made: it sees the agents and Tasks of nobody else. */
  scope: TaskScope;
  signal?: AbortSignal;
  /** The calling Task and its reference (`node#attempt`), recorded on the Task that the call makes. */
  parent?: { taskId: string; reference: string };
  /** The revision of the agent; its newest unless told otherwise. */
  revision?: string;
}

/**
 * The agents of this process without a socket: the operations that HTTP serves, called directly. Requests are built by
 * our own code and are not validated again. Throws A2AError, also for an unknown agent, as HTTP tells it.
 */
@Injectable()
export class LocalAgentTransport {
  constructor(private readonly handler: RequestHandler) {}

  async *send(
    path: string,
    request: SendMessageRequest,
    options: LocalCallOptions,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      yield* this.handler.sendInProcess(path, request, callOf(path, options), options.signal);
    } catch (error) {
      throw known(error);
    }
  }

  async *subscribe(
    path: string,
    request: SubscribeToTaskRequest,
    options: LocalCallOptions,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const { signal } = options;
    const call = callOf(path, options);
    yield* responses(this.handler.subscribeToTask(await this.agent(call), request, call, { signal }));
  }

  async getTask(path: string, request: GetTaskRequest, options: LocalCallOptions): Promise<Task> {
    const call = callOf(path, options);
    return this.handler.getTask(await this.agent(call), request, call);
  }

  async cancelTask(path: string, request: CancelTaskRequest, options: LocalCallOptions): Promise<Task> {
    const call = callOf(path, options);
    return this.handler.cancelTask(await this.agent(call), request, call);
  }

  private async agent(call: CallContext): ReturnType<RequestHandler['agent']> {
    try {
      return await this.handler.agent(call);
    } catch (error) {
      throw known(error);
    }
  }
}

/** What a caller may know of an error, as HTTP tells it; anything else is a fault of ours and stays what it is. */
function known(error: unknown): unknown {
  return error instanceof A2AError || error instanceof UnknownAgent ? publicError(error) : error;
}

const NO_EXTENSIONS: readonly string[] = [];

function callOf(path: string, { parent, scope, revision }: LocalCallOptions): CallContext {
  const call: CallContext = { scope, agent: path, extensions: NO_EXTENSIONS, baseUrl: '', ...(parent && { parent }) };
  return revision === undefined ? call : { ...call, revision };
}

async function* responses(items: AsyncIterable<StreamItem>): AsyncGenerator<StreamResponse, void, undefined> {
  for await (const item of items) yield item.response;
}

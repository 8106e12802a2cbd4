import type { Client } from '@a2a-js/sdk/client';
import {
  decodeStreamResponse,
  decodeTask,
  encodeSendMessageRequest,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '#libs/protocol';
import { bindCall } from './agent-fetch.js';
import { type AgentTransport, completedRequest, isAnsweredAtOnce, type TransportOptions } from './agent-transport.js';
import { withAppend } from './legacy-frames.js';

/** Transport to an agent of A2A 0.3 over the network, through the official SDK. */
export class SdkTransport implements AgentTransport {
  readonly timeouts = {};

  constructor(
    private readonly client: Client,
    readonly streaming: boolean,
  ) {}

  async *sendMessage(request: SendMessageRequest, options: TransportOptions): AsyncIterable<StreamResponse> {
    const { signal } = options;
    bindCall(options);
    const encoded = encodeSendMessageRequest(completedRequest(request, isAnsweredAtOnce(request, this.streaming)));
    for await (const response of this.client.sendMessageStream(encoded, { signal }))
      yield withAppend(decodeStreamResponse(response));
  }

  async *subscribeToTask(taskId: string, options: TransportOptions): AsyncIterable<StreamResponse> {
    const { signal } = options;
    bindCall({ ...options, fence: undefined });
    const events = this.client.resubscribeTask({ tenant: '', id: taskId }, { signal });
    for await (const response of events) yield withAppend(decodeStreamResponse(response));
  }

  async getTask(taskId: string, options: TransportOptions): Promise<Task> {
    const { signal } = options;
    bindCall({ ...options, fence: undefined });
    return decodeTask(await this.client.getTask({ tenant: '', id: taskId, historyLength: undefined }, { signal }));
  }

  async cancelTask(taskId: string, options: TransportOptions): Promise<Task> {
    const { signal } = options;
    bindCall({ ...options, fence: undefined });
    return decodeTask(await this.client.cancelTask({ tenant: '', id: taskId, metadata: undefined }, { signal }));
  }
}

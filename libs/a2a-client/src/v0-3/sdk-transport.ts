import type { AgentCard as SdkAgentCard } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  type Transport,
  type TransportFactory,
} from '@a2a-js/sdk/client';
import { LRUCache } from 'lru-cache';
import {
  decodeStreamResponse,
  decodeTask,
  encodeSendMessageRequest,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
} from '#libs/protocol';
import type { TaskWebhook } from '../agent-client.js';
import {
  type AgentTransport,
  completedRequest,
  isAnsweredAtOnce,
  type PushConfigName,
  type TransportOptions,
} from '../transports/agent-transport.js';
import { bindCall } from './agent-fetch.js';
import { withAppend } from './legacy-frames.js';

/** Creates the SDK's clients for agents of A2A 0.3. */
export class LegacyClients {
  readonly #factory: ClientFactory;

  constructor(fetchImpl: typeof fetch) {
    const options = { fetchImpl, legacyCompat: { enabled: true } };
    const transports = [new JsonRpcTransportFactory(options), new RestTransportFactory(options)];
    this.#factory = new ClientFactory({
      transports: transports.map((it) => new KeptTransports(it)),
      preferredTransports: transports.map((it) => it.protocolName),
    });
  }

  createClient(card: SdkAgentCard): Promise<Client> {
    return this.#factory.createFromAgentCard(card);
  }
}

/**
 * Keeps one transport per endpoint. Each transport numbers its JSON-RPC requests, so an agent sees increasing ids
 * over all calls.
 */
class KeptTransports implements TransportFactory {
  readonly #kept = new LRUCache<string, Transport>({ max: 1_000 });

  constructor(private readonly factory: TransportFactory) {}

  get protocolName(): string {
    return this.factory.protocolName;
  }

  async create(url: string, card: SdkAgentCard): Promise<Transport> {
    const transport = this.#kept.get(url) ?? (await this.factory.create(url, card));
    this.#kept.set(url, transport);
    return transport;
  }
}

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

  async createPushConfig(config: TaskWebhook, options: TransportOptions): Promise<void> {
    const { signal } = options;
    bindCall({ ...options, fence: undefined });
    await this.client.createTaskPushNotificationConfig(
      { tenant: '', authentication: undefined, ...config },
      { signal },
    );
  }

  async deletePushConfig({ taskId, id }: PushConfigName, options: TransportOptions): Promise<void> {
    const { signal } = options;
    bindCall({ ...options, fence: undefined });
    await this.client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id }, { signal });
  }
}

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { AgentCard, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from 'a2a-sdk-v0';
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from 'a2a-sdk-v0/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from 'a2a-sdk-v0/server/express';
import express from 'express';

/** Agent of A2A 0.3 that sends one chunk, and a second one after `release()`. It calls webhooks. */
export class HoldingAgent03 implements AgentExecutor {
  private readonly released = Promise.withResolvers<void>();

  private constructor(
    readonly url: string,
    readonly stop: () => Promise<void>,
  ) {}

  static async start(): Promise<HoldingAgent03> {
    const app = express();
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const agent = new HoldingAgent03(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    const card: AgentCard = {
      name: 'holding',
      description: 'Works until it is released',
      version: '1',
      protocolVersion: '0.3.0',
      url: `${agent.url}/rpc`,
      preferredTransport: 'JSONRPC',
      capabilities: { streaming: true, pushNotifications: true },
      defaultInputModes: ['text/plain'],
      defaultOutputModes: ['text/plain'],
      skills: [],
    };
    const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), agent);
    app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
    app.use('/rpc', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
    return agent;
  }

  /** Lets the Task complete. */
  release(): void {
    this.released.resolve();
  }

  async execute({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const ids = { taskId, contextId };
    bus.publish({ kind: 'task', id: taskId, contextId, history: [userMessage], status: { state: 'submitted' } });
    bus.publish(statusOf(ids, 'working'));
    bus.publish(chunkOf(ids, 'first ', false));
    await this.released.promise;
    bus.publish(chunkOf(ids, 'last', true));
    bus.publish(statusOf(ids, 'completed'));
    bus.finished();
  }

  async cancelTask(): Promise<void> {
    this.release();
  }
}

type Ids = Pick<TaskStatusUpdateEvent, 'taskId' | 'contextId'>;

function statusOf(ids: Ids, state: 'working' | 'completed'): TaskStatusUpdateEvent {
  const status = { state, timestamp: new Date().toISOString() };
  return { kind: 'status-update', ...ids, status, final: state === 'completed' };
}

function chunkOf(ids: Ids, text: string, append: boolean): TaskArtifactUpdateEvent {
  const artifact = { artifactId: 'held', parts: [{ kind: 'text' as const, text }] };
  return { kind: 'artifact-update', ...ids, artifact, append };
}

import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AgentCard, type Part, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

/**
 * Echoes the Parts of a Message as an Artifact in two chunks, and completes. To the text `wait` it works until it is
 * canceled, to `ask` it waits for input, to `direct` it answers with a Message.
 */
class EchoExecutor implements AgentExecutor {
  readonly #waiting = new Map<string, () => void>();

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage } = context;
    const text = textOf(userMessage.parts);
    if (text === 'direct') {
      bus.publish(AgentEvent.message({ ...userMessage, messageId: 'direct', role: Role.ROLE_AGENT, contextId }));
      return bus.finished();
    }
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined };
    const metadata = { big: { nested: [1, null] } };
    const begun = { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata };
    bus.publish(AgentEvent.task(context.task ?? begun));
    bus.publish(statusOf(context, TaskState.TASK_STATE_WORKING));
    if (text === 'wait') {
      await new Promise<void>((resolve) => this.#waiting.set(taskId, resolve));
      bus.publish(statusOf(context, TaskState.TASK_STATE_CANCELED));
      return bus.finished();
    }
    if (text === 'ask') {
      bus.publish(statusOf(context, TaskState.TASK_STATE_INPUT_REQUIRED));
      return bus.finished();
    }
    for (const append of [false, true]) bus.publish(chunkOf(context, append));
    bus.publish(statusOf(context, TaskState.TASK_STATE_COMPLETED));
    bus.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#waiting.get(taskId)?.();
  }
}

export interface SdkServer {
  url: string;
  stop(): Promise<void>;
}

/** Starts an agent on the official SDK's server, with JSON-RPC at `/rpc` and HTTP+JSON at `/rest`. */
export async function startSdkServer(
  binding: 'JSONRPC' | 'HTTP+JSON',
  streaming: boolean,
  inputModes = ['text/plain'],
): Promise<SdkServer> {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const path = binding === 'JSONRPC' ? 'rpc' : 'rest';
  const card = cardOf(
    { url: `${url}/${path}`, protocolBinding: binding, tenant: '', protocolVersion: '1.0' },
    streaming,
    inputModes,
  );
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new EchoExecutor());
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use('/.well-known/agent-card.json', cardRoute(requestHandler));
  // The handlers parse no more than 100 kB by themselves.
  app.use(express.json({ limit: '64mb', type: ['application/json', 'application/a2a+json'] }));
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  return { url, stop: () => stopped(server) };
}

async function stopped(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

function cardOf(
  endpoint: AgentCard['supportedInterfaces'][number],
  streaming: boolean,
  defaultInputModes: string[],
): AgentCard {
  return {
    name: 'sdk',
    description: 'Echoes',
    supportedInterfaces: [endpoint],
    provider: undefined,
    version: '1',
    capabilities: { streaming, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes,
    defaultOutputModes: ['text/plain'],
    skills: [],
    documentationUrl: '',
    signatures: [],
  };
}

function textOf(parts: Part[]): string {
  const content = parts[0]?.content;
  return content?.$case === 'text' ? content.value : '';
}

function statusOf({ taskId, contextId }: RequestContext, state: TaskState): ReturnType<typeof AgentEvent.task> {
  const status = { state, message: undefined, timestamp: new Date().toISOString() };
  return AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined });
}

function chunkOf(context: RequestContext, append: boolean): ReturnType<typeof AgentEvent.task> {
  const { taskId, contextId, userMessage } = context;
  const parts = userMessage.parts;
  const artifact = { artifactId: 'echo', name: 'echo', description: '', parts, metadata: undefined, extensions: [] };
  return AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: append, metadata: undefined });
}

/**
 * Creates the route of a card that may not be cached: another agent may soon use the port, and the SDK's default is an
 * hour.
 */
export function cardRoute(agentCardProvider: DefaultRequestHandler) {
  return agentCardHandler({ agentCardProvider, cache: { maxAge: 0 } });
}

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type AgentCard, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express, { type RequestHandler, type Router } from 'express';
import { askingAgent03 } from './asking-sdk-agent-v0-3.js';
import { type AskingAgentOptions, askingTurn, type ServedAgent } from './asking-turn.js';
import { cardRoute } from './sdk-server.js';

export interface AskingAgent {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts an agent on the server of an official SDK that asks two questions. By default, each turn begins with the
 * stored Task.
 */
export async function startAskingAgent(options: AskingAgentOptions): Promise<AskingAgent> {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const agent = { ...options, url: `${url}/agent` };
  const { card, routes } = options.version === '1.0' ? askingAgent10(agent) : askingAgent03(agent);
  app.use('/.well-known/agent-card.json', card);
  app.use('/agent', routes);
  return {
    url,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function askingAgent10({ url, binding, streaming, ...options }: ServedAgent): {
  card: RequestHandler;
  routes: RequestHandler | Router;
} {
  const card: AgentCard = {
    name: 'asking',
    description: 'Asks two questions',
    supportedInterfaces: [{ url, protocolBinding: binding, tenant: '', protocolVersion: '1.0' }],
    provider: undefined,
    version: '1',
    capabilities: { streaming, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    documentationUrl: '',
    signatures: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new AskingExecutor(options));
  const handler = binding === 'JSONRPC' ? jsonRpcHandler : restHandler;
  return {
    card: cardRoute(requestHandler),
    routes: handler({ requestHandler, userBuilder: UserBuilder.noAuthentication }),
  };
}

class AskingExecutor implements AgentExecutor {
  readonly #told = new Map<string, string[]>();
  readonly #waiting = new Map<string, () => void>();

  constructor(private readonly options: Pick<AskingAgentOptions, 'onWait' | 'between' | 'updatesAlone'>) {}

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const content = userMessage.parts[0]?.content;
    const told = [...(this.#told.get(taskId) ?? []), content?.$case === 'text' ? content.value : ''];
    this.#told.set(taskId, told);
    const status = { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined };
    const begun = { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: {} };
    if (!task || !this.options.updatesAlone) bus.publish(AgentEvent.task(task ?? begun));
    bus.publish(statusOf(context, TaskState.TASK_STATE_WORKING));
    const turn = askingTurn(told);
    if ('wait' in turn) {
      const canceled = new Promise<void>((resolve) => this.#waiting.set(taskId, resolve));
      this.options.onWait?.();
      await canceled;
      bus.publish(statusOf(context, TaskState.TASK_STATE_CANCELED));
    } else if ('question' in turn) bus.publish(statusOf(context, TaskState.TASK_STATE_INPUT_REQUIRED, turn.question));
    else {
      bus.publish(pieceOf(context, turn.pieces[0], false));
      await this.options.between;
      bus.publish(pieceOf(context, turn.pieces[1], true));
      bus.publish(statusOf(context, TaskState.TASK_STATE_COMPLETED));
    }
    bus.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#waiting.get(taskId)?.();
  }
}

function textPart(text: string) {
  return { content: { $case: 'text' as const, value: text }, mediaType: 'text/plain', filename: '', metadata: {} };
}

function statusOf({ taskId, contextId }: RequestContext, state: TaskState, text?: string) {
  const message =
    text === undefined
      ? undefined
      : {
          messageId: randomUUID(),
          taskId,
          contextId,
          role: Role.ROLE_AGENT,
          parts: [textPart(text)],
          metadata: {},
          extensions: [],
          referenceTaskIds: [],
        };
  const status = { state, message, timestamp: new Date().toISOString() };
  return AgentEvent.statusUpdate({ taskId, contextId, status, metadata: {} });
}

function pieceOf({ taskId, contextId }: RequestContext, text: string, append: boolean) {
  const parts = [textPart(text)];
  const artifact = { artifactId: 'a', name: 'a', description: '', parts, metadata: {}, extensions: [] };
  return AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk: append, metadata: {} });
}

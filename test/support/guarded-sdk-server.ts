import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Role } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';
import express, { type Request, type RequestHandler, type Router } from 'express';
import { type AgentCard, encodeAgentCard } from '#libs/protocol';
import type { GuardedAgent } from './guarded-agent.js';
import { guardedAgent03 } from './guarded-sdk-agent-v0-3.js';
import { cardRoute } from './sdk-server.js';

export interface GuardedServer {
  url: string;
  /** Returns the number of refused calls. */
  refused(): number;
  stop(): Promise<void>;
}

export type GuardedServerOptions = Pick<GuardedAgent, 'binding' | 'streaming'> & {
  version: '1.0' | '0.3';
  /** Names of users by their keys. */
  users: Record<string, string>;
};

/**
 * Starts an agent on the server of an official SDK that admits known users, and answers with their name. Its public
 * card requires an API key in the header `X-Agent-Key`.
 */
export async function startGuardedSdkServer(options: GuardedServerOptions): Promise<GuardedServer> {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const userOf = (request: Request): string | undefined => options.users[request.get('x-agent-key') ?? ''];
  let refused = 0;
  const guard: RequestHandler = (request, response, next) => {
    if (userOf(request) !== undefined) return next();
    refused += 1;
    response.status(401).json({ error: 'who are you?' });
  };
  const agent = { ...options, url: `${url}/agent`, userOf };
  const { card, routes } = options.version === '1.0' ? guardedAgent10(agent) : guardedAgent03(agent);
  app.use('/.well-known/agent-card.json', card);
  app.use('/agent', guard, routes);
  return {
    url,
    refused: () => refused,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function guardedAgent10(agent: GuardedAgent): { card: RequestHandler; routes: RequestHandler | Router } {
  const { binding, streaming, url, userOf } = agent;
  const card: AgentCard = {
    name: 'guarded',
    description: '',
    version: '1',
    supportedInterfaces: [{ url, protocolBinding: binding, protocolVersion: '1.0' }],
    capabilities: { streaming, pushNotifications: false },
    securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Agent-Key' } } },
    securityRequirements: [{ schemes: { key: { list: [] } } }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
  const requestHandler = new DefaultRequestHandler(encodeAgentCard(card), new InMemoryTaskStore(), new Greeter());
  const userBuilder = async (request: Request) => ({ isAuthenticated: true, userName: userOf(request) ?? '' });
  const handler = binding === 'JSONRPC' ? jsonRpcHandler : restHandler;
  return {
    card: cardRoute(requestHandler),
    routes: handler({ requestHandler, userBuilder }),
  };
}

class Greeter implements AgentExecutor {
  async execute({ context, contextId }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const content = { $case: 'text' as const, value: `hello ${context.user?.userName}` };
    const message = {
      messageId: randomUUID(),
      contextId,
      taskId: '',
      role: Role.ROLE_AGENT,
      parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    };
    bus.publish(AgentEvent.message(message));
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}

import { randomUUID } from 'node:crypto';
import type { AgentCard } from 'a2a-sdk-v0';
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from 'a2a-sdk-v0/server';
import { agentCardHandler, jsonRpcHandler, restHandler } from 'a2a-sdk-v0/server/express';
import type { Request, RequestHandler, Router } from 'express';
import type { GuardedAgent } from './guarded-agent.js';

/** Creates the routes of a GuardedAgent on the server of the SDK for A2A 0.3. */
export function guardedAgent03(agent: GuardedAgent): { card: RequestHandler; routes: RequestHandler | Router } {
  const { binding, streaming, url, userOf } = agent;
  const card: AgentCard = {
    name: 'guarded',
    description: '',
    version: '1',
    protocolVersion: '0.3.0',
    url,
    preferredTransport: binding,
    capabilities: { streaming },
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Agent-Key' } },
    security: [{ key: [] }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Greeter());
  const userBuilder = async (request: Request) => ({ isAuthenticated: true, userName: userOf(request) ?? '' });
  const handler = binding === 'JSONRPC' ? jsonRpcHandler : restHandler;
  return {
    card: agentCardHandler({ agentCardProvider: requestHandler }),
    routes: handler({ requestHandler, userBuilder }),
  };
}

class Greeter implements AgentExecutor {
  async execute({ context, contextId }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const text = `hello ${context?.user?.userName}`;
    const parts = [{ kind: 'text' as const, text }];
    bus.publish({ kind: 'message', messageId: randomUUID(), contextId, role: 'agent', parts });
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}

import { randomUUID } from 'node:crypto';
import type { AgentCard, TaskStatusUpdateEvent } from 'a2a-sdk-v0';
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from 'a2a-sdk-v0/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from 'a2a-sdk-v0/server/express';
import type { RequestHandler, Router } from 'express';
import { type AskingAgentOptions, askingTurn, type ServedAgent } from './asking-turn.js';

/** Creates the asking agent (see startAskingAgent) on the server of the SDK for A2A 0.3. */
export function askingAgent03({ url, binding, streaming, ...options }: ServedAgent): {
  card: RequestHandler;
  routes: RequestHandler | Router;
} {
  const card: AgentCard = {
    name: 'asking',
    description: 'Asks two questions',
    version: '1',
    protocolVersion: '0.3.0',
    url,
    preferredTransport: binding,
    capabilities: { streaming },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new AskingExecutor(options));
  const handler = binding === 'JSONRPC' ? jsonRpcHandler : restHandler;
  return {
    card: agentCardHandler({ agentCardProvider: requestHandler }),
    routes: handler({ requestHandler, userBuilder: UserBuilder.noAuthentication }),
  };
}

type State = TaskStatusUpdateEvent['status']['state'];

class AskingExecutor implements AgentExecutor {
  readonly #told = new Map<string, string[]>();
  readonly #waiting = new Map<string, () => void>();

  constructor(private readonly options: Pick<AskingAgentOptions, 'onWait' | 'between' | 'updatesAlone'>) {}

  async execute({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const [part] = userMessage.parts;
    const told = [...(this.#told.get(taskId) ?? []), part?.kind === 'text' ? part.text : ''];
    this.#told.set(taskId, told);
    const status = (state: State, final: boolean, text?: string) => {
      const parts = [{ kind: 'text' as const, text: text ?? '' }];
      const message = { kind: 'message' as const, messageId: randomUUID(), role: 'agent' as const, parts };
      const now = { state, timestamp: new Date().toISOString(), ...(text !== undefined && { message }) };
      bus.publish({ kind: 'status-update', taskId, contextId, final, status: now });
    };
    const begun = { kind: 'task' as const, id: taskId, contextId, history: [userMessage] };
    if (!task || !this.options.updatesAlone) bus.publish(task ?? { ...begun, status: { state: 'submitted' } });
    status('working', false);
    const turn = askingTurn(told);
    if ('wait' in turn) {
      const canceled = new Promise<void>((resolve) => this.#waiting.set(taskId, resolve));
      this.options.onWait?.();
      await canceled;
      status('canceled', true);
    } else if ('question' in turn) status('input-required', true, turn.question);
    else {
      for (const [index, text] of turn.pieces.entries()) {
        if (index > 0) await this.options.between;
        const artifact = { artifactId: 'a', parts: [{ kind: 'text' as const, text }] };
        bus.publish({ kind: 'artifact-update', taskId, contextId, artifact, append: index > 0 });
      }
      status('completed', true);
    }
    bus.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#waiting.get(taskId)?.();
  }
}

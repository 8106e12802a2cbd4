import { randomUUID } from 'node:crypto';
import { type AgentCard, type Artifact, type Message, type Part, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  type RequestContext,
  type TaskStore,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { CHUNK } from './chunk.ts';
import { announce } from './serve.ts';

/**
 * Answers like Parley's input node: the Task, WORKING, one Artifact with the text, COMPLETED with the text. To the text
 * `chunks 1000` it answers with 1,000 chunks of one Artifact. To the text `wait` it answers when `POST /release`
 * releases all waiting Tasks, and calls their webhooks.
 */
class EchoExecutor implements AgentExecutor {
  #waiting: (() => void)[] = [];

  /** Lets all waiting Tasks continue. */
  release(): void {
    for (const goOn of this.#waiting.splice(0)) goOn();
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage } = context;
    const task = {
      id: taskId,
      contextId,
      status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() },
      artifacts: [],
      history: [userMessage],
      metadata: {},
    };
    bus.publish(AgentEvent.task(task));
    bus.publish(status(context, TaskState.TASK_STATE_WORKING));
    if (textOf(userMessage) === 'wait') await new Promise<void>((goOn) => this.#waiting.push(goOn));
    const chunks = Number(/^chunks (\d+)$/.exec(textOf(userMessage))?.[1] ?? 0);
    if (chunks === 0) bus.publish(artifact(context, userMessage.parts, false));
    for (let index = 0; index < chunks; index += 1) bus.publish(artifact(context, CHUNK_PARTS, index > 0));
    bus.publish(status(context, TaskState.TASK_STATE_COMPLETED, agentMessage(context)));
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}

type Event = ReturnType<typeof AgentEvent.task>;

const CHUNK_PARTS: Part[] = [
  { content: { $case: 'text', value: CHUNK }, metadata: undefined, filename: '', mediaType: '' },
];

function textOf({ parts }: Message): string {
  const content = parts[0]?.content;
  return content?.$case === 'text' ? content.value : '';
}

function status({ taskId, contextId }: RequestContext, state: TaskState, message?: Message): Event {
  const timestamp = new Date().toISOString();
  return AgentEvent.statusUpdate({ taskId, contextId, status: { state, message, timestamp }, metadata: {} });
}

function artifact({ taskId, contextId }: RequestContext, parts: Part[], append: boolean): Event {
  const content: Artifact = {
    artifactId: 'echo',
    name: 'echo',
    description: '',
    parts,
    metadata: undefined,
    extensions: [],
  };
  return AgentEvent.artifactUpdate({ taskId, contextId, artifact: content, append, lastChunk: !append, metadata: {} });
}

/** Serves the echo agent and its card on loopback with the SDK's own Express handlers and the given store. */
export async function serveSdkAgent(store: TaskStore): Promise<void> {
  const app = express();
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const card: AgentCard = {
    name: 'echo',
    description: 'Echoes',
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
    provider: undefined,
    version: '1',
    capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    documentationUrl: '',
    signatures: [],
  };
  const executor = new EchoExecutor();
  const requestHandler = new DefaultRequestHandler(card, store, executor);
  app.post('/release', (_request, reply) => {
    executor.release();
    reply.end();
  });
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  announce(server);
}

function agentMessage({ taskId, contextId, userMessage }: RequestContext): Message {
  return {
    messageId: randomUUID(),
    taskId,
    contextId,
    role: Role.ROLE_AGENT,
    parts: userMessage.parts,
    metadata: {},
    extensions: [],
    referenceTaskIds: [],
  };
}

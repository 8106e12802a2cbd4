import { randomUUID } from 'node:crypto';
import { type AgentCard, type Artifact, type Message, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  type RequestContext,
  type TaskStore,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

/** Answers like Parley's input node: the Task, WORKING, one Artifact with the text, COMPLETED with the text. */
class EchoExecutor implements AgentExecutor {
  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage } = context;
    const status = (state: TaskState, message?: Message) =>
      AgentEvent.statusUpdate({
        taskId,
        contextId,
        status: { state, message, timestamp: new Date().toISOString() },
        metadata: {},
      });
    const artifact: Artifact = {
      artifactId: 'echo',
      name: 'echo',
      description: '',
      parts: userMessage.parts,
      metadata: undefined,
      extensions: [],
    };
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: new Date().toISOString() },
        artifacts: [],
        history: [userMessage],
        metadata: {},
      }),
    );
    bus.publish(status(TaskState.TASK_STATE_WORKING));
    bus.publish(
      AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: {} }),
    );
    bus.publish(status(TaskState.TASK_STATE_COMPLETED, agentMessage(context)));
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}

/** Serves the echo agent on loopback with the SDK's own Express handlers and the given store. */
export function serveSdkAgent(store: TaskStore): void {
  const card: AgentCard = {
    name: 'echo',
    description: 'Echoes',
    supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
    provider: undefined,
    version: '1',
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    documentationUrl: '',
    signatures: [],
  };
  const requestHandler = new DefaultRequestHandler(card, store, new EchoExecutor());
  const app = express();
  app.use(jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (address !== null && typeof address === 'object')
      process.stdout.write(`ready http://127.0.0.1:${address.port}/\n`);
  });
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

// What the echo floors answer: what Parley answers, made with as little as possible.
import { randomUUID } from 'node:crypto';

export interface EchoRequest {
  id: number;
  method: string;
  params: { message: { messageId: string; role: string; parts: unknown[] } };
}

/** Ids that distinguish one Task from another. */
export interface EchoIds {
  taskId: string;
  contextId: string;
  /** Id of the Message that answers. */
  answerId: string;
  timestamp: string;
}

export function isStreaming(request: EchoRequest): boolean {
  return request.method === 'SendStreamingMessage';
}

export function newIds(): EchoIds {
  const timestamp = new Date().toISOString();
  return { taskId: randomUUID(), contextId: randomUUID(), answerId: randomUUID(), timestamp };
}

/** Returns the answer to a blocking SendMessage. */
export function echoTask(request: EchoRequest, ids = newIds()): object {
  const { message } = request.params;
  const { taskId, contextId, timestamp } = ids;
  const answer = answerOf(request, ids);
  const task = {
    id: taskId,
    contextId,
    status: { state: 'TASK_STATE_COMPLETED', message: answer, timestamp },
    artifacts: [{ artifactId: 'echo', name: 'echo', parts: message.parts }],
    history: [{ ...message, taskId, contextId }, answer],
  };
  return { jsonrpc: '2.0', id: request.id, result: { task } };
}

/** Returns the four events of the Task. */
export function echoEvents(request: EchoRequest, ids = newIds()): object[] {
  const { message } = request.params;
  const { taskId, contextId, timestamp } = ids;
  const answer = answerOf(request, ids);
  const history = [{ ...message, taskId, contextId }];
  return [
    { task: { id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED', timestamp }, history } },
    { statusUpdate: { taskId, contextId, status: { state: 'TASK_STATE_WORKING', timestamp } } },
    { artifactUpdate: { taskId, contextId, artifact: { artifactId: 'echo', name: 'echo', parts: message.parts } } },
    { statusUpdate: { taskId, contextId, status: { state: 'TASK_STATE_COMPLETED', message: answer, timestamp } } },
  ];
}

/** Returns an event in the answer to a SendStreamingMessage. */
export function echoFrame({ id }: EchoRequest, event: string): string {
  return `data: {"jsonrpc":"2.0","id":${id},"result":${event}}\n\n`;
}

/** Returns all frames of the answer to a SendStreamingMessage. */
export function echoFrames(request: EchoRequest): string[] {
  return echoEvents(request).map((event) => echoFrame(request, JSON.stringify(event)));
}

function answerOf({ params: { message } }: EchoRequest, { taskId, contextId, answerId }: EchoIds): object {
  return { messageId: answerId, taskId, contextId, role: 'ROLE_AGENT', parts: message.parts };
}

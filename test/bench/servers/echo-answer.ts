// What the echo floors answer: what Parley answers, made with as little as possible and kept nowhere.
import { randomUUID } from 'node:crypto';

export interface EchoRequest {
  id: number;
  method: string;
  params: { message: { messageId: string; role: string; parts: unknown[] } };
}

export function isStreaming(request: EchoRequest): boolean {
  return request.method === 'SendStreamingMessage';
}

/** The Task of a blocking SendMessage. */
export function echoTask({ id, params: { message } }: EchoRequest): object {
  const [taskId, contextId, timestamp] = [randomUUID(), randomUUID(), new Date().toISOString()];
  const answer = { messageId: randomUUID(), taskId, contextId, role: 'ROLE_AGENT', parts: message.parts };
  const task = {
    id: taskId,
    contextId,
    status: { state: 'TASK_STATE_COMPLETED', message: answer, timestamp },
    artifacts: [{ artifactId: 'echo', name: 'echo', parts: message.parts }],
    history: [{ ...message, taskId, contextId }, answer],
  };
  return { jsonrpc: '2.0', id, result: { task } };
}

/** The four events of a SendStreamingMessage, as server-sent events. */
export function* echoFrames({ id, params: { message } }: EchoRequest): Generator<string> {
  const [taskId, contextId, timestamp] = [randomUUID(), randomUUID(), new Date().toISOString()];
  const answer = { messageId: randomUUID(), taskId, contextId, role: 'ROLE_AGENT', parts: message.parts };
  const history = [{ ...message, taskId, contextId }];
  const results = [
    { task: { id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED', timestamp }, history } },
    { statusUpdate: { taskId, contextId, status: { state: 'TASK_STATE_WORKING', timestamp } } },
    { artifactUpdate: { taskId, contextId, artifact: { artifactId: 'echo', name: 'echo', parts: message.parts } } },
    { statusUpdate: { taskId, contextId, status: { state: 'TASK_STATE_COMPLETED', message: answer, timestamp } } },
  ];
  for (const result of results) yield `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
}

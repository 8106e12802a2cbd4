import { randomUUID } from 'node:crypto';
import { ClientFactory as ClientFactory03 } from '@a2a-js/sdk/client';
import { SendMessageRequest, StreamResponse, Task } from 'a2a-sdk-v1';
import { ClientFactory as ClientFactory10 } from 'a2a-sdk-v1/client';

/** Client of the official SDK, with the same operations in both versions. */
export interface SdkClient {
  send(text: string, taskId?: string): Promise<{ taskId: string; json: string }>;
  stream(text: string): AsyncIterable<string>;
  cancel(taskId: string): Promise<string>;
}

/** Creates a client of the official SDK of 1.0 for a base URL. */
export async function client10(base: string): Promise<SdkClient> {
  const client = await new ClientFactory10().createFromUrl(`${base}/`, '.well-known/agent-card.json');
  const request = (text: string, taskId?: string, returnImmediately = false): SendMessageRequest =>
    SendMessageRequest.fromJSON({
      message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], taskId },
      configuration: { returnImmediately },
    });
  return {
    async send(text, taskId) {
      const task = (await client.sendMessage(request(text, taskId, text === 'wait'))) as Task;
      return { taskId: task.id, json: JSON.stringify(Task.toJSON(task)) };
    },
    async *stream(text) {
      for await (const event of client.sendMessageStream(request(text)))
        yield JSON.stringify(StreamResponse.toJSON(event));
    },
    async cancel(id) {
      return JSON.stringify(Task.toJSON(await client.cancelTask({ tenant: '', id, metadata: undefined })));
    },
  };
}

/** Creates a client of the official SDK of 0.3 for a base URL. */
export async function client03(base: string): Promise<SdkClient> {
  const client = await new ClientFactory03().createFromUrl(`${base}/`, '.well-known/agent-card.json');
  const params = (text: string, taskId?: string) => ({
    message: {
      kind: 'message' as const,
      messageId: randomUUID(),
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text }],
      ...(taskId !== undefined && { taskId }),
    },
    configuration: { blocking: text !== 'wait' },
  });
  return {
    async send(text, taskId) {
      const result = await client.sendMessage(params(text, taskId));
      if (result.kind !== 'task') throw new Error('It answered with a Message');
      return { taskId: result.id, json: JSON.stringify(result) };
    },
    async *stream(text) {
      for await (const event of client.sendMessageStream(params(text))) yield JSON.stringify(event);
    },
    cancel: async (id) => JSON.stringify(await client.cancelTask({ id })),
  };
}

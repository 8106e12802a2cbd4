import { SendMessageRequest, type Task, TaskPushNotificationConfig } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import type { JsonObject } from '#libs/protocol';
import { message } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { linear, ruled, unique } from '../support/workflow.js';

const stage = useSharedStage({ env: { GRPC_PORT: '0' } });

describe.each(['JSONRPC', 'HTTP+JSON', 'GRPC'])("the official SDK's client over %s", (transport) => {
  it('makes, reads, lists and deletes configs, and is notified', async () => {
    const hook = await WebhookReceiver.start();
    stage.defer(() => hook.stop());
    const client = await asking(transport);
    const inline = { taskPushNotificationConfig: { url: hook.url, token: 'sdk' } };
    const { id: taskId } = (await client.sendMessage(request('go', {}, inline))) as Task;
    await until(() => hook.story.length === 2, { what: 'the first turn' });
    expect(hook.received[0]?.headers['x-a2a-notification-token']).toBe('sdk');
    const made = await client.createTaskPushNotificationConfig(
      TaskPushNotificationConfig.fromJSON({ taskId, id: 'second', url: `${hook.url}/2` }),
    );
    expect([made.id, made.taskId, made.url]).toEqual(['second', taskId, `${hook.url}/2`]);
    const named = { tenant: '', taskId, id: 'second' };
    expect(await client.getTaskPushNotificationConfig(named)).toEqual(made);
    const page = { tenant: '', taskId, pageSize: 0, pageToken: '' };
    expect((await client.listTaskPushNotificationConfig(page)).configs).toHaveLength(2);
    await client.deleteTaskPushNotificationConfig(named);
    expect((await client.listTaskPushNotificationConfig(page)).configs).toHaveLength(1);
    await client.sendMessage(request('more', { taskId }));
    await hook.ended();
    expect(hook.story).toEqual(['task', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });
});

async function asking(transport: string): Promise<Client> {
  const name = unique('push_sdk');
  const turns = [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }];
  await stage.api.save(linear(name, ruled('asks', turns)));
  const base = stage.api.base(name, 'asks');
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new JsonRpcTransportFactory(), new RestTransportFactory(), new GrpcTransportFactory()],
    preferredTransports: [transport],
  });
  return new ClientFactory(options).createFromUrl(`${base}/`, '.well-known/agent-card.json');
}

function request(text: string, fields: JsonObject = {}, configuration: JsonObject = {}): SendMessageRequest {
  return SendMessageRequest.fromJSON({ message: { ...message(text), ...fields }, configuration });
}

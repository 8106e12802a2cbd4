import { sendTask } from '../support/a2a.js';
import { SampleReceiver } from '../support/sample-receiver.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { type ReceivedNotification, WebhookReceiver } from '../support/webhook-receiver.js';
import { linear, script, unique } from '../support/workflow.js';

const stage = useSharedStage();

/** Runs a Task, and returns the first notification about it, with the URL that it was sent to. */
async function notification(): Promise<{ url: string; told: ReceivedNotification }> {
  const name = unique('hook');
  await stage.api.save(linear(name, script('a', { complete: 'done' })));
  const hook = await WebhookReceiver.start();
  const configuration = { taskPushNotificationConfig: { url: hook.url } };
  await sendTask(`${stage.parley.url}/a2a/workflows/${name}`, 'go', { configuration });
  await hook.ended();
  await hook.stop();
  return { url: hook.url, told: hook.received[0]! };
}

describe('the receivers that docs/PUSH.md begins with', () => {
  it.each(['node:http', 'express', 'fastify'] as const)(
    'with %s accept a notification, and refuse an altered one',
    async (sample) => {
      const { url, told } = await notification();
      const receiver = await SampleReceiver.start(stage.parley.url, url, sample);
      try {
        const names = ['content-type', 'x-a2a-notification-signature', 'x-a2a-notification-id'];
        const headers = Object.fromEntries(names.map((name) => [name, String(told.headers[name])]));
        expect(await receiver.send(headers, `${told.body} `)).toBe(401);
        expect(await receiver.send({ ...headers, 'x-a2a-notification-id': unique('other') }, told.body)).toBe(401);
        expect(await receiver.send({ 'content-type': headers['content-type']! }, told.body)).toBe(401);
        expect(receiver.output).toBe('');
        expect(await receiver.send(headers, told.body)).toBe(204);
        await until(() => receiver.taken(told.id) === 1, { what: 'the receiver to print the notification' });
      } finally {
        await receiver.stop();
      }
    },
  );
});

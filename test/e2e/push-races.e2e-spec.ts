import { setTimeout as delay } from 'node:timers/promises';
import type { JsonObject } from '#libs/protocol';
import { getTask, rpc, sendTask } from '../support/a2a.js';
import { type Parley, startParley } from '../support/parley.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { linear, script, unique } from '../support/workflow.js';

const TASKS = 40;
const stage = useSharedStage();
let second: Parley;

beforeAll(async () => {
  second = await startParley({ databaseUrl: stage.database.url });
  stage.defer(() => second.stop());
});

it('a config made at another replica, at any moment of a Task, misses nothing from then on', async () => {
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  const notified = await raced(hook, 150);
  // A machine that is slow enough makes every config too late: such a race shows little.
  for (let sleepMs = 300; sleepMs < 10_000 && !notified.some(({ sure }) => sure); sleepMs *= 2)
    notified.push(...(await raced(hook, sleepMs)));
  expect(notified.some(({ sure }) => sure)).toBe(true);
  for (const { taskId, sure } of notified) {
    // One that was late may still be on its way; one that came too late tells nothing.
    if (sure || sequences(hook, taskId).length > 0)
      await until(() => sequences(hook, taskId).at(-1) === 8, { what: `the end of ${taskId}` });
    const seen = sequences(hook, taskId);
    expect(seen).toEqual(seen.map((_, index) => 8 - seen.length + 1 + index));
  }
});

/** Tasks of eight events, with a config for each, made a little later for every next one. */
async function raced(hook: WebhookReceiver, sleepMs: number): Promise<{ taskId: string; sure: boolean }[]> {
  const name = unique('race');
  const steps = Array.from({ length: 6 }, (): JsonObject[] => [{ status: 'working' }, { sleep: sleepMs }]).flat();
  await stage.api.save(linear(name, script('s', ...steps, { complete: 'done' })));
  const path = `/a2a/workflows/${name}/nodes/s`;
  return Promise.all(
    Array.from({ length: TASKS }, async (_, index) => {
      const task = await sendTask(`${stage.parley.url}${path}`, 'go', { configuration: { returnImmediately: true } });
      await delay(index * 20);
      const params = { taskId: task.id, url: hook.url };
      const made = await rpc(`${second.url}${path}`, 'CreateTaskPushNotificationConfig', params);
      expect(made.body.error).toBeUndefined();
      const { status } = await getTask(`${second.url}${path}`, task.id);
      return { taskId: task.id, sure: status.state !== 'TASK_STATE_COMPLETED' };
    }),
  );
}

function sequences(hook: WebhookReceiver, taskId: string): number[] {
  return hook.accepted.flatMap(({ id, event }) => {
    const of = 'statusUpdate' in event ? event.statusUpdate.taskId : undefined;
    return of === taskId ? Number(id.split('.')[1]) : [];
  });
}

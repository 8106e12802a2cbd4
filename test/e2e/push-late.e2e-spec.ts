import type { JsonObject, Task } from '#libs/protocol';
import { rpc } from '../support/a2a.js';
import { useBindings } from '../support/bindings-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { linear, script, unique } from '../support/workflow.js';

const V03 = { headers: { 'a2a-version': '0.3' } };
const { stage, table } = useBindings();

const ENDS = [
  ['TASK_STATE_COMPLETED', [{ status: 'working' }, { complete: 'done' }]],
  ['TASK_STATE_FAILED', [{ status: 'working' }, { fail: 'no' }]],
  ['TASK_STATE_REJECTED', [{ reject: 'no' }]],
  ['TASK_STATE_CANCELED', [{ ask: 'more?' }]],
] as const;

describe.each(table)('a webhook made after the end of its Task over %s', (_name, binding) => {
  it.each(ENDS)('is told once of the end (%s), and what is shown of it has no secret', async (state, steps) => {
    const hook = await receiver();
    const { path, task } = await ended(state, steps);
    const given = { url: hook.url, token: 'tok', authentication: { scheme: 'Bearer', credentials: 'secret' } };
    const made = await binding.call(path, 'CreateTaskPushNotificationConfig', {
      ...given,
      id: 'late',
      taskId: task.id,
    });
    const got = await binding.call(path, 'GetTaskPushNotificationConfig', { taskId: task.id, id: 'late' });
    const listed = await binding.call<{ configs: object[] }>(path, 'ListTaskPushNotificationConfigs', {
      taskId: task.id,
    });
    expect(made.error).toBeUndefined();
    expect(got.result).toEqual(made.result);
    expect(listed.result?.configs).toEqual([made.result]);
    expect(JSON.stringify(made.result)).not.toMatch(/tok"|secret/);
    await until(async () => (await delivered(task.id)) > 0, { what: 'the notification' });
    await rested(task.id);
    expect(hook.story).toEqual([state]);
    expect(hook.received).toHaveLength(1);
    expect(hook.received[0]?.headers).toMatchObject({
      'x-a2a-notification-token': 'tok',
      authorization: 'Bearer secret',
    });
  });
});

it('a webhook of A2A 0.3 made after the end of its Task gets the Task once, in its final state', async () => {
  const hook = await receiver();
  const { base, task } = await ended('TASK_STATE_COMPLETED', [{ complete: 'done' }]);
  const pushNotificationConfig = { url: hook.url, id: 'late' };
  await rpc(base, 'tasks/pushNotificationConfig/set', { taskId: task.id, pushNotificationConfig }, V03);
  await until(() => hook.received.length > 0, { what: 'the notification' });
  await rested(task.id);
  expect(hook.received.map(({ body }) => JSON.parse(body))).toEqual([
    expect.objectContaining({ kind: 'task', id: task.id, status: expect.objectContaining({ state: 'completed' }) }),
  ]);
});

async function receiver(): Promise<WebhookReceiver> {
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  return hook;
}

/** A Task that has ended so, without a webhook. */
async function ended(state: string, steps: readonly JsonObject[]): Promise<{ path: string; base: string; task: Task }> {
  const name = unique('late');
  await stage.api.save(linear(name, script('s', ...steps)));
  const base = stage.api.base(name, 's');
  const message = { messageId: unique('m'), role: 'ROLE_USER', parts: [{ text: 'go' }] };
  const { body } = await rpc<{ task: Task }>(base, 'SendMessage', { message });
  const task = body.result!.task;
  if (state === 'TASK_STATE_CANCELED') await rpc(base, 'CancelTask', { id: task.id });
  return { path: `workflows/${name}/nodes/s`, base, task };
}

async function delivered(taskId: string): Promise<number> {
  const rows = await stage.database.query(`SELECT FROM push_delivery WHERE task_id = $1 AND status = 'delivered'`, [
    taskId,
  ]);
  return rows.length;
}

/** Until nothing more is to be sent to the webhooks of a Task. */
async function rested(taskId: string): Promise<void> {
  const left = 'SELECT FROM push_config WHERE task_id = $1 AND scheduled';
  await until(async () => (await stage.database.query(left, [taskId])).length === 0, { what: 'the webhook to rest' });
}

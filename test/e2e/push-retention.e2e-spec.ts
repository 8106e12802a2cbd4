import { sendTask } from '../support/a2a.js';
import { purgeUntil, stopScheduledPurges } from '../support/purges.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { linear, script, unique } from '../support/workflow.js';

const stage = useSharedStage({ env: { TASK_RETENTION: '1s' } });

beforeAll(() => stopScheduledPurges(stage.database.query));

it('configs and the ledger of a Task go with it', async () => {
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  const name = unique('old');
  await stage.api.save(linear(name, script('s', { complete: 'done' })));
  const configuration = { taskPushNotificationConfig: { url: hook.url } };
  const { id } = await sendTask(stage.api.base(name, 's'), 'go', { configuration });
  await hook.ended();
  await until(async () => (await rows(id)).deliveries === 2, { what: 'the ledger' });
  expect(await rows(id)).toEqual({ tasks: 1, configs: 1, deliveries: 2 });
  await purgeUntil(stage.database.query, async () => (await rows(id)).tasks === 0);
  expect(await rows(id)).toEqual({ tasks: 0, configs: 0, deliveries: 0 });
});

async function rows(taskId: string): Promise<Record<string, number>> {
  const [row] = await stage.database.query<Record<string, number>>(
    `SELECT (SELECT count(*)::int FROM task WHERE task_id = $1) AS tasks,
            (SELECT count(*)::int FROM push_config WHERE task_id = $1) AS configs,
            (SELECT count(*)::int FROM push_delivery WHERE task_id = $1) AS deliveries`,
    [taskId],
  );
  return row ?? {};
}

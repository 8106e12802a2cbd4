import pg from 'pg';
import { notificationVerifier } from '../../docs/push/verify-notification.mjs';
import type { JsonObject } from '#libs/protocol';
import { sendTask } from '../support/a2a.js';
import { freePort, startParley } from '../support/parley.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { linear, script, unique } from '../support/workflow.js';

const stage = useStage();

describe('notifications of a service that is killed', () => {
  it('arrive in order after the receiver was down and the service was killed in between', async () => {
    const port = String(await freePort());
    let parley = await startParley({ databaseUrl: stage.database.url, env: { PORT: port } });
    const hook = await receiver();
    // Of what comes before it is down, whenever that is, it takes the first alone.
    hook.statuses = [200, ...Array<number>(1_000).fill(503)];
    const steps: JsonObject[] = [
      { status: 'working', text: 'one' },
      { sleep: 1_000 },
      { artifact: { parts: [{ text: 'a' }] } },
      { status: 'working', text: 'two' },
      { complete: 'done' },
    ];
    const base = (await scripted(steps)).replace(stage.parley.url, parley.url);
    await sendTask(base, 'go', {
      configuration: { returnImmediately: true, taskPushNotificationConfig: { url: hook.url } },
    });
    await until(() => hook.accepted.length >= 1, { what: 'the first notification' });
    await hook.goDown();
    await parley.kill9();
    parley = await startParley({ databaseUrl: stage.database.url, env: { PORT: port } });
    stage.defer(() => parley.stop());
    await until(async () => (await attempts('retried')) > 0, { what: 'an attempt in vain' });
    hook.statuses = [];
    await hook.comeUp();
    await hook.ended();
    const sequences = hook.accepted.map(({ id }) => Number(id.split('.')[1]));
    expect(sequences).toEqual(sequences.map((_, index) => index + 1));
    expect(hook.story.at(-1)).toMatch(/COMPLETED|FAILED/);
    const verify = notificationVerifier(parley.url, hook.url);
    for (const { headers, body, id } of hook.accepted) {
      expect(await verify(headers, body)).toBe(id);
      await expect(verify(headers, `${body.slice(0, -1)} }`)).rejects.toThrow();
    }

    async function attempts(outcome: string): Promise<number> {
      const texts = await Promise.all(
        [parley.url, stage.parley.url].map(async (url) => (await fetch(`${url}/metrics`)).text()),
      );
      const line = new RegExp(`parley_push_attempts_total\\{outcome="${outcome}"\\} (\\d+)`);
      return texts.reduce((sum, text) => sum + Number(line.exec(text)?.[1] ?? 0), 0);
    }
  });

  it('come although the service was killed between the Task and its config', async () => {
    const second = await startParley({ databaseUrl: stage.database.url });
    const hook = await receiver();
    const base = (await scripted([{ complete: 'done' }])).replace(stage.parley.url, second.url);
    const gate = new pg.Client({ connectionString: stage.database.url });
    await gate.connect();
    await gate.query('BEGIN');
    await gate.query('LOCK TABLE push_config IN ACCESS EXCLUSIVE MODE');
    const unanswered = sendTask(base, 'go', inline(hook)).catch(() => 'unanswered');
    await until(async () => (await tasksAt(base)) > 0, { what: 'the Task' });
    await second.kill9();
    expect(await unanswered).toBe('unanswered');
    await gate.query('ROLLBACK');
    await gate.end();
    await hook.ended();
    expect(hook.story).toEqual(['task', 'TASK_STATE_COMPLETED']);
  });
});

/** How many Tasks an agent has. */
async function tasksAt(base: string): Promise<number> {
  const [row] = await stage.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM task WHERE agent = $1',
    [base.split('/a2a/')[1]],
  );
  return row?.count ?? 0;
}

async function receiver(): Promise<WebhookReceiver> {
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  return hook;
}

/** The base URL of a node that does these steps. */
async function scripted(steps: JsonObject[]): Promise<string> {
  const name = unique('push');
  await stage.api.save(linear(name, script('s', ...steps)));
  return `${stage.parley.url}/a2a/workflows/${name}/nodes/s`;
}

function inline(hook: WebhookReceiver): { configuration: JsonObject } {
  return { configuration: { taskPushNotificationConfig: { url: hook.url } } };
}

import type { JsonObject, Task } from '#libs/protocol';
import { rest, rpc, sendTask, stream } from '../support/a2a.js';
import { DROPS_FACTS } from '../support/dropped-facts.js';
import { GatewayClient } from '../support/gateway-client.js';
import { startParley } from '../support/parley.js';
import { freshDatabase } from '../support/postgres.js';
import { metric } from '../support/service-metrics.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { Api, linear, output, script, unique } from '../support/workflow.js';

const stage = useStage();
const STEPS: JsonObject[] = [
  { status: 'working', text: 'one' },
  { artifact: { parts: [{ text: 'a' }] } },
  { status: 'working', text: 'two' },
  { complete: 'done' },
];
const STORY = ['task', 'TASK_STATE_WORKING', 'artifact', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'];

describe('notifications', () => {
  it('tell every event of the Task in order, with the credentials that the config names', async () => {
    const hook = await receiver();
    const base = await scripted(STEPS);
    const authentication = { scheme: 'Bearer', credentials: 'secret-1' };
    await sendTask(base, 'go', {
      configuration: { taskPushNotificationConfig: { url: hook.url, token: 't1', authentication } },
    });
    await hook.ended();
    expect(hook.story).toEqual(STORY);
    const [first] = hook.received;
    expect(first?.headers).toMatchObject({
      'content-type': 'application/a2a+json',
      authorization: 'Bearer secret-1',
      'x-a2a-notification-token': 't1',
    });
    expect(new Set(hook.received.map(({ id }) => id)).size).toBe(STORY.length);
    const { body } = await rpc<{ configs: JsonObject[] }>(base, 'ListTaskPushNotificationConfigs', {
      taskId: idOf(first?.event),
    });
    expect(JSON.stringify(body)).not.toContain('secret-1');
    expect(stage.parley.logs()).not.toContain('secret-1');
  });

  it('come again in order after the receiver failed', async () => {
    const hook = await receiver();
    hook.statuses = [503, 200, 500, 302];
    const base = await scripted(STEPS);
    await sendTask(base, 'go', inline(hook));
    await hook.ended();
    expect(hook.story).toEqual(STORY);
    expect(hook.received.map(({ answered }) => answered)).toEqual([503, 200, 500, 302, 200, 200, 200, 200]);
    const [failed, again] = hook.received;
    expect([again?.id, again?.body]).toEqual([failed?.id, failed?.body]);
  });

  it('of a config made later begin with the next event', async () => {
    const hook = await receiver();
    const base = await scripted([{ status: 'working' }, { ask: 'more?' }], [{ complete: 'done' }]);
    const task = await sendTask(base, 'go');
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const made = await rest<{ id: string }>(base, 'POST', `/tasks/${task.id}/pushNotificationConfigs`, {
      body: { url: hook.url },
    });
    expect(made.status).toBe(200);
    await sendTask(base, 'more', { fields: { taskId: task.id } });
    await hook.ended();
    expect(hook.story).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });

  it('of a follow-up begin with the event that it makes', async () => {
    const hook = await receiver();
    const base = await scripted([{ ask: 'more?' }], [{ complete: 'done' }]);
    const task = await sendTask(base, 'go');
    await sendTask(base, 'more', { ...inline(hook), fields: { taskId: task.id } });
    await hook.ended();
    expect(hook.story).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
  });

  it('come from any replica for a config that was made at another', async () => {
    const second = await startParley({ databaseUrl: stage.database.url });
    stage.defer(() => second.stop());
    const hook = await receiver();
    const base = await scripted([{ ask: 'more?' }], STEPS);
    const task = await sendTask(base, 'go');
    const elsewhere = base.replace(stage.parley.url, second.url);
    const made = await rpc<{ id: string }>(elsewhere, 'CreateTaskPushNotificationConfig', {
      taskId: task.id,
      url: hook.url,
    });
    expect(made.body.error).toBeUndefined();
    await sendTask(base, 'more', { fields: { taskId: task.id } });
    await hook.ended();
    expect(hook.story.slice(-4)).toEqual(STORY.slice(1));
  });

  it('are not made for a deleted config', async () => {
    const hook = await receiver();
    const base = await scripted([{ ask: 'more?' }], [{ complete: 'done' }]);
    const task = await sendTask(base, 'go', inline(hook));
    await until(() => hook.story.length === 2, { what: 'the first turn' });
    const { body } = await rpc<{ configs: { id: string }[] }>(base, 'ListTaskPushNotificationConfigs', {
      taskId: task.id,
    });
    const id = body.result?.configs[0]?.id ?? '';
    for (const _ of [1, 2]) {
      const gone = await rest(base, 'DELETE', `/tasks/${task.id}/pushNotificationConfigs/${id}`);
      expect([gone.status, gone.body]).toEqual([200, {}]);
    }
    const other = await receiver();
    await rpc(base, 'CreateTaskPushNotificationConfig', { taskId: task.id, url: other.url });
    await sendTask(base, 'more', { fields: { taskId: task.id } });
    await other.ended();
    expect(hook.received).toHaveLength(2);
  });
});

describe('a service whose event emitter drops every emission', () => {
  it('completes Tasks and runs, ends streams, shows events to everybody, and notifies', async () => {
    const database = await freshDatabase();
    const parley = await startParley({ databaseUrl: database.url, env: DROPS_FACTS });
    const gateway = await GatewayClient.open(parley.url);
    stage.defer(async () => {
      await gateway.cut();
      await parley.stop();
      await database.drop();
    });
    const api = new Api(parley.url);
    const hook = await receiver();
    const workflow = await api.save(linear(unique('push'), script('s', ...STEPS), output('out')));
    const events = await (await stream(api.base(workflow.name, 's'), 'go', inline(hook))).all();
    const last = events.at(-1)?.data.result;
    expect(last && 'statusUpdate' in last && last.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
    await hook.ended();
    expect(hook.story).toEqual(STORY);
    const run = await api.ended(await api.start(workflow.name));
    expect(run.status).toBe('completed');
    const isShown = (): boolean => gateway.events.some((it) => it['runId'] === run.runId && it.type === 'done');
    await until(isShown, { what: 'the end of the run at the gateway' });
    for (const fact of ['tasks.committed', 'task.settled'])
      await until(() => parley.logs().includes(`dropped ${fact}\n`), { what: `${fact} to be dropped` });
    expect(await metric(parley, 'parley_runs_total')).toBe(0);
  });
});

async function receiver(): Promise<WebhookReceiver> {
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  return hook;
}

/** The base URL of a node that does these steps: for its first Message, and for every further one. */
async function scripted(first: JsonObject[], more: JsonObject[] = [{ complete: 'again' }]): Promise<string> {
  const name = unique('push');
  const program = { rules: [{ when: { turn: 1 }, steps: first }], otherwise: more };
  const node = script('s');
  await stage.api.save(linear(name, { ...node, config: { script: program } }));
  return `${stage.parley.url}/a2a/workflows/${name}/nodes/s`;
}

function inline(hook: WebhookReceiver): { configuration: JsonObject } {
  return { configuration: { taskPushNotificationConfig: { url: hook.url } } };
}

function idOf(event: unknown): string {
  return (event as { task: Task }).task.id;
}

import { rpc, sendTask } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { linear, script, unique } from '../support/workflow.js';
import { notificationVerifier } from '../../docs/push/verify-notification.mjs';

const stage = useSharedStage();
interface Delivery {
  id: string;
  taskId: string;
  configId: string;
  sequence: number;
  url: string;
  status: string;
  attempts: number;
  lastStatus?: number;
  lastError?: string;
  nextAttemptAt?: string;
  disabledReason?: string;
}

describe('the ledger', () => {
  it('tells every notification, the newest first, page by page', async () => {
    const { hook, taskId } = await notified();
    await hook.ended();
    const all = await deliveries(taskId, 'delivered', 3);
    expect(all.map(({ sequence }) => sequence)).toEqual([3, 2, 1]);
    const sent = hook.received.map(({ id }) => id).toReversed();
    expect(all.map(({ id }) => id)).toEqual(sent);
    expect(all[0]).toMatchObject({ taskId, url: hook.url, status: 'delivered', attempts: 1, lastStatus: 200 });
    const seen: string[] = [];
    let pageToken = '';
    do {
      const page = await stage.api.call<{ deliveries: Delivery[]; nextPageToken: string }>(
        'GET',
        `/deliveries?taskId=${taskId}&pageSize=2&pageToken=${pageToken}`,
      );
      seen.push(...page.body.deliveries.map(({ id }) => id));
      pageToken = page.body.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toEqual(sent);
  });

  it('tells when a failed one is tried again, and with what it failed', async () => {
    const { hook, taskId } = await notified({ headers: { 'retry-after': '600' }, statuses: [503] });
    const [pending] = await deliveries(taskId, 'pending', 1);
    expect(pending).toMatchObject({ sequence: 1, attempts: 1, lastStatus: 503 });
    expect(Date.parse(pending?.nextAttemptAt ?? '') - Date.now()).toBeGreaterThan(500_000);
    hook.answerHeaders = {};
    expect((await redeliver(pending?.id ?? '')).status).toBe(202);
    await hook.ended();
    expect(hook.story).toEqual(['task', 'artifact', 'TASK_STATE_COMPLETED']);
    await deliveries(taskId, 'delivered', 3);
  });

  it('tells why a config was disabled; a redelivery goes on from there', async () => {
    const { hook, taskId } = await notified({ statuses: [200, 410] });
    const [failed] = await deliveries(taskId, 'failed', 1);
    expect(failed).toMatchObject({ sequence: 2, lastStatus: 410, disabledReason: 'The receiver answered 410 Gone' });
    expect(hook.received).toHaveLength(2);
    await redeliver(failed?.id ?? '');
    await hook.ended();
    expect(hook.received.map(({ id }) => id.split('.')[1])).toEqual(['1', '2', '2', '3']);
  });

  it('sends a delivered one once more under the same id', async () => {
    const { hook, taskId } = await notified();
    await hook.ended();
    const [, middle] = await deliveries(taskId, 'delivered', 3);
    await redeliver(middle?.id ?? '');
    await until(() => hook.received.length === 4, { what: 'the redelivery' });
    expect([hook.received[3]?.id, hook.received[3]?.body]).toEqual([middle?.id, hook.received[1]?.body]);
  });

  it('refuses what is malformed, and does not know what is unknown', async () => {
    for (const query of ['status=odd', 'pageSize=0', 'pageToken=x']) {
      const reply = await stage.api.call('GET', `/deliveries?${query}`);
      expect(reply.status).toBe(400);
      expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    }
    for (const id of ['x', '00000000-0000-4000-8000-000000000000.1']) expect((await redeliver(id)).status).toBe(404);
  });

  it('does not send for a deleted config', async () => {
    const { hook, taskId } = await notified();
    await hook.ended();
    const [last] = await deliveries(taskId, 'delivered', 3);
    const params = { taskId, id: last?.configId };
    await rpc(`${stage.parley.url}/a2a`, 'DeleteTaskPushNotificationConfig', params);
    expect((await redeliver(last?.id ?? '')).status).toBe(409);
  });

  it('does not promise what its config was deleted before', async () => {
    const { taskId } = await notified({ headers: { 'retry-after': '600' }, statuses: [200, 503] });
    const [pending] = await deliveries(taskId, 'pending', 1);
    const params = { taskId, id: pending?.configId };
    await rpc(`${stage.parley.url}/a2a`, 'DeleteTaskPushNotificationConfig', params);
    const [failed] = await deliveries(taskId, 'failed', 1);
    expect(failed).toMatchObject({
      id: pending?.id,
      attempts: 1,
      lastStatus: 503,
      disabledReason: 'The config was deleted',
    });
    expect(failed).not.toHaveProperty('nextAttemptAt');
    await deliveries(taskId, 'pending', 0);
    await deliveries(taskId, 'delivered', 1);
  });

  it('shows nothing of another owner', async () => {
    const { hook, taskId } = await notified();
    await hook.ended();
    const [last] = await deliveries(taskId, 'delivered', 3);
    await stage.database.query(`UPDATE push_delivery SET owner = 'somebody' WHERE task_id = $1`, [taskId]);
    const { body } = await stage.api.call('GET', `/deliveries?taskId=${taskId}`);
    expect(body).toEqual({ deliveries: [], nextPageToken: '' });
    expect((await redeliver(last?.id ?? '')).status).toBe(404);
  });

  it('is counted', async () => {
    const metrics = await (await fetch(`${stage.parley.url}/metrics`)).text();
    expect(metrics).toMatch(/parley_push_attempts_total\{outcome="delivered"\} \d+/);
  });
});

describe('the signature', () => {
  it('is verified by the sample verifier, which refuses any other body, id or signature', async () => {
    const { hook } = await notified();
    await hook.ended();
    const verify = notificationVerifier(stage.parley.url, hook.url);
    for (const { headers, body, id } of hook.received) expect(await verify(headers, body)).toBe(id);
    const [one, two] = hook.received;
    if (!one || !two) throw new Error('Nothing was received');
    await expect(verify(one.headers, `${one.body} `)).rejects.toThrow();
    await expect(verify(two.headers, one.body)).rejects.toThrow();
    const header = 'x-a2a-notification-signature';
    await expect(verify({ ...one.headers, [header]: two.headers[header] }, one.body)).rejects.toThrow();
    await expect(verify({ ...one.headers, 'x-a2a-notification-id': two.id }, one.body)).rejects.toThrow();
    await expect(verify({ ...one.headers, [header]: undefined }, one.body)).rejects.toThrow('not signed');
    await expect(
      notificationVerifier(stage.parley.url, hook.url, { maxAgeSeconds: -1 })(one.headers, one.body),
    ).rejects.toThrow();
  });

  it('names a key whose private half is not shown', async () => {
    const response = await fetch(`${stage.parley.url}/.well-known/jwks.json`);
    const { keys } = (await response.json()) as { keys: object[] };
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0] ?? {}).toSorted()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });
});

/** A Task of three events that a receiver is notified of. */
async function notified(
  receiver: { statuses?: number[]; headers?: Record<string, string> } = {},
): Promise<{ hook: WebhookReceiver; taskId: string }> {
  const hook = await WebhookReceiver.start();
  stage.defer(() => hook.stop());
  hook.statuses = receiver.statuses ?? [];
  hook.answerHeaders = receiver.headers ?? {};
  const name = unique('ledger');
  await stage.api.save(linear(name, script('s', { artifact: { parts: [{ text: 'a' }] } }, { complete: 'done' })));
  const configuration = { taskPushNotificationConfig: { url: hook.url } };
  const task = await sendTask(`${stage.parley.url}/a2a/workflows/${name}/nodes/s`, 'go', { configuration });
  return { hook, taskId: task.id };
}

/** Waits until the Task has so many deliveries in a state. */
function deliveries(taskId: string, status: string, count: number): Promise<Delivery[]> {
  return until(
    async () => {
      const path = `/deliveries?taskId=${taskId}&status=${status}`;
      const { body } = await stage.api.call<{ deliveries: Delivery[] }>('GET', path);
      return body.deliveries.length === count && body.deliveries;
    },
    { what: `${count} deliveries to be ${status}` },
  );
}

function redeliver(id: string): ReturnType<typeof stage.api.call> {
  return stage.api.call('POST', `/deliveries/${id}/redeliver`);
}

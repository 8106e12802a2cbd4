import type { JsonValue, Task } from '#libs/protocol';
import { rpc, sendTask } from '../support/a2a.js';
import { BrainstormApi, payloadOf, transforms } from '../support/brainstorm.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { holds } from '../support/fake-behaviour.js';
import { GatewayClient } from '../support/gateway-client.js';
import { startParley } from '../support/parley.js';
import { ids, range } from '../support/sse.js';
import { useTenants } from '../support/tenant-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import type { Api } from '../support/workflow.js';

const tenants = useTenants();
const { stage } = tenants;
const LONG = 180_000;

let ann: Api;
let storms: BrainstormApi;
let a: FakeAgent;
let b: FakeAgent;

beforeEach(async () => {
  ann = await tenants.caller('ann', 'acme');
  storms = new BrainstormApi(ann);
  [a, b] = [await stage.fake({ streaming: true }), await stage.fake({ streaming: true })];
  for (const agent of [a, b]) agent.always(transforms());
});

const rested = async (): Promise<string> => {
  const id = await storms.start([a, b], { maxIterations: 1 });
  expect(await storms.rested(id, LONG)).toMatchObject({ status: 'converged' });
  return id;
};

describe('a brainstorm of a tenant', () => {
  it('is shown, listed and followed, goes on, and is approved', async () => {
    const id = await rested();
    expect((await ann.call('GET', '/brainstorms')).text).toContain(id);
    expect((await storms.act(id, 'iterate')).status).toBe(202);
    expect(await storms.reached(id, ({ iteration }) => iteration === 2, LONG)).toMatchObject({ iteration: 2 });
    await storms.rested(id, LONG);
    expect(await storms.act(id, 'approve')).toMatchObject({ status: 200, body: { status: 'approved' } });
    const frames = await storms.log(id);
    expect(ids(frames)).toEqual(range(1, frames.length));
  });

  it('is canceled while it rests, and while an agent works, which is told', async () => {
    const resting = await rested();
    expect(await storms.act(resting, 'cancel')).toMatchObject({ status: 200, body: { status: 'canceled' } });
    a.always(holds());
    const working = await storms.start([a, b]);
    await until(() => a.taskIds().length === 2, { within: LONG, what: "the agent's Task" });
    expect(await storms.act(working, 'cancel')).toMatchObject({ status: 200, body: { status: 'canceled' } });
    await until(() => a.cancels.length > 0, { within: LONG, what: 'the cancel at the agent' });
  });

  it('is a Task at the service: GetTask, a Message that goes on with it, CancelTask', async () => {
    const base = `${ann.url}/a2a`;
    const id = await rested();
    const read = await rpc<Task>(base, 'GetTask', { id }, ann);
    expect(read.body.result).toMatchObject({ id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    const gone = await sendTask(base, 'iterate', { headers: ann.headers, fields: { taskId: id } });
    expect(gone).toMatchObject({ id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    expect(await storms.get(id)).toMatchObject({ iteration: 2 });
    const canceled = await rpc<Task>(base, 'CancelTask', { id }, ann);
    expect(canceled.body.result).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
  });

  it('is told of by webhooks and the gateway', async () => {
    const hook = await WebhookReceiver.start();
    stage.defer(() => hook.stop());
    const id = await rested();
    const config = { taskId: id, id: 'c', url: hook.url };
    const made = await rpc(`${ann.url}/a2a`, 'CreateTaskPushNotificationConfig', config, ann);
    expect(made.body.result).toMatchObject({ id: 'c', taskId: id });
    const watched = await GatewayClient.open(ann.url, { streams: 'task', taskId: id }, ann);
    expect((await storms.act(id, 'approve')).status).toBe(200);
    await hook.ended(LONG);
    await until(() => watched.events.length > 0, { within: LONG, what: 'its end' });
    await watched.cut();
  });

  it('goes on after kill -9 of its replica, with what its agents had answered', async () => {
    const doomed = await startParley({ databaseUrl: stage.database.url, env: tenants.env });
    try {
      const there = new BrainstormApi(await tenants.caller('ann', 'acme', doomed.url));
      b.always((call) => {
        const data = { ...payloadOf(call).state, architecture: 'kept' } as unknown as JsonValue;
        return {
          steps: [
            { status: 'TASK_STATE_WORKING' },
            { hold: true },
            { artifact: { parts: [{ data }] } },
            { status: 'TASK_STATE_COMPLETED' },
          ],
        };
      });
      const id = await there.start([a, b], { maxIterations: 1 });
      const reader = await there.events(id);
      await reader.find(({ event, data }) => event === 'agent.phase' && data.payload['position'] === 1, {
        within: LONG,
      });
      await doomed.kill9();
      await until(() => b.calls.some(({ method }) => method === 'SubscribeToTask' || method === 'GetTask'), {
        within: LONG,
        what: 'another to take over',
      });
      b.release();
      expect(await storms.rested(id, LONG)).toMatchObject({ status: 'converged', state: { architecture: 'kept' } });
      expect([a, b].map(({ sends }) => sends.length)).toEqual([1, 1]);
    } finally {
      await doomed.kill9();
    }
  });
});

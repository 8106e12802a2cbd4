import type { AgentCard, Task } from '#libs/protocol';
import { rest, rpc, sendTask } from '../support/a2a.js';
import { outlines, Talks } from '../support/conversation.js';
import type { FakeAgent } from '../support/fake-agent.js';
import { answers, holds } from '../support/fake-behaviour.js';
import { GatewayClient } from '../support/gateway-client.js';
import { startParley } from '../support/parley.js';
import { ids, range } from '../support/sse.js';
import { useTenants } from '../support/tenant-stage.js';
import { until } from '../support/until.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { type Api, linear, script, says, unique } from '../support/workflow.js';

const tenants = useTenants();
const { stage } = tenants;
const LONG = 180_000;

let ann: Api;
let talks: Talks;
let a: FakeAgent;
let b: FakeAgent;

beforeEach(async () => {
  ann = await tenants.caller('ann', 'acme');
  talks = new Talks(ann);
  [a, b] = [await stage.fake({ name: 'a', streaming: true }), await stage.fake({ name: 'b', streaming: true })];
  a.always((_call, index) => answers(`A${index + 1}`));
  b.always((_call, index) => answers(`B${index + 1}`));
});

const between = (fields: object = {}) => ({
  requester: a.url,
  target: b.url,
  message: 'hello',
  maxTurns: 6,
  ...fields,
});

/** A conversation that waits for its caller after the first turn. */
async function paused(fields: object = {}, at = talks): Promise<string> {
  const known = b.sends.length;
  b.next(holds('B1'));
  const id = await at.start(between(fields));
  await b.sent(known + 1, { within: LONG });
  expect((await at.command(id, 'pause')).status).toBe(202);
  b.release();
  await at.reached(id, (it) => it.paused === true, LONG);
  return id;
}

describe('a conversation of a tenant', () => {
  it('is shown, listed and followed, paused, told a turn, resumed and stopped', async () => {
    const id = await paused();
    const reader = await talks.events(id);
    expect((await ann.call('GET', '/conversations')).text).toContain(id);
    expect((await talks.command(id, 'turns', { text: 'said for A' })).status).toBe(202);
    await talks.reached(id, ({ turns, paused: waits }) => turns.length === 3 && waits === true, LONG);
    b.always(holds('B2'));
    expect((await talks.command(id, 'resume')).status).toBe(202);
    await b.sent(2, { within: LONG });
    expect((await talks.command(id, 'stop')).status).toBe(202);
    b.release();
    const frames = await reader.all({ within: LONG });
    expect(outlines(frames)).toEqual(['0 hello', '1 B1', '2 said for A', '3 B2', 'complete done']);
    expect(ids(frames)).toEqual(range(1, 5));
  });

  it('is canceled while it waits, and while its agent works, which is told', async () => {
    const waiting = await paused();
    expect(await talks.command(waiting, 'cancel')).toMatchObject({ status: 200, body: { outcome: 'canceled' } });
    b.always(holds());
    const working = await talks.start(between());
    await b.sent(2, { within: LONG });
    await until(() => b.taskIds().length === 2, { within: LONG, what: "the agent's Task" });
    expect(await talks.command(working, 'cancel')).toMatchObject({ status: 200, body: { outcome: 'canceled' } });
    await until(() => b.cancels.length > 0, { within: LONG, what: 'the cancel at the agent' });
  });

  it('is an agent of the tenant: its card, a Message, GetTask, a subscription and CancelTask', async () => {
    const base = `${ann.url}/a2a/conversations`;
    const card = await rest<AgentCard>(base, 'GET', '/.well-known/agent-card.json', ann);
    expect(card).toMatchObject({ status: 200, body: { name: 'conversations', skills: [{ id: 'converse' }] } });
    const task = await sendTask(base, [{ data: between({ maxTurns: 1 }) }], ann);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await talks.get(task.id)).turns.map(({ text }) => text)).toEqual(['hello', 'B1', 'A1']);
    const read = await rpc<Task>(base, 'GetTask', { id: task.id }, ann);
    expect(read.body.result).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    const id = await paused();
    const canceled = await rpc<Task>(base, 'CancelTask', { id }, ann);
    expect(canceled.body.result).toMatchObject({ id, status: { state: 'TASK_STATE_CANCELED' } });
    expect(await talks.get(id)).toMatchObject({ outcome: 'canceled' });
  });

  it('is told of by webhooks and the gateway', async () => {
    const hook = await WebhookReceiver.start();
    stage.defer(() => hook.stop());
    const id = await paused({ maxTurns: 1 });
    const base = `${ann.url}/a2a/conversations`;
    const config = { taskId: id, id: 'c', url: hook.url };
    const made = await rpc(base, 'CreateTaskPushNotificationConfig', config, ann);
    expect(made.body.result).toMatchObject({ id: 'c', taskId: id });
    const watched = await GatewayClient.open(ann.url, { streams: 'a2a,task', conversationId: id }, ann);
    expect((await talks.command(id, 'resume')).status).toBe(202);
    await talks.ended(id, LONG);
    await hook.ended(LONG);
    const listed = await rpc(base, 'ListTaskPushNotificationConfigs', { taskId: id }, ann);
    expect(listed.body.result).toMatchObject({ configs: [{ id: 'c' }] });
    await until(() => watched.events.some(({ outcome }) => outcome !== undefined), { within: LONG, what: 'its end' });
    await watched.cut();
  });

  it('names agents of its tenant, which another tenant has not', async () => {
    const name = unique('answers');
    await ann.save(linear(name, script('s', ...says('from acme'))));
    const ended = await talks.ended(await talks.start({ target: name, message: 'hello' }), LONG);
    expect(ended.turns.map(({ text }) => text)).toEqual(['hello', 'from acme']);
    const evil = new Talks(await tenants.caller('ann', 'evil'));
    expect((await evil.post({ target: name, message: 'hello' })).status).toBe(422);
    expect((await evil.post({ target: unique('none'), message: 'hello' })).status).toBe(422);
    await evil.api.save(linear(name, script('s', ...says('from evil'))));
    const other = await evil.ended(await evil.start({ target: name, message: 'hello' }), LONG);
    expect(other.turns.map(({ text }) => text)).toEqual(['hello', 'from evil']);
  });

  it('goes on after kill -9 of its replica, working or paused', async () => {
    const doomed = await startParley({ databaseUrl: stage.database.url, env: tenants.env });
    try {
      const there = new Talks(await tenants.caller('ann', 'acme', doomed.url));
      const waiting = await paused({ maxTurns: 1 }, there);
      b.next(holds('B2'));
      const working = await there.start(between({ maxTurns: 1 }));
      await until(async () => (await logOf(working)).includes(b.taskIds()[1] ?? 'unknown'), {
        within: LONG,
        what: "the agent's Task to be known",
      });
      await doomed.kill9();
      await until(() => b.calls.some(({ method }) => method === 'SubscribeToTask' || method === 'GetTask'), {
        within: LONG,
        what: 'another to take over',
      });
      b.release();
      const ended = await talks.ended(working, LONG);
      expect(ended.turns.map(({ text }) => text)).toEqual(['hello', 'B2', 'A1']);
      expect((await talks.get(waiting)).paused).toBe(true);
      expect((await talks.command(waiting, 'resume')).status).toBe(202);
      expect((await talks.ended(waiting, LONG)).turns.map(({ text }) => text)).toEqual(['hello', 'B1', 'A2']);
      expect(b.texts).toEqual(['hello', 'hello']);
    } finally {
      await doomed.kill9();
    }
  });
});

async function logOf(taskId: string): Promise<string> {
  return JSON.stringify(await stage.database.query('SELECT * FROM task_event WHERE task_id = $1', [taskId]));
}

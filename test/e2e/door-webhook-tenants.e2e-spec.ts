import type { Task } from '#libs/protocol';
import { rest, rpc, sendTask } from '../support/a2a.js';
import { type AgentWebhook, DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { useTenants } from '../support/tenant-stage.js';
import { until } from '../support/until.js';
import type { Api } from '../support/workflow.js';

const TOKEN = 'x-a2a-notification-token';
// No agent reaches the webhooks: only the tests call them.
const tenants = useTenants({ PUBLIC_URL: 'http://127.0.0.1:1' });
const { stage } = tenants;

/** A Task of a tenant that is parked, with the webhook that its agent got. */
interface ParkedTask {
  api: Api;
  agent: DoorAgent;
  base: string;
  id: string;
  webhook: AgentWebhook;
}

let acme: ParkedTask;
let other: ParkedTask;

beforeAll(async () => {
  [acme, other] = await Promise.all([parkTask('acme'), parkTask('other')]);
});

async function parkTask(org: string): Promise<ParkedTask> {
  const api = await tenants.caller('ann', org);
  const agent = await DoorAgent.start({ push: true });
  stage.defer(() => agent.end());
  const { base } = await openDoor(stage.parley.url, agent.url, { policy: { park: 1 } }, api.headers);
  const sent = { configuration: { returnImmediately: true }, headers: api.headers };
  const { id } = await sendTask(base, 'hold', sent);
  await until(() => postpone(id), { what: `the task of ${org} to be parked` });
  return { api, agent, base, id, webhook: agent.webhooks[0]! };
}

/** Postpones the poll of a Task. @returns true if the Task is parked */
async function postpone(id: string): Promise<boolean> {
  const sql = `UPDATE registered_agent_task SET poll_at = now() + interval '1 day'
    WHERE task_id = $1 AND poll_at IS NOT NULL RETURNING task_id`;
  return (await stage.database.query(sql, [id])).length === 1;
}

async function stateOf({ base, id, api }: ParkedTask): Promise<string | undefined> {
  const { body } = await rpc<Task>(base, 'GetTask', { id }, { headers: api.headers });
  return body.result?.status.state;
}

async function rowOf({ id }: ParkedTask): Promise<unknown> {
  const sql = 'SELECT webhook, is_notified, poll_at, xmin::text AS row FROM registered_agent_task WHERE task_id = $1';
  return (await stage.database.query(sql, [id]))[0];
}

/** Calls the webhook of a Task with a token. @returns the status and the text of the answer */
async function notify({ webhook }: ParkedTask, token: string, headers = {}): Promise<[number, string]> {
  const url = `${stage.parley.url}${new URL(webhook.url).pathname}`;
  const answer = await fetch(url, { method: 'POST', headers: { [TOKEN]: token, ...headers }, body: '{}' });
  return [answer.status, await answer.text()];
}

it("refuses the token of another tenant's webhook, writes nothing and names nothing", async () => {
  const before = await rowOf(other);
  for (const headers of [{}, acme.api.headers, other.api.headers]) {
    const [status, text] = await notify(other, acme.webhook.token, headers);
    expect(status).toBe(403);
    for (const secret of [other.id, other.agent.url, other.webhook.token, other.webhook.taskId])
      expect(text).not.toContain(secret);
  }
  expect(await rowOf(other)).toEqual(before);
});

it('shows the task to its own tenant only', async () => {
  for (const [reader, owner] of [
    [acme, other],
    [other, acme],
  ] as const) {
    const { headers } = reader.api;
    for (const base of [owner.base, reader.base, `${stage.parley.url}/a2a`]) {
      const { status, body } = await rpc(base, 'GetTask', { id: owner.id }, { headers });
      expect([status, body.result]).toEqual([expect.any(Number), undefined]);
    }
    const { status } = await rest(`${stage.parley.url}/api`, 'GET', `/tasks/${owner.id}/events`, { headers });
    expect(status).toBe(404);
  }
});

it('wakes the task of its own tenant only', async () => {
  const before = await rowOf(other);
  acme.agent.release();
  other.agent.release();
  expect((await notify(acme, acme.webhook.token))[0]).toBe(204);
  await until(async () => (await stateOf(acme)) === 'TASK_STATE_COMPLETED', { what: 'the task to end' });
  expect([await rowOf(other), await stateOf(other)]).toEqual([before, 'TASK_STATE_WORKING']);
  expect((await notify(other, other.webhook.token))[0]).toBe(204);
  await until(async () => (await stateOf(other)) === 'TASK_STATE_COMPLETED', { what: 'the other task to end' });
});

import { useTenants } from '../support/tenant-stage.js';
import { until } from '../support/until.js';
import { type Api, input, linear, output, unique } from '../support/workflow.js';

const tenants = useTenants({ OPERATOR_TENANT: 'operators' });
const QUEUED = 150;

/** Saves a workflow of a name that both tenants use. */
async function saved(api: Api, name: string): Promise<Api> {
  await api.save(linear(name, input('for'), output('out')));
  return api;
}

async function startOf(api: Api, runId: string): Promise<number> {
  const { status, nodes } = await api.ended(runId);
  if (status !== 'completed') throw new Error(`The run ${runId} is ${status}`);
  return Date.parse(nodes['for']!.startedAt!);
}

it('a limit of all tenants lets a run of a tenant begin after one run of a tenant with a long queue', async () => {
  const operator = await tenants.caller('olga', 'operators');
  const name = unique('turns');
  const [busy, rare] = [
    await saved(await tenants.caller('ann', 'busy'), name),
    await saved(await tenants.caller('bob', 'rare'), name),
  ];
  const limit = { target: `workflows/${name}`, allTenants: true };
  expect((await operator.call('POST', '/limits', { name, ...limit, concurrency: 0 })).status).toBe(201);
  const queued = await Promise.all(Array.from({ length: QUEUED }, () => busy.start(name, { for: 'x' })));
  const waiting = async () =>
    (await tenants.stage.database.query('SELECT FROM run_slot WHERE key = $1 AND NOT is_held', [''])).length;
  await until(async () => (await waiting()) === QUEUED, { what: 'all runs of the busy tenant to wait' });
  const single = await rare.start(name, { for: 'x' });
  await until(async () => (await waiting()) === QUEUED + 1, { what: 'the single run to wait' });
  expect((await operator.call('PUT', `/limits/${name}`, { ...limit, concurrency: 1 })).status).toBe(200);
  const begun = await startOf(rare, single);
  const starts = await Promise.all(queued.map((runId) => startOf(busy, runId)));
  const before = starts.filter((start) => start < begun).length;
  expect({ before, isAtMostOne: before <= 1 }).toEqual({ before, isAtMostOne: true });
  expect((await operator.call('DELETE', `/limits/${name}`)).status).toBe(204);
});

it('a caller outside the tenant of the operator cannot limit all tenants', async () => {
  const ann = await tenants.caller('ann', 'busy');
  const body = { name: unique('limit'), target: 'workflows/*', allTenants: true, concurrency: 1 };
  const { status, text } = await ann.call('POST', '/limits', body);
  expect([status, text]).toEqual([403, expect.stringContaining('allTenants')]);
  expect((await ann.call('GET', `/limits/${body.name}`)).status).toBe(404);
  const { name, ...replacement } = body;
  const own = { ...replacement, allTenants: false };
  expect((await ann.call('POST', '/limits', { name, ...own })).status).toBe(201);
  expect((await ann.call('PUT', `/limits/${name}`, replacement)).status).toBe(403);
  expect((await ann.call('DELETE', `/limits/${name}`)).status).toBe(204);
});

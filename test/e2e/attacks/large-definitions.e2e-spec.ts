import { VERSION } from '../../support/a2a.js';
import { mcpClient } from '../../support/mcp.js';
import { type Parley, startParley } from '../../support/parley.js';
import { useTenants } from '../../support/tenant-stage.js';
import { takeTurns } from '../../support/turns.js';
import { Api, echo, input, linear, output, type Workflow } from '../../support/workflow.js';

takeTurns();

/** The heap that is enough: with more than this alive at any moment, the process ends. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=256' };
const PATIENCE_MS = 600_000;
const TENANTS = 10;
/** Definitions of 3.9 MB that an earlier version took: together more than the heap. */
const OLD = 70;

const tenants = useTenants(HEAP);
const { stage } = tenants;

/** Almost as large as a definition may be, with all of it in what callers are told. */
function largest(name: string): Workflow {
  const schema = { type: 'string', description: 's'.repeat(60_000) };
  const inputs = ['topic', 'style', 'length'].map((id) => ({ id, type: 'input', config: { schema } }));
  const writer = { ...echo('writer'), config: { prompt: 'p'.repeat(60_000) } };
  return { ...linear(name, ...inputs, writer, output('out')), description: 'd'.repeat(4_000) };
}

/** A request as a patient client makes it: again while the service is too busy to answer within a minute. */
async function patientFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  for (;;) {
    const response = await fetch(...request);
    if (response.status !== 503) return response;
    await response.arrayBuffer();
  }
}

/** What a caller of a tenant asks for first. */
async function firstPages(parley: Parley, org: string): Promise<void> {
  const { headers } = await tenants.caller('ann', org, parley.url);
  for (const path of ['/.well-known/agent-card.json', '/a2a/agents?pageSize=10', '/api/workflows?pageSize=1'])
    expect((await patientFetch(`${parley.url}${path}`, { headers })).status).toBe(200);
}

/** All of what a caller of a tenant asks for: cards, the directory, tools and the list. */
async function everything(parley: Parley, org: string): Promise<void> {
  const api = await tenants.caller('ann', org, parley.url);
  const { headers } = api;
  const get = async (path: string): Promise<unknown> => {
    const response = await patientFetch(`${parley.url}${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    return response.json();
  };
  expect(await get('/.well-known/agent-card.json')).toHaveProperty('skills');
  expect(await get('/a2a/agents?pageSize=1000')).toHaveProperty('agents');
  const extended = await patientFetch(`${parley.url}/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...VERSION, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard', params: {} }),
  });
  expect([extended.status, await extended.json()]).toEqual([
    200,
    expect.objectContaining({ result: expect.anything() }),
  ]);
  const client = await mcpClient(`${parley.url}/mcp`, { mode: 'auto', headers, fetch: patientFetch });
  expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  await client.close();
  expect(Array.isArray(await get('/api/workflows'))).toBe(true);
}

async function runsStill(parley: Parley, org: string): Promise<void> {
  const api = await tenants.caller('bob', org, parley.url);
  const run = await api.ended(await api.start('small', { in: 'x' }));
  expect(run.status).toBe('completed');
}

const small = linear('small', input('in'), echo('e'), output('out'));

/** Fills further tenants with what one has, as many callers would with many requests. */
async function copyTenant(from: string, count: number): Promise<void> {
  for (const [table, columns] of [
    ['workflow', 'name, revision, created_at, updated_at'],
    ['workflow_revision', 'name, revision, definition, created_at'],
    ['workflow_summary', 'name, revision, bytes, description, interface, nodes'],
  ])
    await stage.database.query(`INSERT INTO ${table} (tenant, ${columns})
      SELECT 't' || n, ${columns} FROM generate_series(1, ${count}) AS n, ${table} WHERE tenant = '${from}'`);
}

describe('definitions as large and as many as they may be, with a heap of 256 MiB', () => {
  it(
    'are refused at a sum, and everything works in one tenant and in ten, before a restart and after it',
    async () => {
      const api = await tenants.caller('ann', 't0');
      await api.save(small);
      let saved = 0;
      for (; saved < 200; saved += 1) {
        const reply = await api.call<{ detail: string }>('POST', '/workflows', largest(`w${saved}`));
        if (reply.status === 201) continue;
        expect([reply.status, reply.body.detail]).toEqual([422, expect.stringContaining('bytes together')]);
        break;
      }
      expect(saved).toBeLessThan(200);
      await everything(stage.parley, 't0');
      await copyTenant('t0', TENANTS - 1);
      for (let tenant = 1; tenant < TENANTS; tenant += 1) await firstPages(stage.parley, `t${tenant}`);
      for (const tenant of ['t1', 't2']) await everything(stage.parley, tenant);
      await runsStill(stage.parley, 't7');
      const replica = await startParley({ databaseUrl: stage.database.url, env: tenants.env });
      try {
        await Promise.all(Array.from({ length: 4 }, (_, tenant) => everything(replica, `t${tenant}`)));
        await runsStill(replica, 't7');
      } finally {
        await replica.stop();
      }
    },
    PATIENCE_MS,
  );

  it(
    'work on where an earlier version has taken larger ones',
    async () => {
      const api = await tenants.caller('ann', 'old');
      await api.save(small);
      const definition = JSON.stringify({
        ...linear('$name', { ...echo('e'), config: { system_prompt: 'x'.repeat(3_900_000) } }),
      });
      await stage.database.query(`INSERT INTO workflow (tenant, name, revision, created_at, updated_at)
        SELECT 'old', 'w' || n, 1, now(), now() FROM generate_series(1, ${OLD}) AS n`);
      await stage.database.query(
        `INSERT INTO workflow_revision (tenant, name, revision, definition, created_at)
         SELECT 'old', 'w' || n, 1, replace($1, '$name', 'w' || n)::json, now() FROM generate_series(1, ${OLD}) AS n`,
        [definition],
      );
      const replica = await startParley({ databaseUrl: stage.database.url, env: tenants.env });
      try {
        await everything(replica, 'old');
        await runsStill(replica, 'old');
        const theirs = await tenants.caller('bob', 'old', replica.url);
        expect((await theirs.ended(await theirs.start('w1'))).status).toBe('completed');
        expect(await allPages(theirs)).toHaveLength(OLD + 1);
        expect((await theirs.call('PUT', '/workflows/small', { ...small, description: 'changed' })).status).toBe(422);
        expect((await theirs.call('PUT', '/workflows/w1', { ...small, description: 'less' })).status).toBe(200);
        const { body: large } = await theirs.call('GET', '/workflows/w2');
        const refused = await theirs.call<{ detail: string }>('PUT', '/workflows/w2', large);
        expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining('at most 262144 bytes')]);
      } finally {
        await replica.stop();
      }
    },
    PATIENCE_MS,
  );
});

async function allPages({ url, headers }: Api): Promise<unknown[]> {
  const found: unknown[] = [];
  for (let token: string | null = ''; token !== null;) {
    const response: Response = await fetch(`${url}/api/workflows?pageToken=${token}`, { headers });
    found.push(...((await response.json()) as unknown[]));
    token = response.headers.get('next-page-token');
  }
  return found;
}

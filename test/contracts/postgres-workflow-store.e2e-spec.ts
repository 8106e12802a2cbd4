import { jest } from '@jest/globals';
import { Database, POSTGRES_MIGRATIONS } from '#libs/postgres';
import { TASK_MIGRATIONS, TaskRetention } from '#libs/tasks';
import { WORKFLOW_MIGRATIONS, PostgresRunChildStore, PostgresWorkflowStore } from '#libs/workflows';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { describeWorkflowStore } from './workflow-store.contract.js';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await freshDatabase({ empty: true });
  const migrations = [...POSTGRES_MIGRATIONS, ...TASK_MIGRATIONS, ...WORKFLOW_MIGRATIONS];
  database = await Database.connectAndMigrate({ url: server.url, migrations });
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

describeWorkflowStore('PostgresWorkflowStore', () => new PostgresWorkflowStore(database));

describe('PostgresWorkflowStore', () => {
  const definition = { name: 'seen', nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [] };

  it('sees at once what another process saved', async () => {
    const [mine, theirs] = [new PostgresWorkflowStore(database), new PostgresWorkflowStore(database)];
    await mine.createWorkflow(definition);
    expect((await mine.get('seen'))?.revision).toBe('1');
    await theirs.replaceWorkflow({ ...definition, description: 'changed elsewhere' });
    expect((await mine.get('seen'))?.definition.description).toBe('changed elsewhere');
    await theirs.delete('seen');
    expect(await mine.get('seen')).toBeUndefined();
  });

  it('sees a definition that was changed by hand', async () => {
    const store = new PostgresWorkflowStore(database);
    await store.createWorkflow({ ...definition, name: 'by_hand' });
    await store.get('by_hand');
    await server.query(`UPDATE workflow_revision SET definition = $1 WHERE name = 'by_hand'`, [
      JSON.stringify({ ...definition, name: 'by_hand', description: 'by hand' }),
    ]);
    expect((await store.get('by_hand'))?.definition.description).toBe('by hand');
  });

  it('asks the database once for a workflow that it has read before, and gives the same object', async () => {
    const store = new PostgresWorkflowStore(database);
    await store.createWorkflow({
      ...definition,
      name: 'asked',
      nodes: [{ id: 'only_here', type: 'agent', config: {} }],
    });
    const first = await store.get('asked');
    const query = jest.spyOn(database.pool, 'query');
    try {
      expect(await store.get('asked')).toBe(first);
      expect(query).toHaveBeenCalledTimes(1);
      expect((await store.withNode('only_here', 2))[0]).toBe(first);
      expect(query).toHaveBeenCalledTimes(2);
      expect(await store.get('asked', '1')).toBe(first);
      expect(query).toHaveBeenCalledTimes(2);
    } finally {
      query.mockRestore();
    }
  });
});

describe('what a tenant keeps', () => {
  const PROMPT = 'x'.repeat(60_000);
  const large = (name: string) => ({
    name,
    nodes: ['a', 'b', 'c', 'd'].map((id) => ({ id, type: 'agent', config: { prompt: PROMPT } })),
    edges: [],
  });

  it('is bounded in bytes, whoever saves at the same moment, and what is there may still be replaced', async () => {
    const stores = [1, 2].map(() => new PostgresWorkflowStore(database).inTenant('full'));
    const saves = Array.from({ length: 80 }, (_, n) => stores[n % 2]!.createWorkflow(large(`w${n}`)));
    const refused = (await Promise.allSettled(saves)).filter(({ status }) => status === 'rejected');
    expect(refused[0]).toMatchObject({ reason: { status: 422, reason: 'TOO_MANY_WORKFLOWS' } });
    const kept = await server.query<{ bytes: string }>(
      `SELECT sum(bytes)::text AS bytes FROM workflow_summary WHERE tenant = 'full'`,
    );
    expect(Number(kept[0]?.bytes)).toBeLessThanOrEqual(16 * 1024 * 1024);
    expect(Number(kept[0]?.bytes)).toBeGreaterThan(15 * 1024 * 1024);
    const [first] = await stores[0]!.listRevisions(1);
    expect(await stores[1]!.replaceWorkflow(first!.definition)).toBeDefined();
    await stores[0]!.delete(first!.definition.name);
    expect(await stores[1]!.createWorkflow(large('again'))).toBeDefined();
  });

  it('is bounded within one transaction of several saves, which keeps none of them', async () => {
    const store = new PostgresWorkflowStore(database).inTenant('at_once');
    const names = Array.from({ length: 80 }, (_, n) => `w${n}`);
    const saving = store.runAtomically(names, async (inside) => {
      for (const name of names) await inside.createWorkflow(large(name));
    });
    await expect(saving).rejects.toMatchObject({ status: 422 });
    expect(await store.listRevisions(1)).toEqual([]);
  });

  it('is summarized where a replica of an earlier version saved it, however large', async () => {
    const store = new PostgresWorkflowStore(database).inTenant('earlier');
    const old = { ...definition('old'), description: 'd'.repeat(10_000), nodes: oldNodes() };
    await server.query(`INSERT INTO workflow (tenant, name, revision, created_at, updated_at)
      VALUES ('earlier', 'old', 1, now(), now())`);
    await server.query(
      `INSERT INTO workflow_revision (tenant, name, revision, definition, created_at)
       VALUES ('earlier', 'old', 1, $1, now())`,
      [JSON.stringify(old)],
    );
    const [published] = await store.listPublished();
    expect(published?.description).toMatch(/^d{1024}…$/);
    expect((await store.listInterfaces()).get('old')).toMatchObject({
      input: { properties: { topic: { description: 'The input of the node topic' } } },
    });
    expect((await store.listWithNodes(1))[0]?.nodes.map(({ id }) => id)).toEqual(['topic', 'writer']);
    expect((await store.get('old'))?.definition).toEqual(old);
    expect(await store.replaceWorkflow({ ...definition('old'), description: 'new' })).toBeDefined();
    expect((await store.listPublished())[0]?.description).toBe('new');
  });
});

function definition(name: string) {
  return { name, nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [] };
}

function oldNodes() {
  return [
    { id: 'writer', type: 'agent', config: { prompt: 'p'.repeat(1_000_000) } },
    { id: 'topic', type: 'input', config: { schema: { type: 'string', description: 's'.repeat(300_000) } } },
  ];
}

describe('PostgresRunChildStore', () => {
  const child = { runId: 'r1', nodeId: 'n', attempt: 1, taskId: 't1', agentUrl: 'http://127.0.0.1:9/a' };

  it('gives back the children of a run, and the first one that was remembered for an attempt', async () => {
    const store = new PostgresRunChildStore(database, new TaskRetention());
    await store.rememberChild({ ...child, nodeId: 'z' });
    await store.rememberChild(child);
    await store.rememberChild({ ...child, taskId: 'another' });
    await store.rememberChild({ ...child, attempt: 2, taskId: 't2' });
    await store.rememberChild({ ...child, runId: 'r2' });
    expect(await store.listChildren('r1')).toEqual([
      child,
      { ...child, attempt: 2, taskId: 't2' },
      { ...child, nodeId: 'z' },
    ]);
    expect(await store.listChildren('r3')).toEqual([]);
  });
});

describe('the schema', () => {
  it('can be taken back and made again', async () => {
    const runner = database.dataSource.createQueryRunner();
    const migrations = WORKFLOW_MIGRATIONS.map((Migration) => new Migration());
    try {
      for (const it of migrations.toReversed()) await it.down(runner);
      for (const it of migrations) await it.up(runner);
    } finally {
      await runner.release();
    }
    expect(await server.query('SELECT name FROM workflow')).toEqual([]);
  });
});

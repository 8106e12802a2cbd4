import { jest } from '@jest/globals';
import { ORCHESTRATOR_MIGRATIONS, PostgresRunChildStore, PostgresWorkflowStore } from '#libs/orchestrator';
import { Database, POSTGRES_MIGRATIONS } from '#libs/postgres';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { TASK_MIGRATIONS, TaskRetention } from '#libs/tasks';
import { describeWorkflowStore } from './workflow-store.contract.js';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await freshDatabase({ empty: true });
  const migrations = [...POSTGRES_MIGRATIONS, ...TASK_MIGRATIONS, ...ORCHESTRATOR_MIGRATIONS];
  database = await Database.open({ url: server.url, migrations });
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
    await mine.create(definition);
    expect((await mine.get('seen'))?.revision).toBe('1');
    await theirs.replace({ ...definition, description: 'changed elsewhere' });
    expect((await mine.get('seen'))?.definition.description).toBe('changed elsewhere');
    await theirs.delete('seen');
    expect(await mine.get('seen')).toBeUndefined();
  });

  it('sees a definition that was changed by hand', async () => {
    const store = new PostgresWorkflowStore(database);
    await store.create({ ...definition, name: 'by_hand' });
    await store.get('by_hand');
    await server.query(`UPDATE workflow_revision SET definition = $1 WHERE name = 'by_hand'`, [
      JSON.stringify({ ...definition, name: 'by_hand', description: 'by hand' }),
    ]);
    expect((await store.get('by_hand'))?.definition.description).toBe('by hand');
  });

  it('asks the database once for a workflow that it has read before, and gives the same object', async () => {
    const store = new PostgresWorkflowStore(database);
    await store.create({ ...definition, name: 'asked', nodes: [{ id: 'only_here', type: 'agent', config: {} }] });
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

describe('PostgresRunChildStore', () => {
  const child = { runId: 'r1', nodeId: 'n', attempt: 1, taskId: 't1', agentUrl: 'http://127.0.0.1:9/a' };

  it('gives back the children of a run, and the first one that was remembered for an attempt', async () => {
    const store = new PostgresRunChildStore(database, new TaskRetention());
    await store.remember({ ...child, nodeId: 'z' });
    await store.remember(child);
    await store.remember({ ...child, taskId: 'another' });
    await store.remember({ ...child, attempt: 2, taskId: 't2' });
    await store.remember({ ...child, runId: 'r2' });
    expect(await store.of('r1')).toEqual([child, { ...child, attempt: 2, taskId: 't2' }, { ...child, nodeId: 'z' }]);
    expect(await store.of('r3')).toEqual([]);
  });
});

describe('the schema', () => {
  it('can be taken back and made again', async () => {
    const runner = database.dataSource.createQueryRunner();
    const migrations = ORCHESTRATOR_MIGRATIONS.map((Migration) => new Migration());
    try {
      for (const it of migrations.toReversed()) await it.down(runner);
      for (const it of migrations) await it.up(runner);
    } finally {
      await runner.release();
    }
    expect(await server.query('SELECT name FROM workflow')).toEqual([]);
  });
});

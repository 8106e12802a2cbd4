import type pg from 'pg';
import { Database } from '#libs/postgres';
import { PostgresTaskStore, type RevisionPrecondition } from '#libs/tasks';
import { WORKFLOW_MIGRATIONS, PostgresWorkflowStore } from '#libs/workflows';
import type { TestDatabase } from '../support/postgres.js';
import { openTaskDatabase } from './task-database.js';
import { newDraft } from './task-draft.js';

let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase(WORKFLOW_MIGRATIONS));
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

const definition = (name: string) => ({ name, nodes: [{ id: 'a', type: 'agent', config: {} }], edges: [] });

describe('a Task that is read on a premise', () => {
  const draft = newDraft();
  let store: PostgresTaskStore;
  let workflows: PostgresWorkflowStore;

  beforeAll(async () => {
    [store, workflows] = [new PostgresTaskStore(database), new PostgresWorkflowStore(database)];
    await store.writeBatch([draft.created(draft.status('TASK_STATE_COMPLETED', 'done'))]);
  });

  async function newest(name: string): Promise<RevisionPrecondition> {
    await workflows.get(name);
    return workflows.recentRevision(name)!.premise;
  }

  /** The id of what was found, or why nothing was. */
  function read(premise?: RevisionPrecondition, taskId = draft.taskId): Promise<string | undefined> {
    return store.loadTask(taskId, undefined, undefined, premise).then(
      (stored) => stored?.task.id,
      (error: Error) => error.constructor.name,
    );
  }

  it('is found as long as that holds', async () => {
    await workflows.createWorkflow(definition('saved'));
    const first = await newest('saved');
    expect(await read(first)).toBe(draft.taskId);
    await workflows.replaceWorkflow({ ...definition('saved'), description: 'again' });
    expect(await read(first)).toBe('PreconditionFailed');
    const second = await newest('saved');
    expect(await read(second)).toBe(draft.taskId);
    expect(await read({ ...second, tenant: 'another' })).toBe('PreconditionFailed');
    expect(await read(second, 'missing')).toBe('PreconditionFailed');
    await workflows.delete('saved');
    expect(await read(second)).toBe('PreconditionFailed');
    expect(await read()).toBe(draft.taskId);
  });

  it('is found so among others that are read at the same moment, each on its own', async () => {
    await Promise.all(['one', 'two'].map((name) => workflows.createWorkflow(definition(name))));
    const [one, two] = [await newest('one'), await newest('two')];
    await workflows.delete('two');
    const found = await Promise.all([
      read(one),
      read(two),
      read(),
      read(one, 'missing'),
      read(one),
      read(undefined, ''),
    ]);
    const { taskId } = draft;
    expect(found).toEqual([taskId, 'PreconditionFailed', taskId, 'PreconditionFailed', taskId, undefined]);
    expect(await Promise.all([read(two), read(two)])).toEqual(['PreconditionFailed', 'PreconditionFailed']);
    const logs = await Promise.all([store.readLog(taskId, undefined, one), store.readLog(taskId)]);
    expect(logs.map((log) => log?.events?.length)).toEqual([2, 2]);
  });

  it('is looked for by a statement that is planned once, also with others', async () => {
    const premise = await newest('one');
    const pools: pg.Pool[] = [];
    const watched = Object.assign(Object.create(database) as Database, {
      readPool: (...args: Parameters<Database['readPool']>) => pools[pools.push(database.readPool(...args)) - 1]!,
    });
    store = new PostgresTaskStore(watched);
    for (let times = 0; times < 10; times += 1) {
      await read();
      await read(premise);
      await Promise.all([read(), read()]);
      await Promise.all([read(premise), read(premise)]);
    }
    const { rows } = await pools[0]!.query<{ name: string; custom: number; generic: number }>(
      `SELECT name, custom_plans::int AS custom, generic_plans::int AS generic FROM pg_prepared_statements ORDER BY name`,
    );
    const names = ['task-stored', 'task-stored-on', 'tasks-stored', 'tasks-stored-on'];
    expect(rows).toEqual(names.map((name) => ({ name, custom: 0, generic: 10 })));
  });

  it('is read through a pooler of transactions where plain queries are', async () => {
    const pooled = await Database.connectAndMigrate({ url: server.url, poolUrl: server.url, migrations: [] });
    try {
      expect(pooled.readPool('tasks', 1, { jit: 'off' })).toBe(pooled.pool);
      store = new PostgresTaskStore(pooled);
      expect(await read(await newest('one'))).toBe(draft.taskId);
    } finally {
      await pooled.close();
    }
  });
});

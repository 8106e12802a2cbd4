import type { Database } from '#libs/postgres';
import type { TaskRetention } from '#libs/tasks';
import { PostgresRunChildStore } from './postgres-run-stores.js';
import { PostgresWorkflowStore } from './postgres-workflow-store.js';

type Row = Record<string, unknown>;

/** Creates a database that answers each query with all of its rows, and counts the queries. */
function databaseOf(rows: Row[]) {
  const counted = { queries: 0 };
  const query = async (): Promise<{ rows: Row[] }> => {
    counted.queries += 1;
    return { rows };
  };
  return { counted, database: { pool: { query } } as unknown as Database };
}

describe('what many runs that are taken over ask for together', () => {
  it('reads their children with one query', async () => {
    const rows = ['b', 'a', 'b'].map((runId, index) => ({ runId, nodeId: `n${index}`, taskId: `t${index}` }));
    const { counted, database } = databaseOf(rows);
    const store = new PostgresRunChildStore(database, { purgeWith: () => undefined } as unknown as TaskRetention);
    const found = await Promise.all(['a', 'b', 'c', 'a'].map((runId) => store.listChildren(runId)));
    expect(found.map((children) => children.map(({ taskId }) => taskId))).toEqual([['t1'], ['t0', 't2'], [], ['t1']]);
    expect(counted.queries).toBe(1);
  });

  it('reads their revisions with one query, and each once', async () => {
    const definition = { name: 'w', nodes: [], edges: [] };
    const rows = ['1', '2'].map((revision) => ({ name: 'w', revision, definition, bytes: 10, version: '7' }));
    const { counted, database } = databaseOf(rows);
    const store = new PostgresWorkflowStore(database);
    const found = await Promise.all(['1', '2', '3', '1'].map((revision) => store.get('w', revision)));
    expect(found.map((it) => it?.revision)).toEqual(['1', '2', undefined, '1']);
    expect(await store.get('w', '2')).toBe(found[1]);
    expect(counted.queries).toBe(1);
  });
});

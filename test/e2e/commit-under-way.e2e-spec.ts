import pg from 'pg';
import { DatabaseLink } from '../support/database-link.js';
import { type Parley, startParley } from '../support/parley.js';
import { freshDatabase, type TestDatabase } from '../support/postgres.js';
import { refusedWrites } from '../support/service-metrics.js';
import { range } from '../support/sse.js';
import { until } from '../support/until.js';
import { Api, input, linear, script, unique } from '../support/workflow.js';

const NODES = 8;
const HELD = 4711;

let database: TestDatabase;
let link: DatabaseLink;
let parley: Parley;

beforeAll(async () => {
  database = await freshDatabase();
  link = await DatabaseLink.to(database.url);
  parley = await startParley({ databaseUrl: link.url });
  await database.query(`
    CREATE FUNCTION hold_commit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(${HELD}); RETURN NULL; END $$`);
  // The one that makes the Task of a node in the midst of the run, and whoever makes it again.
  await database.query(`
    CREATE TRIGGER held AFTER INSERT ON task FOR EACH ROW WHEN (NEW.agent LIKE '%/nodes/n4')
    EXECUTE FUNCTION hold_commit()`);
});

afterAll(async () => {
  await parley?.stop();
  await link?.stop();
  await database?.drop();
});

/** Waits until so many sessions wait in the middle of a commit of the journal. */
const waiting = (sessions: number): Promise<unknown> =>
  until(
    async () => {
      const [row] = await database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND ltrim(query, E' \\n') LIKE 'WITH %'`,
      );
      return (row?.n ?? 0) >= sessions;
    },
    { what: `${sessions} commits under way` },
  );

describe('a connection that breaks while its commit is under way', () => {
  it('makes no Task twice, and ends no run: the commit that comes through after all is known for what it is', async () => {
    const nodes = range(1, NODES).map((n) => script(`n${n}`, { sleep: 40 }, { complete: `${n}` }));
    const api = new Api(parley.url);
    const { name } = await api.save(linear(unique('under_way'), input('in'), ...nodes));
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('SELECT pg_advisory_lock($1)', [HELD]);
    const runId = await api.start(name, { in: 'x' });
    await waiting(1);
    link.cut();
    link.mend();
    await waiting(2);
    await holder.end();
    const run = await api.ended(runId);
    expect([run.status, run.error]).toEqual(['completed', undefined]);
    const doubled = await database.query(
      'SELECT agent, count(*)::int AS tasks FROM task WHERE context_id = $1 GROUP BY agent HAVING count(*) > 1',
      [run.contextId],
    );
    expect(doubled).toEqual([]);
    const claims = await database.query('SELECT agent FROM task WHERE replica_id IS NOT NULL');
    expect(claims).toEqual([]);
    expect(await refusedWrites(parley)).toBe(0);
  });
});

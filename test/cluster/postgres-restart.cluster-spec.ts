import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { JsonObject } from '#libs/protocol';
import { rpc, sendTask, stream, subscribe } from '../support/a2a.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { patientPool } from '../support/postgres.js';
import { type ClusterDatabase, ReplicaCluster } from '../support/replica-cluster.js';
import { ids, range } from '../support/sse.js';
import { hasEnded, logProblems, storedLog, storedLogs } from '../support/stored-log.js';
import { before, until } from '../support/until.js';
import { Api, linear, script, unique } from '../support/workflow.js';

const CALLERS = 6;

describe('PostgreSQL crashes under load and comes back', () => {
  let postgres: OwnPostgres;
  let pool: pg.Pool;
  let database: ClusterDatabase;
  let cluster: ReplicaCluster;
  let api: Api;

  beforeAll(async () => {
    postgres = await OwnPostgres.start();
    pool = patientPool({ connectionString: postgres.url, max: 2 });
    const query = async <T extends object>(sql: string, values: unknown[] = []) =>
      (await pool.query(sql, values)).rows as T[];
    database = { url: postgres.url, query };
    cluster = await ReplicaCluster.start(database, { replicas: 2, env: { LOG_LEVEL: 'info' } });
    api = new Api(cluster.balancer.url);
  });

  afterAll(async () => {
    await cluster?.stop();
    await pool?.end();
    await postgres?.stop();
  });

  const readiness = async (): Promise<number[]> =>
    Promise.all(cluster.replicas.map(async ({ url }) => (await fetch(`${url}/health/ready`)).status));
  const every = (status: number) =>
    until(async () => (await readiness()).every((it) => it === status), { what: `ready ${status}` });

  it('ready is 503 while it is gone, every acknowledged Task is there afterwards, and streams resume', async () => {
    const name = unique('outage');
    await api.save(linear(name, script('s', { status: 'working' }, { sleep: 300 }, { complete: 'done' })));
    const long = unique('long');
    const steps = range(1, 40).flatMap((n): JsonObject[] => [
      { sleep: 50 },
      { artifact: { parts: [{ text: `${n}` }] } },
    ]);
    await api.save(linear(long, script('s', { status: 'working' }, ...steps, { complete: 'done' })));
    const acknowledged: string[] = [];
    let going = true;
    const caller = async (): Promise<void> => {
      while (going) {
        const configuration = { returnImmediately: true };
        await sendTask(api.base(name, 's'), 'x', { configuration }).then(
          ({ id }) => acknowledged.push(id),
          () => delay(20),
        );
      }
    };
    const callers = Array.from({ length: CALLERS }, caller);
    const reader = await stream(api.base(long, 's'), 'x');
    await reader.find(({ id }) => id === '5');
    await until(() => acknowledged.length > 0, { what: 'a Task to be accepted' });
    await postgres.crash();
    await every(503);
    const during = acknowledged.length;
    await postgres.restart();
    await every(200);
    await until(() => acknowledged.length > during + CALLERS, { what: 'Tasks to be accepted again' });
    going = false;
    await before(Promise.all(callers), { what: 'the callers to have their answers' });
    await until(
      async () => {
        const logs = await storedLogs(database.query, acknowledged);
        return logs.length === acknowledged.length && logs.every(hasEnded);
      },
      { what: 'every acknowledged Task to be there and to end' },
    );
    const first = reader.frames[0]?.data.result;
    if (first === undefined || !('task' in first)) throw new Error('The stream did not begin with the Task');
    const frames = await reader.all().catch(() => reader.frames);
    const cursor = frames.findLast(({ id }) => id !== undefined)?.id ?? '0';
    const rest = await (await subscribe(api.base(long, 's'), first.task.id, cursor)).all();
    const seen = [
      ...ids(frames.filter(({ id }) => id !== undefined)),
      ...ids(rest).filter((id) => id > Number(cursor)),
    ];
    // Those as well whose answers were lost.
    await until(async () => (await storedLogs(database.query)).every(hasEnded), { what: 'every Task to end' });
    const logs = await storedLogs(database.query);
    expect(logs.flatMap(logProblems)).toEqual([]);
    expect(logs.filter(({ state }) => state !== 'TASK_STATE_COMPLETED')).toEqual([]);
    const log = await storedLog(database.query, first.task.id);
    expect(seen).toEqual(range(1, log.lastSequence));
  });

  it('nobody takes over the work of the living because none could show that it lives', async () => {
    const name = unique('patient');
    await api.save(linear(name, script('s', { status: 'working' }, { sleep: 600_000 }, { complete: 'done' })));
    const tasks = await Promise.all(
      range(1, 6).map(() => sendTask(api.base(name, 's'), 'x', { configuration: { returnImmediately: true } })),
    );
    const claims = async () =>
      database.query('SELECT task_id, replica_id FROM task WHERE task_id = ANY($1) ORDER BY 1', [
        tasks.map(({ id }) => id),
      ]);
    const before = await claims();
    await postgres.crash();
    // Longer than a heartbeat may be old.
    await delay(11_000);
    await postgres.restart();
    await every(200);
    expect(await claims()).toEqual(before);
    const { body } = await rpc(api.base(name, 's'), 'GetTask', { id: tasks[0]!.id });
    expect(body.error).toBeUndefined();
  });
});

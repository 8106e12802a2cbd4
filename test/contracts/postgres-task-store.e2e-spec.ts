import { randomUUID } from 'node:crypto';
import type { Job } from '#libs/jobs';
import type { Database } from '#libs/postgres';
import { PostgresTaskStore, type StoredTask, TaskCounts } from '#libs/tasks';
import { asEarlierVersion } from '../support/earlier-log.js';
import type { TestDatabase } from '../support/postgres.js';
import { StatementFaults } from '../support/statement-faults.js';
import { newDraft, REPLICA } from './task-draft.js';
import { describeParkedTasks } from './parked-tasks.contract.js';
import { describeTaskReads } from './task-reads.contract.js';
import { describeTaskStore } from './task-store.contract.js';
import { LivingReplicas } from './living-replicas.js';
import { openTaskDatabase } from './task-database.js';

const HOUR_MS = 3_600_000;

let server: TestDatabase;
let database: Database;
let others: LivingReplicas;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
  others = await LivingReplicas.of(server);
});

afterAll(async () => {
  await others.end();
  await database.close();
  await server.drop();
});

const open = () => new PostgresTaskStore(database);
describeTaskStore('PostgresTaskStore', open, () => others.add());
describeTaskReads('PostgresTaskStore', open);
describeParkedTasks('PostgresTaskStore', open, () => others.add());

describe('PostgresTaskStore when a statement fails', () => {
  it.each(['UPDATE', 'FROM task_log'])('gives a claim back: %s', async (statement) => {
    const faults = new StatementFaults(database);
    const store = new PostgresTaskStore(database);
    const draft = newDraft();
    await store.writeBatch([draft.created(draft.status('TASK_STATE_INPUT_REQUIRED'))]);
    faults.fail(1, 'unanswered', new RegExp(statement));
    const replicaId = `claimant of ${draft.taskId}`;
    await expect(store.claimTask(draft.taskId, replicaId, 'mine')).rejects.toThrow('Connection terminated');
    expect(await store.listClaims(replicaId)).toEqual([]);
    expect(await store.claimTask(draft.taskId, replicaId, 'again')).toBeDefined();
  });
});

it('PostgresTaskStore says by the database’s clock when a Task is to be woken, and its jobs are to be done', async () => {
  const store = new PostgresTaskStore(database);
  const [draft, at] = [newDraft(), new Date()];
  const setClocksApart = (by: number): void => {
    const asked = Date.now();
    database.learnTime(new Date(asked + by), asked);
  };
  setClocksApart(HOUR_MS - 1);
  try {
    const there = database.timeThere(at);
    expect(there.getTime() - at.getTime()).toBe(HOUR_MS);
    const job: Job = { name: 'later', payload: {}, key: draft.taskId, runAt: at };
    await store.writeBatch([{ ...draft.created(draft.parked(at)), jobs: [job] }]);
    expect(await store.readHeader(draft.taskId)).toMatchObject({ wakeAt: there });
    const jobs = await server.query('SELECT run_at FROM graphile_worker.jobs WHERE key = $1', [draft.taskId]);
    expect(jobs).toEqual([{ run_at: there }]);
  } finally {
    setClocksApart(-1);
    await server.query('DELETE FROM graphile_worker._private_jobs WHERE key = $1', [draft.taskId]);
  }
});

describe('PostgresTaskStore and what it reads', () => {
  const scope = (owner: string) => ({ tenant: '', owner });

  it('reads no Artifact for a list without them', async () => {
    const store = new PostgresTaskStore(database);
    const owner = randomUUID();
    const [short, long] = [newDraft({ owner }), newDraft({ owner })];
    const chunks = Array.from({ length: 200 }, (_, index) => long.chunk(String(index)));
    await store.writeBatch([short.created(), long.created()]);
    await store.writeBatch([
      short.continued(short.token, 1, short.chunk('a')),
      long.continued(long.token, 1, ...chunks),
    ]);
    await server.query(`UPDATE task_log SET events = '"unreadable"' WHERE artifact AND task_id = ANY($1)`, [
      [short.taskId, long.taskId],
    ]);
    const told = await store.findTasks({ scope: scope(owner), artifacts: false, limit: 10 });
    expect(told.map(({ task }) => task.artifacts)).toEqual([undefined, undefined]);
    await expect(store.loadTask(short.taskId)).rejects.toThrow();
    await expect(store.loadTask(long.taskId)).rejects.toThrow();
  });

  it('reads what an earlier version has written, which says nothing of sizes and Artifacts', async () => {
    const store = new PostgresTaskStore(database);
    const owner = randomUUID();
    const [short, long] = [newDraft({ owner }), newDraft({ owner })];
    const chunks = Array.from({ length: 200 }, (_, index) => long.chunk(String(index)));
    const ended = long.status('TASK_STATE_COMPLETED', 'done');
    await store.writeBatch([short.created(short.chunk('a')), long.created(...chunks, ended)]);
    const taskIds = [short.taskId, long.taskId];
    const list = (artifacts: boolean) => store.findTasks({ scope: scope(owner), artifacts, limit: 10 });
    const [full, told] = [await list(true), await list(false)];
    await forget(taskIds);
    const tasks = (stored: StoredTask[]) => stored.map(({ task }) => task);
    expect(tasks(await list(true))).toEqual(tasks(full));
    expect(tasks(await list(false))).toEqual(tasks(told));
    const [before, after] = [full, await list(true)].map((stored) => stored.map(({ bytes }) => bytes!));
    expect(after).toEqual(before);
    await store.writeBatch([short.continued(short.token, 2, short.status('TASK_STATE_COMPLETED'))]);
    expect((await store.loadTask(short.taskId))?.task.artifacts).toHaveLength(1);
  });

  it('keeps the sizes that it had to measure of Tasks that have ended, however short their logs', async () => {
    const store = new PostgresTaskStore(database);
    const owner = randomUUID();
    const [loaded, listed, live] = [newDraft({ owner }), newDraft({ owner }), newDraft({ owner })];
    const end = (draft: typeof loaded) => draft.created(draft.chunk('a'), draft.status('TASK_STATE_COMPLETED'));
    await store.writeBatch([end(loaded), end(listed), live.created(live.chunk('a'))]);
    const drafts = [loaded, listed, live];
    const before = await Promise.all(drafts.map(sizes));
    await forget(drafts.map(({ taskId }) => taskId));
    expect((await store.loadTask(loaded.taskId))?.header.size).toEqual(before[0]);
    expect(await sizes(loaded)).toEqual(before[0]);
    expect(await sizes(listed)).toEqual({ log: null, artifacts: null });
    await store.findTasks({ scope: scope(owner), artifacts: false, limit: 10 });
    expect(await sizes(listed)).toEqual(before[1]);
    expect(await sizes(live)).toEqual({ log: null, artifacts: null });
  });

  it('measures a log that an earlier version has gone on with, which counts nothing', async () => {
    const store = new PostgresTaskStore(database);
    const draft = newDraft();
    const { taskId, token } = draft;
    await store.writeBatch([draft.created(draft.chunk('a'))]);
    const first = await sizes(draft);
    await store.writeBatch([draft.continued(token, 2, draft.status('TASK_STATE_WORKING'))]);
    expect((await sizes(draft)).log).toBeGreaterThan(first.log!);
    const payload = JSON.stringify(draft.chunk('b'.repeat(1000)));
    await server.query('UPDATE task SET last_sequence = 4 WHERE task_id = $1', [taskId]);
    await server.query(`INSERT INTO task_event (task_id, sequence, payload, recorded_at) VALUES ($1, 4, $2, now())`, [
      taskId,
      payload,
    ]);
    expect(await sizes(draft)).toEqual({ log: null, artifacts: null });
    await store.writeBatch([draft.continued(token, 4, draft.status('TASK_STATE_COMPLETED'))]);
    const size = (await store.loadTask(taskId))!.header.size!;
    const [whole] = await server.query(
      'SELECT sum(octet_length(payload::text))::int AS log FROM task_event WHERE task_id = $1',
      [taskId],
    );
    expect(size.log).toBe(whole!.log);
    expect(size.artifacts).toBe(first.artifacts! + payload.length);
    expect(await sizes(draft)).toEqual(size);
  });

  async function sizes({ taskId }: { taskId: string }): Promise<{ log: number | null; artifacts: number | null }> {
    const [row] = await server.query<{ log: number | null; artifacts: number | null }>(
      'SELECT log_bytes AS log, artifact_bytes AS artifacts FROM task WHERE task_id = $1',
      [taskId],
    );
    return row!;
  }

  /** As it was before the columns were there. */
  async function forget(taskIds: string[]): Promise<void> {
    await server.query('UPDATE task SET log_bytes = NULL, artifact_bytes = NULL WHERE task_id = ANY($1)', [taskIds]);
    await asEarlierVersion(server.query, taskIds);
  }
});

describe('Snapshots in PostgreSQL', () => {
  const CHUNKS = 100;
  const chunksOf = (draft: ReturnType<typeof newDraft>) =>
    Array.from({ length: CHUNKS }, (_, index) => draft.chunk(`${index} `));
  const kept = (taskId: string) => server.query('SELECT sequence FROM task_snapshot WHERE task_id = $1', [taskId]);
  const unreadable = (taskId: string, from: number) =>
    server.query(`UPDATE task_log SET events = '"unreadable"' WHERE task_id = $1 AND sequence > $2`, [taskId, from]);

  it('are made by the first reader of a settled Task with a long log, and read by the others', async () => {
    const store = new PostgresTaskStore(database);
    const [ended, short, live] = [newDraft(), newDraft(), newDraft()];
    const end = ended.status('TASK_STATE_COMPLETED', 'done');
    await store.writeBatch([
      ended.created(...chunksOf(ended), end),
      short.created(short.chunk('a'), short.status('TASK_STATE_COMPLETED')),
      live.created(live.status('TASK_STATE_WORKING'), ...chunksOf(live)),
    ]);
    const [first] = await Promise.all([
      store.loadTask(ended.taskId),
      store.loadTask(short.taskId),
      store.loadTask(live.taskId),
    ]);
    expect(await kept(ended.taskId)).toEqual([{ sequence: CHUNKS + 2 }]);
    expect(await kept(short.taskId)).toEqual([]);
    expect(await kept(live.taskId)).toEqual([]);
    await unreadable(ended.taskId, 0);
    expect(await store.loadTask(ended.taskId)).toEqual(first);
    await server.query('DELETE FROM task WHERE task_id = $1', [ended.taskId]);
    expect(await kept(ended.taskId)).toEqual([]);
  });

  it('are written with the events that settle the Task, unless those are fenced', async () => {
    const store = new PostgresTaskStore(database);
    const [made, fenced, at] = [newDraft(), newDraft(), CHUNKS + 1];
    await store.writeBatch([made.created(...chunksOf(made)), fenced.created(...chunksOf(fenced))]);
    const end = (draft: typeof made, token: string) => {
      const entry = draft.continued(token, at, draft.status('TASK_STATE_COMPLETED'));
      return { ...entry, snapshot: { task: `{"id":"${draft.taskId}"}`, artifacts: '[]' } };
    };
    const outcomes = await store.writeBatch([
      end(made, made.token),
      end(fenced, 'another token'),
      newDraft().created(),
    ]);
    expect(outcomes).toEqual(['written', 'fenced', 'written']);
    expect((await store.loadTask(made.taskId))?.task).toEqual({ id: made.taskId, artifacts: [] });
    expect(await kept(fenced.taskId)).toEqual([]);
  });

  it('are gone on from where the Task has gone on', async () => {
    const store = new PostgresTaskStore(database);
    const draft = newDraft();
    await store.writeBatch([draft.created(...chunksOf(draft), draft.status('TASK_STATE_INPUT_REQUIRED', '?'))]);
    await store.loadTask(draft.taskId);
    const [at, token] = [CHUNKS + 2, randomUUID()];
    expect((await store.claimTask(draft.taskId, REPLICA, token))?.task.artifacts?.[0]?.parts).toHaveLength(CHUNKS);
    const more = [draft.status('TASK_STATE_WORKING'), ...chunksOf(draft)];
    await store.writeBatch([draft.continued(token, at, ...more, draft.status('TASK_STATE_COMPLETED', 'done'))]);
    await server.query(`UPDATE task_log SET events = '"unreadable"' WHERE task_id = $1 AND sequence <= $2`, [
      draft.taskId,
      at,
    ]);
    const loaded = await store.loadTask(draft.taskId);
    expect(loaded?.task.artifacts?.[0]?.parts).toHaveLength(2 * CHUNKS);
    expect(loaded?.task.history?.map(({ parts }) => parts[0]?.text)).toEqual(['hello', '?', 'done']);
    expect(await kept(draft.taskId)).toEqual([{ sequence: at + CHUNKS + 2 }]);
    expect((await store.loadTask(draft.taskId))?.task).toEqual(loaded?.task);
  });

  it('are passed over by whoever goes on with a log of unknown size', async () => {
    const store = new PostgresTaskStore(database);
    const draft = newDraft();
    const { taskId } = draft;
    await store.writeBatch([draft.created(...chunksOf(draft), draft.status('TASK_STATE_INPUT_REQUIRED', '?'))]);
    const whole = (await store.loadTask(taskId))?.bytes;
    expect(await kept(taskId)).toEqual([{ sequence: CHUNKS + 2 }]);
    await server.query('UPDATE task SET log_bytes = NULL, artifact_bytes = NULL WHERE task_id = $1', [taskId]);
    expect((await store.claimTask(taskId, REPLICA, randomUUID()))?.bytes).toBe(whole);
  });

  it('are not kept of a Task that a standby, which took over, has otherwise at the same sequence', async () => {
    const faults = new StatementFaults(database);
    const store = new PostgresTaskStore(database);
    const draft = newDraft();
    await store.writeBatch([draft.created(...chunksOf(draft), draft.status('TASK_STATE_COMPLETED'))]);
    faults.before(/INTO task_snapshot/, () =>
      server.query(`UPDATE task SET updated_at = updated_at + interval '1 second' WHERE task_id = $1`, [draft.taskId]),
    );
    await store.loadTask(draft.taskId);
    expect(await kept(draft.taskId)).toEqual([]);
    await store.loadTask(draft.taskId);
    expect(await kept(draft.taskId)).toEqual([{ sequence: CHUNKS + 2 }]);
  });

  it('are no answer where the Task is purged before the rest of its log is read', async () => {
    const faults = new StatementFaults(database);
    const store = new PostgresTaskStore(database);
    const draft = newDraft();
    const { taskId } = draft;
    await store.writeBatch([draft.created(...chunksOf(draft), draft.status('TASK_STATE_INPUT_REQUIRED', '?'))]);
    await store.loadTask(taskId);
    expect(await kept(taskId)).toEqual([{ sequence: CHUNKS + 2 }]);
    const token = randomUUID();
    await store.claimTask(taskId, REPLICA, token);
    await store.writeBatch([draft.continued(token, CHUNKS + 2, draft.status('TASK_STATE_COMPLETED', 'done'))]);
    faults.before(/sequence <= \$3/, async () => {
      await server.query('DELETE FROM task_log WHERE task_id = $1', [taskId]);
      await server.query('DELETE FROM task WHERE task_id = $1', [taskId]);
    });
    expect(await store.loadTask(taskId)).toBeUndefined();
  });

  it.each(['refused', 'unanswered'] as const)('do not fail the read that could not keep one: %s', async (fault) => {
    const faults = new StatementFaults(database);
    const store = new PostgresTaskStore(database);
    const draft = newDraft();
    await store.writeBatch([draft.created(...chunksOf(draft), draft.status('TASK_STATE_COMPLETED'))]);
    faults.fail(1, fault, /INTO task_snapshot/);
    const first = await store.loadTask(draft.taskId);
    expect(faults.hasFailed).toBe(true);
    expect(first?.task.artifacts?.[0]?.parts).toHaveLength(CHUNKS);
    expect(await store.loadTask(draft.taskId)).toEqual(first);
    expect(await kept(draft.taskId)).toEqual([{ sequence: CHUNKS + 2 }]);
  });
});

describe('Counts of Tasks in PostgreSQL', () => {
  const count = (owner: string) => new PostgresTaskStore(database).countTasks({ scope: { tenant: '', owner } });
  const rows = (owner: string) =>
    server.query('SELECT writer, tasks FROM task_count WHERE owner = $1 ORDER BY writer', [owner]);

  it('are exact while several journals write, Tasks are deleted and moved, and counts are merged', async () => {
    const owner = randomUUID();
    const stores = Array.from({ length: 4 }, () => new PostgresTaskStore(database));
    const counts = new TaskCounts(database);
    const going = new AbortController();
    const merging = (async () => {
      while (!going.signal.aborted) {
        await counts.foldCounts(going.signal);
        await counts.mergeCounts(going.signal);
      }
    })();
    const deleted = stores.map(async (store) => {
      let gone = 0;
      for (let round = 0; round < 25; round += 1) {
        const drafts = Array.from({ length: 8 }, () => newDraft({ owner, agent: `workflows/${round % 3}` }));
        await store.writeBatch(drafts.map((draft) => draft.created()));
        await store.writeBatch(
          drafts.map((draft) => draft.continued(draft.token, 1, draft.status('TASK_STATE_COMPLETED'))),
        );
        const ids = drafts.slice(0, round % 4).map(({ taskId }) => taskId);
        await server.query('DELETE FROM task WHERE task_id = ANY($1)', [ids]);
        gone += ids.length;
      }
      return gone;
    });
    const gone = (await Promise.all(deleted)).reduce((sum, it) => sum + it, 0);
    going.abort();
    await merging;
    expect(gone).toBe(144);
    expect(await count(owner)).toBe(4 * 25 * 8 - gone);
    const [{ counted, there }] = (await server.query(
      `SELECT (SELECT json_agg(it) FROM (SELECT agent, state, sum(tasks)::int AS tasks FROM task_count
               WHERE owner = $1 GROUP BY agent, state HAVING sum(tasks) <> 0 ORDER BY agent) AS it) AS counted,
              (SELECT json_agg(it) FROM (SELECT agent, state, count(*)::int AS tasks FROM task
               WHERE owner = $1 GROUP BY agent, state ORDER BY agent) AS it) AS there`,
      [owner],
    )) as [{ counted: unknown; there: unknown }];
    expect(counted).toEqual(there);
  });

  it('are one row for each state when their writers are gone, and none where nothing is left', async () => {
    const owner = randomUUID();
    const draft = newDraft({ owner });
    await new PostgresTaskStore(database).writeBatch([draft.created(draft.status('TASK_STATE_COMPLETED'))]);
    expect(await rows(owner)).toEqual([{ writer: expect.stringMatching(/./), tasks: '1' }]);
    const counts = new TaskCounts(database);
    await counts.foldCounts(new AbortController().signal);
    await server.query('DELETE FROM task_writer');
    await counts.mergeCounts(new AbortController().signal);
    expect(await rows(owner)).toEqual([{ writer: '', tasks: '1' }]);
    await server.query('DELETE FROM task WHERE task_id = $1', [draft.taskId]);
    expect(await count(owner)).toBe(0);
    await counts.mergeCounts(new AbortController().signal);
    expect(await rows(owner)).toEqual([]);
  });

  it('do not change where the statement of a batch fails', async () => {
    const owner = randomUUID();
    const store = new PostgresTaskStore(database);
    const [made, refused] = [newDraft({ owner }), newDraft({ owner })];
    await store.writeBatch([made.created()]);
    const broken = refused.created();
    const unreadable = { ...broken, events: broken.events.map((event) => ({ ...event, json: 'no \u0000 text' })) };
    const end = made.continued(made.token, 1, made.status('TASK_STATE_COMPLETED'));
    await expect(store.writeBatch([end, unreadable])).rejects.toThrow('invalid byte sequence');
    expect(await count(owner)).toBe(1);
    expect(await store.countTasks({ scope: { tenant: '', owner }, state: 'TASK_STATE_SUBMITTED' })).toBe(1);
  });
});

describe('PostgresTaskStore with jobs', () => {
  const job = (n: number, fields: Partial<Job> = {}): Job => ({
    name: 'later',
    payload: { n, text: '"\\\u0000é' },
    ...fields,
  });
  const jobs = () =>
    server.query(`SELECT payload, key, run_at, max_attempts, priority FROM graphile_worker._private_jobs ORDER BY id`);

  it('enqueues what its entries want, and nothing of those that are fenced', async () => {
    const store = new PostgresTaskStore(database);
    const runAt = new Date('2031-02-03T04:05:06.789Z');
    const [made, fenced, keyed, again, plain] = Array.from({ length: 5 }, () => newDraft());
    await store.writeBatch([made!.created()]);
    const idempotent = (draft: ReturnType<typeof newDraft>, n: number) => {
      const entry = draft.created();
      return { ...entry, create: { ...entry.create!, idempotency: { key: 'jobs', fingerprint: 'f' } }, jobs: [job(n)] };
    };
    const outcomes = await store.writeBatch([
      {
        ...made!.continued(made!.token, 1, made!.status('TASK_STATE_COMPLETED')),
        jobs: [job(1), job(2, { key: 'k', runAt, maxAttempts: 3, priority: -1 })],
      },
      { ...fenced!.continued('another token', 1, fenced!.status('TASK_STATE_WORKING')), jobs: [job(3)] },
      idempotent(keyed!, 4),
      idempotent(again!, 5),
      plain!.created(),
    ]);
    expect(outcomes).toEqual(['written', 'fenced', 'written', 'fenced', 'written']);
    const usual = { key: null, run_at: expect.any(Date), max_attempts: 10, priority: 0 };
    expect(await jobs()).toEqual([
      { payload: job(1).payload, ...usual },
      { payload: job(2).payload, key: 'k', run_at: runAt, max_attempts: 3, priority: -1 },
      { payload: job(4).payload, ...usual },
    ]);
    const late = { ...made!.continued(made!.token, 2, made!.status('TASK_STATE_WORKING')), jobs: [job(6)] };
    expect(await store.writeBatch([late])).toEqual(['fenced']);
    expect(await jobs()).toHaveLength(3);
  });
});

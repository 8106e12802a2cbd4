import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { Database } from '#libs/postgres';
import { PostgresTaskStore, type TaskClaim } from '#libs/tasks';
import type { TestDatabase } from '../support/postgres.js';
import { before } from '../support/until.js';
import { openTaskDatabase } from './task-database.js';
import { newDraft } from './task-draft.js';

let server: TestDatabase;
let database: Database;
let store: PostgresTaskStore;
let session: pg.Client;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
  store = new PostgresTaskStore(database);
  session = new pg.Client({ connectionString: server.url });
  await session.connect();
});

afterAll(async () => {
  await session.end();
  await database.close();
  await server.drop();
});

const idsOf = (claims: readonly { taskId: string }[]) => claims.map(({ taskId }) => taskId).toSorted();

/** Claims of a replica of its own. */
async function claimsOf(count: number): Promise<{ replicaId: string; claims: TaskClaim[] }> {
  const replicaId = randomUUID();
  const drafts = Array.from({ length: count }, () => newDraft({ replicaId }));
  await store.writeBatch(drafts.map((draft) => draft.created()));
  return { replicaId, claims: drafts.map(({ taskId, token }) => ({ taskId, token })) };
}

it('gives many claims new tokens at once, and tells which are lost', async () => {
  const { replicaId, claims } = await claimsOf(40);
  const stale = claims.splice(0, 10).map(({ taskId }) => ({ taskId, token: 'not mine' }));
  const unknown = { taskId: randomUUID(), token: 'any' };
  const { renewed, lost } = await store.renewClaims([...stale, unknown, ...claims]);
  expect(lost.toSorted()).toEqual(idsOf([...stale, unknown]));
  expect(idsOf(renewed)).toEqual(idsOf(claims));
  expect(new Set([...renewed, ...claims].map(({ token }) => token)).size).toBe(60);
  expect(await store.listClaims(replicaId)).toEqual(expect.arrayContaining(renewed));
  expect(await store.renewClaims([])).toEqual({ renewed: [], lost: [] });
});

it('leaves out a Task that another transaction has locked, until that has ended', async () => {
  const { claims } = await claimsOf(3);
  const [kept, taken, free] = claims as [TaskClaim, TaskClaim, TaskClaim];
  await session.query('BEGIN');
  await session.query('SELECT FROM task WHERE task_id = $1 FOR UPDATE', [kept.taskId]);
  await session.query(`UPDATE task SET claim_token = 'another' WHERE task_id = $1`, [taken.taskId]);
  const meanwhile = await before(store.renewClaims(claims), { what: 'the claim that is free to be renewed' });
  expect([idsOf(meanwhile.renewed), meanwhile.lost]).toEqual([[free.taskId], []]);
  await session.query('COMMIT');
  const then = await store.renewClaims([kept, taken]);
  expect([idsOf(then.renewed), then.lost]).toEqual([[kept.taskId], [taken.taskId]]);
});

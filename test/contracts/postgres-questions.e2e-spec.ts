import { randomUUID } from 'node:crypto';
import type { Database } from '#libs/postgres';
import { statusUpdate, userMessage } from '#libs/protocol';
import { PostgresTaskStore, type TaskEvent, type TaskQuestion, TaskQuestions } from '#libs/tasks';
import type { TestDatabase } from '../support/postgres.js';
import { newDraft } from './task-draft.js';
import { openTaskDatabase } from './task-database.js';

type Draft = ReturnType<typeof newDraft>;

const LONG = { text: 'a question with a form', form: { type: 'object', description: 'f'.repeat(3_000) } };

let server: TestDatabase;
let database: Database;
let store: PostgresTaskStore;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
  store = new PostgresTaskStore(database);
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

describe('Questions of waiting Tasks', () => {
  it('are there while their Task waits, as they were asked, the longest asked first', async () => {
    const owner = randomUUID();
    const [one, two] = [newDraft({ owner }), newDraft({ owner })];
    const body = { text: 'a\u0000"é', form: { type: 'object' } };
    await store.writeBatch([
      one.created(asking(one, question('b', { since: at(3), body }), question('a', { since: at(1), assignee: 'us' }))),
      two.created(asking(two, question('a', { since: at(2) }))),
    ]);
    expect(await questions(owner)).toEqual([
      { taskId: one.taskId, agent: 'workflows/w', ...question('a', { since: at(1), assignee: 'us' }) },
      { taskId: two.taskId, agent: 'workflows/w', ...question('a', { since: at(2) }) },
      { taskId: one.taskId, agent: 'workflows/w', ...question('b', { since: at(3), body }) },
    ]);
    expect(await questions(randomUUID())).toEqual([]);
  });

  it('are of an assignee, and come page by page', async () => {
    const owner = randomUUID();
    const drafts = Array.from({ length: 7 }, () => newDraft({ owner }));
    const asked = (index: number) =>
      question(`q${index}`, { since: at(index % 3), assignee: index % 2 ? 'odd' : 'even' });
    await store.writeBatch(drafts.map((draft, index) => draft.created(asking(draft, asked(index), asked(index + 7)))));
    const list = new TaskQuestions(database);
    const scope = { tenant: '', owner };
    for (const assignee of [undefined, 'odd', 'even', 'nobody']) {
      const which = { scope, ...(assignee !== undefined && { assignee }) };
      const all = await list.listQuestions({ ...which, limit: 100 });
      const paged = [];
      for (let after; ;) {
        const page = await list.listQuestions({ ...which, limit: 3, ...(after && { after }) });
        paged.push(...page);
        after = page.at(-1);
        if (page.length < 3) break;
      }
      expect(paged).toEqual(all);
      expect(all).toHaveLength({ odd: 7, even: 7, nobody: 0 }[assignee ?? ''] ?? 14);
    }
  });

  it.each([
    ['goes on', 'TASK_STATE_WORKING'],
    ['is canceled', 'TASK_STATE_CANCELED'],
  ] as const)('are gone when their Task %s', async (_how, state) => {
    const owner = randomUUID();
    const draft = newDraft({ owner });
    await store.writeBatch([draft.created(asking(draft, question('a'), question('b')))]);
    await claim(draft);
    await store.writeBatch([draft.continued('claimed', 2, draft.status(state))]);
    expect(await questions(owner)).toEqual([]);
  });

  it('stay in their rows while their Task goes on, so that an answer writes what it changes and nothing else', async () => {
    const owner = randomUUID();
    const draft = newDraft({ owner });
    const many = Array.from({ length: 50 }, (_, index) => question(`q${index}`, { since: at(index), body: LONG }));
    await store.writeBatch([draft.created(asking(draft, ...many))]);
    const before = await rowsOf(draft);
    await claim(draft);
    await store.writeBatch([draft.continued('claimed', 2, draft.status('TASK_STATE_WORKING'))]);
    expect(await questions(owner)).toEqual([]);
    const [, stricter, ...left] = many;
    const changed = { ...stricter!, assignee: 'them' };
    await store.writeBatch([draft.continued('claimed', 3, asking(draft, changed, ...left, question('new')))]);
    expect((await questions(owner)).map(({ key }) => key)).toEqual(['new', ...many.slice(1).map(({ key }) => key)]);
    const after = await rowsOf(draft);
    // A row that is written, or only locked, gets another version, or the number of a transaction.
    expect([...after].filter(([key, row]) => before.get(key) !== row).map(([key]) => key)).toEqual(['new', 'q1']);
    expect([...before.keys()].filter((key) => !after.has(key))).toEqual(['q0']);
  });

  it('leave no row when their Task has ended, also where it was parked or worked on for a while', async () => {
    const owner = randomUUID();
    const drafts = [newDraft({ owner }), newDraft({ owner })];
    await store.writeBatch(drafts.map((draft) => draft.created(asking(draft, question('a')))));
    for (const draft of drafts) {
      await claim(draft);
      await store.writeBatch([draft.continued('claimed', 2, draft.status('TASK_STATE_WORKING'))]);
      expect((await rowsOf(draft)).size).toBe(1);
    }
    const [ended, endedBefore] = drafts as [Draft, Draft];
    await store.writeBatch([ended.continued('claimed', 3, ended.status('TASK_STATE_COMPLETED'))]);
    // By a version that knows of no row that was kept.
    await server.query(`UPDATE task SET state = 'TASK_STATE_COMPLETED', last_sequence = 4 WHERE task_id = $1`, [
      endedBefore.taskId,
    ]);
    for (const draft of drafts) expect((await rowsOf(draft)).size).toBe(0);
  });

  it('are gone when an earlier version goes on with their Task, or it is deleted', async () => {
    const owner = randomUUID();
    const [moved, deleted] = [newDraft({ owner }), newDraft({ owner })];
    await store.writeBatch([moved, deleted].map((it) => it.created(asking(it, question('a')))));
    await server.query(`UPDATE task SET state = 'TASK_STATE_WORKING', last_sequence = 3 WHERE task_id = $1`, [
      moved.taskId,
    ]);
    await server.query('DELETE FROM task WHERE task_id = $1', [deleted.taskId]);
    expect(await questions(owner)).toEqual([]);
  });

  it('are those that it asks last, where it goes on and waits again in one batch', async () => {
    const owner = randomUUID();
    const draft = newDraft({ owner });
    await store.writeBatch([draft.created(asking(draft, question('a'), question('b')))]);
    await claim(draft);
    const answered: TaskEvent = { ...statusUpdate(draft, 'TASK_STATE_WORKING'), received: userMessage('yes') };
    const left = question('b', { assignee: 'them' });
    const again = draft.continued('claimed', 2, answered, asking(draft, left, question('c')));
    expect(await store.writeBatch([again])).toEqual(['written']);
    expect((await questions(owner)).map(({ key, assignee }) => [key, assignee])).toEqual([
      ['b', 'them'],
      ['c', undefined],
    ]);
  });

  it('are of some agents alone, where those are named', async () => {
    const owner = randomUUID();
    const [run, node] = ['workflows/w', 'workflows/w/nodes/n'].map((agent) => newDraft({ owner, agent })) as [
      Draft,
      Draft,
    ];
    await store.writeBatch([run, node].map((draft) => draft.created(asking(draft, question('a')))));
    const list = new TaskQuestions(database);
    const found = await list.listQuestions({ scope: { tenant: '', owner }, agent: 'workflows/*', limit: 9 });
    expect(found.map(({ taskId }) => taskId)).toEqual([run.taskId]);
  });

  it('are not written where their Task is fenced', async () => {
    const owner = randomUUID();
    const [fenced, written] = [newDraft({ owner }), newDraft({ owner })];
    await store.writeBatch([fenced.created()]);
    const outcomes = await store.writeBatch([
      fenced.continued('another token', 1, asking(fenced, question('a'))),
      written.created(asking(written, question('b'))),
    ]);
    expect(outcomes).toEqual(['fenced', 'written']);
    expect((await questions(owner)).map(({ key }) => key)).toEqual(['b']);
  });
});

function at(second: number): Date {
  return new Date(1e12 + second * 1000);
}

function question(key: string, fields: Partial<TaskQuestion> = {}): TaskQuestion {
  return { key, since: at(0), body: { text: `${key}?` }, ...fields };
}

function asking(draft: Draft, ...asked: TaskQuestion[]): TaskEvent {
  return { ...statusUpdate(draft, 'TASK_STATE_INPUT_REQUIRED', '?'), questions: asked };
}

/** Of each row of a Task where it lies, and who wrote or locked it last. */
async function rowsOf({ taskId }: Draft): Promise<Map<string, string>> {
  const rows = (await server.query(
    `SELECT key, ctid::text || ' ' || xmin::text || ' ' || xmax::text AS place FROM task_question
     WHERE task_id = $1 ORDER BY key`,
    [taskId],
  )) as { key: string; place: string }[];
  return new Map(rows.map(({ key, place }) => [key, place]));
}

function questions(owner: string) {
  return new TaskQuestions(database).listQuestions({ scope: { tenant: '', owner }, limit: 100 });
}

async function claim({ taskId }: Draft): Promise<void> {
  expect(await store.claimTask(taskId, 'other', 'claimed', 'waiting')).toBeDefined();
}

import { randomUUID } from 'node:crypto';
import type { Database } from '#libs/postgres';
import type { TaskState } from '#libs/protocol';
import { PostgresTaskStore, type TaskQuery, TaskTextSearch } from '#libs/tasks';
import type { TestDatabase } from '../support/postgres.js';
import { newDraft } from './task-draft.js';
import { openTaskDatabase } from './task-database.js';

let server: TestDatabase;
let database: Database;
let store: PostgresTaskStore;
let search: TaskTextSearch;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
  store = new PostgresTaskStore(database);
  search = new TaskTextSearch(database);
});

afterAll(async () => {
  await database.close();
  await server.drop();
});

/** Stores Tasks, the first of which is the newest, and returns the owner of all of them. */
async function storeTasks(...texts: { text: string; end?: string; agent?: string }[]): Promise<string> {
  const owner = randomUUID();
  const newest = Date.now();
  for (const [index, { text, end, agent }] of texts.entries()) {
    const draft = newDraft({ owner, text, agent, at: new Date(newest - index * 1_000), taskId: `${owner}-${index}` });
    const middle = [draft.chunk('middle'), draft.status('TASK_STATE_WORKING'), draft.chunk('m'.repeat(3_000))];
    const last = draft.status(end === undefined ? 'TASK_STATE_WORKING' : 'TASK_STATE_FAILED', end);
    await store.writeBatch([draft.created()]);
    await store.writeBatch([draft.continued(draft.token, 1, ...middle)]);
    await store.writeBatch([draft.continued(draft.token, 4, draft.status('TASK_STATE_WORKING'), last)]);
  }
  return owner;
}

/** Returns the ranks of the Tasks that may contain the text, and how far the search came. */
async function ranksOf(owner: string, text: string, more: Partial<TaskQuery> = {}): Promise<string[]> {
  const query = { scope: { tenant: '', owner }, agent: 'workflows/*', limit: 100, ...more };
  const { matches } = await search.searchTasks(query, text);
  return matches.map(({ taskId }) => taskId.slice(owner.length + 1));
}

describe('The search for a text in Tasks', () => {
  it('looks into what began a Task and what ended it, ignoring case, and not between', async () => {
    const owner = await storeTasks(
      { text: 'Customer number 77' },
      { text: 'other', end: 'no CUSTOMER of that number' },
      { text: 'other', agent: 'workflows/customers' },
      { text: 'other' },
    );
    expect(await ranksOf(owner, 'customer')).toEqual(['0', '1', '2']);
    expect(await ranksOf(owner, 'customer NUMBER 77')).toEqual(['0']);
    expect(await ranksOf(owner, 'mmmm')).toEqual([]);
    expect(await ranksOf(owner, `${owner}-3`)).toEqual(['3']);
    expect(await ranksOf(randomUUID(), 'customer')).toEqual([]);
  });

  it.each(['a "quoted" word', 'back\\slash', 'naïve', 'line\nbreak', '100 %_', 'x\u0000y', '日本'])(
    'finds %j, whatever JSON makes of it',
    async (text) => {
      const owner = await storeTasks({ text: `before ${text} after` });
      expect(await ranksOf(owner, text.replace('\0', ''))).toEqual(text.includes('\0') ? [] : ['0']);
    },
  );

  it('keeps to the filter, and says where it stopped', async () => {
    const owner = await storeTasks({ text: 'a', end: 'x' }, { text: 'a' }, { text: 'b' }, { text: 'a', end: 'x' });
    const states: TaskState[] = ['TASK_STATE_FAILED'];
    expect(await ranksOf(owner, 'a', { states })).toEqual(['0', '3']);
    const query = { scope: { tenant: '', owner }, agent: 'workflows/*', limit: 3 };
    const first = await search.searchTasks(query, '"a"');
    expect(first).toMatchObject({ searched: 3, last: { taskId: `${owner}-2` } });
    const rest = await search.searchTasks({ ...query, before: first.last }, 'hello');
    expect(rest).toEqual({ matches: [], searched: 1 });
  });
});

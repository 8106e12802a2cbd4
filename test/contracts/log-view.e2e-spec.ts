import fc from 'fast-check';
import type { Database } from '#libs/postgres';
import { statusUpdate, userMessage } from '#libs/protocol';
import { PostgresTaskStore, type TaskEvent, TaskLogPages } from '#libs/tasks';
import { ANY_CHARACTER } from '../support/any-character.js';
import type { TestDatabase } from '../support/postgres.js';
import { range } from '../support/sse.js';
import { newDraft } from './task-draft.js';
import { asRows, VersionBefore } from './version-before.js';
import { openTaskDatabase } from './task-database.js';

let server: TestDatabase;
let database: Database;
let store: PostgresTaskStore;
let before: VersionBefore;

beforeAll(async () => {
  ({ server, database } = await openTaskDatabase());
  store = new PostgresTaskStore(database);
  before = await VersionBefore.connect(server.url);
});

afterAll(async () => {
  await before.end();
  await database.close();
  await server.drop();
});

/** Ids that could be taken for something else in the text of a row, or in the statement that reads it. */
const HOSTILE = fc.oneof(
  fc.string({ unit: ANY_CHARACTER, minLength: 1, maxLength: 60 }).map((it) => it.replaceAll('\u0000', '0')),
  fc.constantFrom(
    'c',
    '"parts":[{"text":"',
    '"}}',
    '{"artifactUpdate":{',
    'TASK_STATE_WORKING',
    '"taskId":"',
    '"taskId":"\u0001"',
    "$&$1$$$`$'",
    "%_\\.*[a-z]+'--",
    '\\u0001\\u001e',
    '\u0001\u0002\u001e\u001f\u0001\u0002\u001e\u001f',
    'é'.repeat(20),
    '🙂'.repeat(64),
  ),
);

it('the view shows what the log has, whatever the ids are and the texts say', async () => {
  const said = fc.oneof(
    fc.string({ unit: ANY_CHARACTER, minLength: 1, maxLength: 60 }),
    HOSTILE,
    fc.constantFrom('<task>', '<context>'),
  );
  const contexts = fc.constantFrom('another', 'the same', 'part of it', 'around it');
  let made = 0;
  await fc.assert(
    fc.asyncProperty(
      HOSTILE,
      HOSTILE,
      contexts,
      fc.array(said, { minLength: 1, maxLength: 40 }),
      async (id, context, kind, all) => {
        const taskId = `${id}#${(made += 1)}`;
        const related = { another: context, 'the same': taskId, 'part of it': id, 'around it': `${context}${taskId}"` };
        const contextId = related[kind];
        const draft = newDraft({ taskId, contextId });
        const texts = all.map((it) => (it === '<task>' ? `"${taskId}` : it === '<context>' ? `${contextId}\\` : it));
        const [first = '', ...rest] = texts;
        const told = (it: string): TaskEvent => draft.status('TASK_STATE_WORKING', it);
        const more = rest.map((it, index) => (index % 2 ? told(it) : draft.chunk(it)));
        const waits = draft.status('TASK_STATE_INPUT_REQUIRED', first);
        const goesOn = {
          ...statusUpdate(draft, 'TASK_STATE_WORKING', first),
          received: userMessage(first, { messageId: 'm2' }),
        };
        const [begun, old] = [draft.created(told(first), draft.chunk(first)), told(first)];
        await store.writeBatch([begun]);
        expect(await before.write(draft, 3, old)).toBe(true);
        const continued = draft.continued(draft.token, 4, ...more, waits, goesOn);
        await store.writeBatch([continued]);
        const log = [...begun.events, { json: JSON.stringify(old) }, ...continued.events];
        const events = await store.readEvents(taskId, 0, 1_000);
        expect(events.map(({ sequence, json }) => [sequence, json])).toEqual(
          log.map(({ json }, index) => [index + 1, json]),
        );
        expect(await before.read(draft)).toEqual(asRows(events));
        const { task } = (await store.loadTask(taskId))!;
        const messages = 6 + Math.floor(rest.length / 2);
        expect([task.id, task.contextId, task.history?.length]).toEqual([taskId, contextId, messages]);
        const [bytes] = await server.query(
          `SELECT task_log_bytes($1) AS log, task_log_bytes($1, true) AS artifacts,
                  sum(octet_length(payload::text) + coalesce(octet_length(received::text), 0))::int AS "ofView",
                  sum(octet_length(payload::text)) FILTER (WHERE artifact)::int AS "ofArtifacts"
           FROM task_event WHERE task_id = $1`,
          [taskId],
        );
        expect([bytes?.['log'], bytes?.['artifacts']]).toEqual([bytes?.['ofView'], bytes?.['ofArtifacts']]);
      },
    ),
    { numRuns: 60 },
  );
});

it('of writers of both versions that go on from one place only one does', async () => {
  const draft = newDraft();
  const { taskId, token } = draft;
  await store.writeBatch([draft.created()]);
  const counts = Array.from({ length: 60 }, (_, index) => [1 + (index % 3), 1 + (Math.floor(index / 3) % 3)] as const);
  let reached = 1;
  for (const [ofBefore, ofNow] of counts) {
    const earlier = Array.from({ length: ofBefore }, () => draft.chunk('before'));
    const entry = draft.continued(token, reached, ...Array.from({ length: ofNow }, () => draft.chunk('now')));
    const [old, [now]] = await Promise.all([before.write(draft, reached, ...earlier), store.writeBatch([entry])]);
    expect([old, now === 'written'].filter(Boolean)).toHaveLength(1);
    reached += old ? ofBefore : ofNow;
  }
  const events = await store.readEvents(taskId, 0, 1_000);
  expect(events.map(({ sequence }) => sequence)).toEqual(range(1, reached));
  expect(await before.read(draft)).toEqual(asRows(events));
});

it('pages of a log have what the log has, across rows of both versions and as it was written', async () => {
  const { dataSource } = database;
  const pages = new TaskLogPages(database, dataSource.getRepository('task'), dataSource.getRepository('task_event'));
  const draft = newDraft({ owner: 'ann' });
  const { taskId, token } = draft;
  await store.writeBatch([draft.created(draft.status('TASK_STATE_WORKING', 'x'))]);
  let reached = 2;
  while (reached < 1_000) {
    const chunks = (count: number, text: string): TaskEvent[] => range(1, count).map(() => draft.chunk(text));
    expect(await before.write(draft, reached, ...chunks(3, 'before'))).toBe(true);
    await store.writeBatch([draft.continued(token, reached + 3, ...chunks(40, 'now'))]);
    reached += 43;
  }
  const large = draft.chunk('l'.repeat(700_000));
  await store.writeBatch([draft.continued(token, reached, large, large, draft.chunk('end'))]);
  reached += 3;
  const scope = { tenant: '', owner: 'ann' };
  const found: [number, string][] = [];
  const sizes: number[] = [];
  for (let next: number | undefined = 0; next !== undefined;) {
    const page: Awaited<ReturnType<typeof pages.readPage>> = await pages.readPage(scope, taskId, next, 200);
    found.push(...page!.events.map(({ sequence, json }): [number, string] => [sequence, json]));
    sizes.push(page!.events.length);
    next = page!.next;
  }
  const log = await store.readEvents(taskId, 0, 10_000);
  expect(found).toEqual(log.map(({ sequence, json }) => [sequence, json]));
  expect(found).toHaveLength(reached);
  // Two large events are more than a page has.
  expect(sizes.slice(0, 5)).toEqual([200, 200, 200, 200, 200]);
  expect(sizes.at(-1)).toBe(2);
  expect(await pages.readPage(scope, taskId, reached, 1)).toEqual({ events: [] });
  expect(await pages.readPage({ ...scope, owner: 'bob' }, taskId, 0, 1)).toBeUndefined();
});

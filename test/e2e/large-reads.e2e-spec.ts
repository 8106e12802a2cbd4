import type { ListTasksResponse, Task } from '#libs/protocol';
import { rpc, sendTask, VERSION } from '../support/a2a.js';
import { useStage } from '../support/stage.js';
import { takeTurns } from '../support/turns.js';
import { echo, linear, unique } from '../support/workflow.js';

takeTurns();

const LIMIT = 300_000;
const TASKS = 100;
const CHUNKS = 10_000;

const stage = useStage({ env: { NODE_OPTIONS: '--max-old-space-size=256' } });
let base: string;
let owner: string;

beforeAll(async () => {
  const { name } = await stage.api.save(linear(unique('large'), echo('echo')));
  base = stage.api.base(name, 'echo');
  owner = `workflows/${name}/nodes/echo`;
});

const statusOf = (state: string): string => `'"status":{"state":"${state}","timestamp":"2026-01-01T00:00:00.000Z"}'`;
const ID = `'large-' || n`;
const REFERENCE = `'"taskId":"' || ${ID} || '","contextId":"large"'`;

/** Tasks at work, as the version before has left them: nothing is known of them but their logs. */
async function store(): Promise<void> {
  const message = '{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}';
  const begun = `'{"task":{"id":"' || ${ID} || '","contextId":"large",' || ${statusOf('TASK_STATE_SUBMITTED')} || ',"history":[${message}]}}'`;
  const working = `'{"statusUpdate":{' || ${REFERENCE} || ',' || ${statusOf('TASK_STATE_WORKING')} || '}}'`;
  const chunk = `'{"artifactUpdate":{' || ${REFERENCE} || ',"artifact":{"artifactId":"a","parts":[{"text":"' || s || ' "}]},"append":true}}'`;
  await stage.database.query(`
    SET parley.journal = 'on';
    INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at)
    SELECT ${ID}, 'large', '', '', '${owner}', 'TASK_STATE_WORKING', ${CHUNKS + 2}, now(), now()
    FROM generate_series(1, ${TASKS}) AS n;
    INSERT INTO task_log (task_id, sequence, payload, recorded_at)
    SELECT ${ID}, s, (CASE s WHEN 1 THEN ${begun} WHEN 2 THEN ${working} ELSE ${chunk} END)::json, now()
    FROM generate_series(1, ${TASKS}) AS n, generate_series(1, ${CHUNKS + 2}) AS s;
    RESET parley.journal`);
}

/** Ends them, as the version before did. */
async function end(): Promise<void> {
  const ended = `'{"statusUpdate":{' || ${REFERENCE} || ',' || ${statusOf('TASK_STATE_COMPLETED')} || '}}'`;
  await stage.database.query(`
    SET parley.journal = 'on';
    UPDATE task SET state = 'TASK_STATE_COMPLETED', last_sequence = ${CHUNKS + 3} WHERE context_id = 'large';
    INSERT INTO task_log (task_id, sequence, payload, recorded_at)
    SELECT ${ID}, ${CHUNKS + 3}, (${ended})::json, now() FROM generate_series(1, ${TASKS}) AS n;
    RESET parley.journal`);
}

async function list(params: object): Promise<ListTasksResponse> {
  const { body } = await rpc<ListTasksResponse>(base, 'ListTasks', params);
  if (!body.result) throw new Error(JSON.stringify(body.error));
  return body.result;
}

async function get(id: string): Promise<Task> {
  const { body } = await rpc<Task>(base, 'GetTask', { id });
  if (!body.result) throw new Error(JSON.stringify(body.error));
  return body.result;
}

describe('a replica with a heap of 256 MiB', () => {
  beforeAll(store, LIMIT);

  it.each([
    ['working', 'TASK_STATE_WORKING', async () => undefined],
    ['ended', 'TASK_STATE_COMPLETED', end],
  ])(
    'lists a hundred %s Tasks of ten thousand chunks each, and reads one of them again and again',
    async (_what, state, prepare) => {
      await prepare();
      const { tasks, totalSize, nextPageToken } = await list({ status: state, pageSize: 100 });
      expect([tasks.length, totalSize, nextPageToken]).toEqual([100, 100, '']);
      expect(tasks.every((task) => task.artifacts === undefined && task.history?.length === 1)).toBe(true);
      const times = state === 'TASK_STATE_COMPLETED' ? 30 : 5;
      for (let time = 0; time < times; time += 1) {
        const { artifacts, status } = await get('large-7');
        expect(status.state).toBe(state);
        expect(artifacts?.[0]?.parts).toHaveLength(CHUNKS);
        expect(artifacts?.[0]?.parts.at(-1)?.text).toBe(`${CHUNKS + 2} `);
      }
      const every = await list({ status: state, pageSize: 100, includeArtifacts: true });
      expect(every.totalSize).toBe(100);
      expect(every.tasks[0]!.artifacts?.[0]?.parts).toHaveLength(CHUNKS);
      expect(stage.parley.running()).toBe(true);
    },
    LIMIT,
  );

  it(
    'answers a hundred and fifty readers of a Task of megabytes at once, or says when to come back',
    async () => {
      const { id } = await sendTask(base, 'x'.repeat(3_900_000));
      const answers = await Promise.all(
        Array.from({ length: 150 }, async () => {
          const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id } });
          const headers = { 'content-type': 'application/json', ...VERSION };
          const reply = await fetch(base, { method: 'POST', headers, body: request });
          let bytes = 0;
          for await (const chunk of reply.body!) bytes += chunk.length;
          const whole = reply.status === 200 ? bytes > 7_000_000 : reply.headers.has('retry-after');
          return `${reply.status} ${whole}`;
        }),
      );
      expect([...new Set(answers)].filter((it) => it !== '503 true')).toEqual(['200 true']);
      expect((await sendTask(base, 'still there?')).status.state).toBe('TASK_STATE_COMPLETED');
      expect(stage.parley.running()).toBe(true);
    },
    LIMIT,
  );
});

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

/** Tasks as the version before has left them: nothing is known of them but their logs. */
async function store(prefix: string, state: string, last: string): Promise<void> {
  const id = `'${prefix}-' || n`;
  const reference = `'"taskId":"' || ${id} || '","contextId":"large"'`;
  const status = (name: string) => `'"status":{"state":"${name}","timestamp":"2026-01-01T00:00:00.000Z"}'`;
  const message = '{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}';
  const begun = `'{"task":{"id":"' || ${id} || '","contextId":"large",' || ${status('TASK_STATE_SUBMITTED')} || ',"history":[${message}]}}'`;
  const chunk = `'{"artifactUpdate":{' || ${reference} || ',"artifact":{"artifactId":"a","parts":[{"text":"' || s || ' "}]},"append":true}}'`;
  const end = `'{"statusUpdate":{' || ${reference} || ',' || ${status(state)} || '}}'`;
  await stage.database.query(`
    SET parley.journal = 'on';
    INSERT INTO task (task_id, context_id, tenant, owner, agent, state, last_sequence, created_at, updated_at)
    SELECT ${id}, 'large', '', '', '${owner}', '${state}', ${CHUNKS + 2}, now(), now() FROM generate_series(1, ${TASKS}) AS n;
    INSERT INTO task_event (task_id, sequence, payload, recorded_at)
    SELECT ${id}, s, (CASE WHEN s = 1 THEN ${begun} WHEN s = ${last} THEN ${end} ELSE ${chunk} END)::json, now()
    FROM generate_series(1, ${TASKS}) AS n, generate_series(1, ${CHUNKS + 2}) AS s;
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
  it.each([
    ['ended', 'TASK_STATE_COMPLETED', String(CHUNKS + 2)],
    ['working', 'TASK_STATE_WORKING', '2'],
  ])(
    'lists a hundred %s Tasks of ten thousand chunks each, and reads one of them again and again',
    async (name, state, last) => {
      await store(name, state, last);
      const { tasks, totalSize, nextPageToken } = await list({ status: state, pageSize: 100 });
      expect([tasks.length, totalSize, nextPageToken]).toEqual([100, 100, '']);
      expect(tasks.every((task) => task.artifacts === undefined && task.history?.length === 1)).toBe(true);
      const times = state === 'TASK_STATE_COMPLETED' ? 100 : 10;
      for (let time = 0; time < times; time += 1) {
        const { artifacts, status } = await get(`${name}-7`);
        expect(status.state).toBe(state);
        expect(artifacts?.[0]?.parts).toHaveLength(CHUNKS);
        expect(artifacts?.[0]?.parts.at(-1)?.text).toMatch(/^1000[12] $/);
      }
      const every = await list({ status: state, pageSize: 100, includeArtifacts: true });
      expect(every.totalSize).toBe(100);
      expect(every.tasks[0]!.artifacts?.[0]?.parts).toHaveLength(CHUNKS);
      expect(stage.parley.running()).toBe(true);
    },
    LIMIT,
  );

  it(
    'answers three hundred readers of a Task of megabytes at once, or says when to come back',
    async () => {
      const { id } = await sendTask(base, 'x'.repeat(3_900_000));
      const answers = await Promise.all(
        Array.from({ length: 300 }, async () => {
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

import type { JsonObject } from '#libs/protocol';
import { firstText, getTask, outline, rpc, sendTask, sendParams, subscribe } from '../support/a2a.js';
import { useCluster } from '../support/cluster-stage.js';
import { ids, range } from '../support/sse.js';
import { logProblems, storedLog } from '../support/stored-log.js';
import { before } from '../support/until.js';
import { FakeLlm } from '../support/fake-llm.js';
import { echo, linear, ruled, script, unique } from '../support/workflow.js';

const llm = await FakeLlm.start();
const stage = useCluster({ replicas: 4, env: { LLM_BASE_URL: llm.url, LLM_MODEL: 'm' } });

afterAll(() => llm.stop());

const NOW = { returnImmediately: true };

async function asks(): Promise<string> {
  const name = unique('asks');
  const answered: JsonObject[] = [{ status: 'working' }, { artifact: { parts: [{ text: 'heard {{text}}' }] } }];
  await stage.api.save(
    linear(
      name,
      ruled('ask', [
        { when: { turn: 1 }, steps: [{ status: 'working' }, { ask: 'which?' }] },
        { when: { text: 'stay' }, steps: [...answered, { sleep: 50_000 }, { complete: 'late' }] },
        { when: { turn: 2 }, steps: [...answered, { sleep: 300 }, { complete: 'done' }] },
      ]),
    ),
  );
  return name;
}

describe('any replica answers for any Task', () => {
  it('sent through A, subscribed to through B, answered through C, canceled through D', async () => {
    const name = await asks();
    const [a, b, c, d] = [0, 1, 2, 3].map((index) => stage.at(index).base(name, 'ask'));
    const { id } = await sendTask(a!, 'hello');
    const reader = await subscribe(b!, id);
    await sendTask(c!, 'stay', { fields: { taskId: id }, configuration: NOW });
    await reader.find(({ data }) => outline(data.result) === 'artifact heard stay', { what: 'the answer of C' });
    const { body } = await rpc(d!, 'CancelTask', { id });
    expect(body).toMatchObject({ result: { status: { state: 'TASK_STATE_CANCELED' } } });
    const frames = await reader.all();
    expect(outline(frames.at(-1)?.data.result)).toBe('status TASK_STATE_CANCELED');
    const first = ids(frames)[0] ?? 0;
    expect(ids(frames)).toEqual(range(first, first + frames.length - 1));
    const log = await storedLog(stage.database.query, id);
    expect({ problems: logProblems(log), last: log.lastSequence }).toEqual({ problems: [], last: ids(frames).at(-1) });
    for (const base of [a!, b!, c!, d!]) expect((await getTask(base, id)).status.state).toBe('TASK_STATE_CANCELED');
  });

  it('a blocking follow-up through a replica that never saw the Task answers when its turn has ended', async () => {
    const name = await asks();
    const { id } = await sendTask(stage.at(0).base(name, 'ask'), 'hello');
    const answer = sendTask(stage.at(2).base(name, 'ask'), 'this', { fields: { taskId: id } });
    const task = await before(answer, { what: 'the blocking answer' });
    expect([task.status.state, firstText(task)]).toEqual(['TASK_STATE_COMPLETED', 'heard this']);
  });

  it('a blocking repeat under the same Idempotency-Key, at every replica while one executes, answers with that Task', async () => {
    const name = unique('slow');
    await stage.api.save(linear(name, script('s', { status: 'working' }, { sleep: 1_500 }, { complete: 'once' })));
    const params = sendParams('x', { fields: { messageId: 'same' } });
    const headers = { 'idempotency-key': unique('key') };
    const call = (index: number) =>
      rpc<{ task: { id: string; status: { state: string } } }>(stage.at(index).base(name, 's'), 'SendMessage', params, {
        headers,
      });
    const replies = await before(Promise.all([0, 1, 2, 3].map(call)), { what: 'four blocking answers' });
    expect(new Set(replies.map(({ body }) => body.result?.task.id)).size).toBe(1);
    expect(replies.map(({ body }) => body.result?.task.status.state)).toEqual(Array(4).fill('TASK_STATE_COMPLETED'));
    const agent = `workflows/${name}/nodes/s`;
    expect(await stage.database.query('SELECT 1 FROM task WHERE agent = $1', [agent])).toHaveLength(1);
  });

  it('a repeat under the same Idempotency-Key starts no work, wherever it comes', async () => {
    const name = unique('model');
    await stage.api.save(linear(name, echo('a', { model: 'm' })));
    const calls = llm.calls.length;
    const params = sendParams('x', { fields: { messageId: 'same' } });
    const headers = { 'idempotency-key': unique('key') };
    const bases = [0, 1, 2, 3, 0, 1, 2, 3].map((index) => stage.at(index).base(name, 'a'));
    const replies = await Promise.all(
      bases.map((base) => rpc<{ task: { id: string } }>(base, 'SendMessage', params, { headers })),
    );
    expect(new Set(replies.map(({ body }) => body.result?.task.id)).size).toBe(1);
    expect(llm.calls.length - calls).toBe(1);
  });
});

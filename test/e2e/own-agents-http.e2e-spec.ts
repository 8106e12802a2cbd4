import { outlines, Talks } from '../support/conversation.js';
import { answers, holds } from '../support/fake-behaviour.js';
import { ModelTalk } from '../support/model-talk.js';
import { revisedTalk } from '../support/revised-talk.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { echo, input, linear, ruled, textOf, unique } from '../support/workflow.js';

const stage = useStage({ env: { NODE_DISPATCH: 'http' } });

/** The Tasks of a workflow's nodes, and how many of them were made or gone on with under a key. */
async function tasksOf(workflow: string): Promise<{ tasks: number; keys: number }> {
  const [row] = await stage.database.query<{ tasks: number; keys: number }>(
    `SELECT count(DISTINCT task.task_id)::int AS tasks, count(key)::int AS keys
       FROM task LEFT JOIN task_key USING (task_id) WHERE task.agent LIKE $1`,
    [`workflows/${workflow}/nodes/%`],
  );
  return row ?? { tasks: 0, keys: 0 };
}

describe('NODE_DISPATCH=http', () => {
  it('a node that nothing is said to is told to execute', async () => {
    const run = await stage.api.finish(linear(unique('silent'), echo('a'), echo('b', { prompt: '{{a}}!' })));
    expect([run.status, textOf(run.result)]).toEqual(['completed', 'Execute node a!']);
  });

  it('a conversation with an own agent that asks stays on one Task, each Message under a key of its own', async () => {
    const [name, node] = [unique('asks'), unique('asker')];
    const asks = ruled(
      node,
      [{ when: { turn: 1 }, steps: [{ ask: 'which?' }] }],
      [{ artifact: { parts: [{ text: 'thanks' }] } }, { complete: 'done' }],
    );
    await stage.api.save(linear(name, input('in'), asks));
    const a = await stage.fake({ name: 'a' });
    a.always(answers('the red one'));
    const talks = new Talks(stage.api);
    const id = await talks.start({ requester: a.url, target: node, message: 'book', maxTurns: 2 });
    const told = outlines(await (await talks.events(id)).all());
    expect(told).toEqual(['0 book', '1 which?', '2 the red one', '3 thanks', 'complete max_turns']);
    expect(await tasksOf(name)).toEqual({ tasks: 1, keys: 2 });
  });

  it('a conversation tells models of their turn and the token, and its requester what it has said', async () => {
    const models = await ModelTalk.of(stage);
    const { poet, critic } = models;
    models.says('B1', 'A1');
    const talks = new Talks(stage.api);
    const id = await talks.start({ requester: poet, target: critic, message: 'hello', maxTurns: 5 });
    const told = outlines(await (await talks.events(id)).all());
    expect(told).toEqual(['0 hello', '1 B1', '2 A1', 'complete skipped']);
    const [[system, ...said] = []] = models.told(poet);
    expect(system?.[1]).toContain('This is turn 2; at most 5');
    expect(said).toEqual([
      ['assistant', 'hello'],
      ['user', 'B1'],
    ]);
    expect(models.told(critic).map(([prompt]) => prompt?.[1])).toEqual([
      expect.stringContaining('This is turn 1;'),
      expect.stringContaining('This is turn 3;'),
    ]);
  });

  it('a conversation that a tool begins has its requester in the revision of the run', async () => {
    const expected = { outcome: 'max_turns', prompts: ['I am the first.'] };
    expect(await revisedTalk(stage, () => [echo('other')])).toEqual(expected);
  });

  it('a conversation that is canceled cancels the Task of its own agent', async () => {
    const [name, node] = [unique('calls'), unique('caller')];
    const far = await stage.fake({ streaming: true });
    far.always(holds());
    const talks = new Talks(stage.api);
    await stage.api.save(linear(name, { id: node, type: 'external', config: { endpoint_url: far.url } }));
    const id = await talks.start({ target: node, message: 'hello', maxTurns: 0 });
    await far.sent();
    expect((await talks.command(id, 'cancel')).status).toBe(200);
    await until(() => far.cancels.length === 1, { what: 'CancelTask at the agent' });
    expect((await talks.ended(id)).outcome).toBe('canceled');
  });
});

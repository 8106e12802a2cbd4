import type { JsonObject } from '#libs/protocol';
import { firstText, getTask, sendTask } from '../support/a2a.js';
import { useCluster } from '../support/cluster-stage.js';
import { logProblems, storedLog } from '../support/stored-log.js';
import { linear, ruled, unique } from '../support/workflow.js';

const stage = useCluster({ replicas: 3 });

describe('a conversation outlives the replicas it was held with', () => {
  it('I10 turn 1 on A, A is killed, turn 2 on B, B is killed, turn 3 on C: the executor sees the whole history', async () => {
    const name = unique('turns');
    const ask = (turn: number): JsonObject => ({
      when: { turn },
      steps: [{ artifact: { artifactId: `turn-${turn}`, parts: [{ text: `${turn}: {{text}}` }] } }, { ask: 'more?' }],
    });
    const last: JsonObject = {
      when: { turn: 3 },
      steps: [{ artifact: { parts: [{ text: '3: {{text}}' }] } }, { complete: 'bye' }],
    };
    // The rules count the user's Messages of the history that the executor is given.
    await stage.api.save(linear(name, ruled('talk', [ask(1), ask(2), last], [{ fail: 'the history is not whole' }])));
    const first = await sendTask(stage.at(0).base(name, 'talk'), 'one');
    await stage.cluster.kill(stage.replica(0));
    const fields = { taskId: first.id };
    const second = await sendTask(stage.at(0).base(name, 'talk'), 'two', { fields });
    expect(second.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    await stage.cluster.kill(stage.replica(0));
    const third = await sendTask(stage.at(0).base(name, 'talk'), 'three', { fields });
    expect(third.status.state).toBe('TASK_STATE_COMPLETED');
    expect([0, 1, 2].map((artifact) => firstText(third, artifact))).toEqual(['1: one', '2: two', '3: three']);
    const { history = [] } = await getTask(stage.at(0).base(name, 'talk'), first.id);
    const said = history.filter(({ role }) => role === 'ROLE_USER').map(({ parts }) => parts[0]?.text);
    expect(said).toEqual(['one', 'two', 'three']);
    expect(logProblems(await storedLog(stage.database.query, first.id))).toEqual([]);
  });
});

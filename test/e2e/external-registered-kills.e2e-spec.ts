import { firstText, getTask, sendTask } from '../support/a2a.js';
import { DoorAgent } from '../support/door-agent.js';
import { openDoor } from '../support/doors.js';
import { startParley } from '../support/parley.js';
import { freshDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';
import { Api, input, linear, textOf, unique } from '../support/workflow.js';

const ends: (() => Promise<unknown>)[] = [];
const defer = (end: () => Promise<unknown>): void => void ends.push(end);
afterAll(() => Promise.all(ends.map((end) => end())));

describe.each(['local', 'http'])('an external node that calls a registered agent with NODE_DISPATCH=%s', (dispatch) => {
  it('is continued by another replica after kill -9, whose agent hears one Message', async () => {
    const agent = await DoorAgent.start();
    const database = await freshDatabase();
    const env = { NODE_DISPATCH: dispatch };
    const one = await startParley({ databaseUrl: database.url, env });
    const other = await startParley({ databaseUrl: database.url, env });
    defer(() => other.stop().then(() => database.drop()));
    defer(() => agent.end());
    const { name } = await openDoor(one.url, agent.url);
    const api = new Api(one.url);
    const nodes = [input('in'), { id: 'ext', type: 'external', config: { agent: name } }];
    const { name: workflow } = await api.save(linear(unique('killed'), ...nodes));
    const runId = await api.start(workflow, { in: 'hold' });
    const direct = await sendTask(api.base(workflow, 'ext'), 'hold', { configuration: { returnImmediately: true } });
    await until(() => agent.holding.length === 2, { what: 'both Tasks of the agent to hold' });
    const recorded = `SELECT DISTINCT task_id FROM task_event JOIN task USING (task_id)
      WHERE agent LIKE 'agents/%' AND payload::text LIKE '%"held"%'`;
    await until(async () => (await database.query(recorded)).length === 2, { what: 'both to be recorded' });
    await one.kill9();
    agent.release();
    const after = new Api(other.url);
    const run = await after.ended(runId);
    expect([run.status, run.error, textOf(run.artifacts.ext)]).toEqual(['completed', undefined, 'first last']);
    const done = await until(
      async () => {
        const task = await getTask(after.base(workflow, 'ext'), direct.id);
        return task.status.state === 'TASK_STATE_COMPLETED' && task;
      },
      { what: 'the Task of the node to complete' },
    );
    expect(firstText(done)).toBe('first last');
    expect(agent.heard).toHaveLength(2);
  });
});

import { sendTask } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, linear, script, unique } from '../support/workflow.js';

const stage = useSharedStage();

const TERMINAL = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_REJECTED'] as const;
const STEPS = { TASK_STATE_COMPLETED: 'complete', TASK_STATE_FAILED: 'fail', TASK_STATE_REJECTED: 'reject' };

describe('the database keeps ended Tasks as they are, whoever writes:', () => {
  it.each(TERMINAL)('a Task that is %s changes neither its state nor its log', async (state) => {
    const { name } = await stage.api.save(linear(unique('ended'), script('s', { [STEPS[state]]: 'over' })));
    const { id } = await sendTask(stage.api.base(name, 's'), 'hello');
    const before = await snapshot(id);
    expect(before).toMatchObject({ state });
    for (const other of ['TASK_STATE_WORKING', 'TASK_STATE_CANCELED', 'TASK_STATE_INPUT_REQUIRED']) {
      await refused(`UPDATE task SET state = '${other}' WHERE task_id = $1`, id);
    }
    await refused('UPDATE task SET last_sequence = last_sequence + 1 WHERE task_id = $1', id);
    await refused(ADD_EVENT, id);
    await refused(`WITH late AS (UPDATE task SET state = 'TASK_STATE_WORKING' WHERE task_id = $1) ${ADD_EVENT}`, id);
    expect(await snapshot(id)).toEqual(before);
  });

  it('a Task that has not ended changes as before', async () => {
    const { name } = await stage.api.save(linear(unique('open'), script('s', { ask: 'which?' })));
    const { id } = await sendTask(stage.api.base(name, 's'), 'hello');
    await stage.database.query(ADD_EVENT, [id]);
    await stage.database.query('UPDATE task SET last_sequence = last_sequence + 1 WHERE task_id = $1', [id]);
    await stage.database.query(`UPDATE task SET state = 'TASK_STATE_COMPLETED' WHERE task_id = $1`, [id]);
    await refused(`UPDATE task SET state = 'TASK_STATE_WORKING' WHERE task_id = $1`, id);
  });

  it('the rest of an ended Task may be seen to: its claim, its removal', async () => {
    const { name } = await stage.api.save(linear(unique('rest'), echo('a')));
    const { id } = await sendTask(stage.api.base(name, 'a'), 'hello');
    await stage.database.query('UPDATE task SET replica_id = NULL, claim_token = NULL WHERE task_id = $1', [id]);
    await stage.database.query('DELETE FROM task WHERE task_id = $1', [id]);
    expect(await snapshot(id)).toBeUndefined();
  });
});

const ADD_EVENT = `
  INSERT INTO task_event (task_id, sequence, payload, recorded_at)
  SELECT task_id, last_sequence + 1, '{}', now() FROM task WHERE task_id = $1`;

async function refused(sql: string, taskId: string): Promise<void> {
  await expect(stage.database.query(sql, [taskId])).rejects.toMatchObject({ code: '23514' });
}

async function snapshot(taskId: string): Promise<object | undefined> {
  const [row] = await stage.database.query(
    `SELECT state, last_sequence, (SELECT count(*)::int FROM task_event e WHERE e.task_id = task.task_id) AS events
     FROM task WHERE task_id = $1`,
    [taskId],
  );
  return row;
}

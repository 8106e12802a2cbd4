import { sendTask } from '../../support/a2a.js';
import { useSharedStage } from '../../support/shared-stage.js';
import { until } from '../../support/until.js';
import { linear, script, unique } from '../../support/workflow.js';

const stage = useSharedStage();

describe('a stage that files share', () => {
  it('counts what begins while a file has it, and nothing of what others began', async () => {
    const { counts, query } = stage.database;
    const before = await counts();
    const { name } = await stage.api.save(linear(unique('counted'), script('s', { complete: 'done' })));
    const { id } = await sendTask(stage.api.base(name, 's'), 'go');
    const [row] = await query<{ events: number }>('SELECT last_sequence::int AS events FROM task WHERE task_id = $1', [
      id,
    ]);
    const { task = 0, task_event = 0, workflow = 0 } = before;
    const begun = { task: task + 1, task_event: task_event + (row?.events ?? 0), workflow: workflow + 1 };
    expect(row?.events).toBeGreaterThan(1);
    expect(await counts()).toEqual(begun);
    await query(`UPDATE task SET created_at = created_at - interval '1 hour' WHERE task_id = $1`, [id]);
    expect(await counts()).toEqual({ task, task_event, workflow: workflow + 1 });
  });

  it('says what the service wrote while a file has it', async () => {
    const failing = linear(unique('failing'), script('s', { fail: 'out of ink' }));
    const { runId } = await stage.api.finish(failing);
    await until(async () => (await stage.written()).includes(runId), { what: 'the warning' });
  });
});

import { firstText, sendTask } from '../support/a2a.js';
import { purgeUntil, stopScheduledPurges } from '../support/purges.js';
import { useSharedStage } from '../support/shared-stage.js';
import { input, linear, output, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage({ env: { TASK_RETENTION: '1s' } });

beforeAll(() => stopScheduledPurges(stage.database.query));

async function revisionsOf(name: string): Promise<string[]> {
  const rows = await stage.database.query<{ revision: string }>(
    'SELECT revision::text FROM workflow_revision WHERE name = $1 ORDER BY revision',
    [name],
  );
  return rows.map(({ revision }) => revision);
}

/** As if all of it had been saved an hour before. */
async function age(...names: string[]): Promise<void> {
  await stage.database.query(
    `UPDATE workflow_revision SET created_at = created_at - interval '1 hour' WHERE name = ANY($1)`,
    [names],
  );
}

/** What a run ends with, as it is told at its end: a second later it may be purged. */
async function resultOf(name: string): Promise<string | undefined> {
  return firstText(await sendTask(stage.api.base(name), 'go'));
}

it('revisions that saved workflows run are kept as long as those, also in workflows that stand in nodes', async () => {
  const name = unique('kept');
  const [child, parent, around] = [`${name}_child`, `${name}_parent`, `${name}_around`];
  const says = (text: string): Workflow => linear(child, output('out', { prompt: text }));
  const run = { id: 'c', type: 'workflow', config: { workflow: child } };
  await stage.api.save(says('first'));
  await stage.api.save(linear(parent, run, output('out')));
  await stage.api.call('PUT', `/workflows/${child}`, says('second'));
  await stage.api.save(
    linear(around, { id: 'b', type: 'workflow', config: { body: { nodes: [run] } } }, output('out')),
  );
  for (const text of ['third', 'fourth']) await stage.api.call('PUT', `/workflows/${child}`, says(text));
  await age(child);
  await purgeUntil(stage.database.query, async () => !(await revisionsOf(child)).includes('3'));
  expect(await revisionsOf(child)).toEqual(['1', '2', '4']);
  expect(await resultOf(parent)).toBe('first');
  expect(await resultOf(around)).toBe('second');

  await stage.api.call('PUT', `/workflows/${parent}`, linear(parent, input('in')));
  await stage.api.call('DELETE', `/workflows/${around}`);
  await stage.database.query(
    `UPDATE workflow SET deleted_at = deleted_at - interval '30 minutes' WHERE name = $1 AND deleted_at IS NOT NULL`,
    [around],
  );
  await age(parent, around);
  await purgeUntil(stage.database.query, async () => (await revisionsOf(child)).length === 1);
  expect([await revisionsOf(child), await revisionsOf(parent)]).toEqual([['4'], ['2']]);
});

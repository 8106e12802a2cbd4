import { BrainstormApi, transforms } from '../support/brainstorm.js';
import { useStage } from '../support/stage.js';

const stage = useStage();
let brainstorms: BrainstormApi;
let id: string;

beforeAll(async () => {
  brainstorms = new BrainstormApi(stage.api);
  // No wish to cancel can be kept while it is there.
  await stage.database.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'no wish' USING ERRCODE = 'admin_shutdown'; END $$`);
});

beforeEach(async () => {
  const agents = [await stage.fake(), await stage.fake()];
  for (const agent of agents) agent.always(transforms());
  id = (await brainstorms.finish(agents, { maxIterations: 1 })).brainstormId;
});

it.each([
  ['cancel', 'canceled'],
  ['approve', 'approved'],
] as const)('an approval that failed in the midst is none: after it %s does what it says', async (action, status) => {
  await stage.database.query(`
    CREATE TRIGGER refused BEFORE UPDATE OF cancel_requested_at ON task FOR EACH ROW EXECUTE FUNCTION refuse()`);
  expect((await brainstorms.act(id, 'approve')).status).toBe(503);
  await stage.database.query('DROP TRIGGER refused ON task');
  expect(await brainstorms.act(id, action)).toMatchObject({ status: 200, body: { status } });
});

it('an approval counts for nothing after a cancel that is kept', async () => {
  await stage.database.query('UPDATE task SET cancel_requested_at = now() WHERE task_id = $1', [id]);
  expect((await brainstorms.act(id, 'approve')).status).toBe(409);
  expect((await brainstorms.get(id)).status).toBe('canceled');
});

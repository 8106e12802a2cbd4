import { CardAgent } from '../support/card-agent.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { external, linear, unique } from '../support/workflow.js';

const stage = useStage({ env: { CARD_RETENTION: '1d' } });

it('the pinned card of an agent goes when nobody has called it for CARD_RETENTION, unless a change waits', async () => {
  const [used, unused, changed] = [await called(), await called(), await called()];
  await stage.database.query(
    `UPDATE callee_card SET last_seen_at = now() - interval '25 hours' WHERE url = ANY($1::text[])`,
    [[unused, changed]],
  );
  await stage.database.query(`UPDATE callee_card SET seen_hash = 'another', seen_name = 'n' WHERE url = $1`, [changed]);
  await stage.database.query(
    `INSERT INTO callee_card_change (card_id, from_hash, to_hash, significant, changes)
     SELECT id, hash, 'another', true, '[]' FROM callee_card`,
  );
  await stage.database.query(`SELECT graphile_worker.add_job('callees.purge')`);
  await until(async () => !(await pinned()).includes(unused), { what: 'the card to be forgotten' });
  expect(await pinned()).toEqual([used, changed].sort());
  const [left] = await stage.database.query<{ changes: number }>(
    'SELECT count(*)::int AS changes FROM callee_card_change',
  );
  expect(left?.changes).toBe(2);
});

/** Calls a new agent once. @returns the URL that its card is pinned under */
async function called(): Promise<string> {
  const before = await pinned();
  const agent = await CardAgent.start();
  stage.defer(() => agent.stop());
  await stage.api.finish(linear(unique('calls'), external('there', agent.url)));
  const made = (await pinned()).filter((url) => !before.includes(url));
  expect(made).toHaveLength(1);
  return made[0] ?? '';
}

async function pinned(): Promise<string[]> {
  const rows = await stage.database.query<{ url: string }>('SELECT url FROM callee_card ORDER BY url');
  return rows.map(({ url }) => url);
}

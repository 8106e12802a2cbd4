import { apiKeyEnv, testCaller } from '../support/callers.js';
import { useStage } from '../support/stage.js';
import { Api, input, linear, output, says, script, unique } from '../support/workflow.js';

const ann = testCaller('ann');
const eve = testCaller('eve');
const stage = useStage({ env: { ...apiKeyEnv(ann, eve), NODE_DISPATCH: 'http' } });

describe('NODE_DISPATCH=http with AUTH_MODE=api-key', () => {
  it('calls nodes on behalf of the owner of the run, without a key of hers', async () => {
    const api = new Api(stage.parley.url, ann.headers);
    const workflow = linear(unique('w'), input('in'), script('s', ...says('said')), output('out'));
    const run = await api.finish(workflow, { in: 'x' });
    expect(run.status).toBe('completed');
    const rows = await stage.database.query<{ owner: string; agent: string }>(
      'SELECT owner, agent FROM task WHERE context_id = $1',
      [run.contextId],
    );
    expect(rows).toHaveLength(4);
    expect(new Set(rows.map((it) => it.owner))).toEqual(new Set(['ann']));
    expect(await new Api(stage.parley.url, eve.headers).start(workflow.name, { in: 'x' })).not.toBe(run.runId);
  });

  it('tells no other server who calls', async () => {
    const agent = await stage.fake();
    const api = new Api(stage.parley.url, ann.headers);
    const workflow = linear(
      unique('w'),
      input('in'),
      { id: 'e', type: 'external', config: { endpoint_url: agent.url } },
      output('out'),
    );
    expect((await api.finish(workflow, { in: 'x' })).status).toBe('completed');
    expect(agent.calls.length).toBeGreaterThan(0);
    for (const { headers } of agent.calls) {
      expect(headers).not.toHaveProperty('authorization');
      expect(headers).not.toHaveProperty('x-api-key');
    }
  });
});

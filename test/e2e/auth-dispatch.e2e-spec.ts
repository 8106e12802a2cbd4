import { apiKeyEnv, testCaller } from '../support/callers.js';
import { useStage } from '../support/stage.js';
import { Api, external, input, linear, output, says, script, unique } from '../support/workflow.js';

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

  it('the question of a child run is in the inbox of its owner once, and its answer comes to it', async () => {
    const [api, name] = [new Api(stage.parley.url, ann.headers), unique('asks')];
    const form = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const gate = { id: 'q', type: 'human', config: { prompt: 'Well?', form, assignee: 'editors' } };
    const child = (id: string, workflow: string) => ({ id, type: 'workflow', config: { workflow } });
    await api.save(linear(`${name}_inner`, gate));
    await api.save(linear(`${name}_child`, child('inner', `${name}_inner`)));
    const inbox = async (of: Api) => (await of.call<{ items: object[] }>('GET', '/inbox?pageSize=100')).body.items;
    await api.save(linear(name, child('c', `${name}_child`)));
    const runId = await api.start(name);
    await api.reached(runId, ['input-required']);
    const question = { runId, workflow: name, node: 'c', instance: 'c', text: 'Well?', form, assignee: 'editors' };
    expect(await inbox(api)).toEqual([{ ...question, since: expect.any(String) }]);
    expect(await inbox(new Api(stage.parley.url, eve.headers))).toEqual([]);
    const answer = (parts: object[]) => api.call('POST', `/runs/${runId}/answers`, { node: 'c', parts });
    expect((await answer([{ data: { ok: 'perhaps' } }])).status).toBe(422);
    expect((await answer([{ data: { ok: true } }])).status).toBe(202);
    const { status, result } = await api.ended(runId);
    expect([status, result?.[0]?.parts[0]?.data]).toEqual(['completed', { ok: true }]);
    expect(await inbox(api)).toEqual([]);
  });

  it('a child run that is answered by itself goes on, and its parent with it', async () => {
    const [api, name] = [new Api(stage.parley.url, ann.headers), unique('itself')];
    await api.save(linear(`${name}_child`, { id: 'q', type: 'human', config: { prompt: 'Well?' } }, output('out')));
    await api.save(linear(name, { id: 'c', type: 'workflow', config: { workflow: `${name}_child` } }, output('out')));
    const runId = await api.start(name);
    const { nodes } = await api.reached(runId, ['input-required']);
    const answer = { node: 'q', parts: [{ text: 'so' }] };
    expect((await api.call('POST', `/runs/${nodes['c']?.taskId}/answers`, answer)).status).toBe(202);
    expect((await api.ended(runId)).result?.[0]?.parts[0]?.text).toBe('so');
  });

  it('tells no other server who calls', async () => {
    const agent = await stage.fake();
    const api = new Api(stage.parley.url, ann.headers);
    const workflow = linear(unique('w'), input('in'), external('e', agent.url), output('out'));
    expect((await api.finish(workflow, { in: 'x' })).status).toBe('completed');
    expect(agent.calls.length).toBeGreaterThan(0);
    for (const { headers } of agent.calls) {
      expect(headers).not.toHaveProperty('authorization');
      expect(headers).not.toHaveProperty('x-api-key');
    }
  });
});

import { rpc, sendParams } from '../../support/a2a.js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { useStage } from '../../support/stage.js';
import { Api, input, linear, output, ruled, says, script, unique, type Workflow } from '../../support/workflow.js';

const ann = testCaller('ann');

const MODES: [string, Record<string, string>, Record<string, string>][] = [
  ['none', {}, {}],
  // Nothing on this machine may be called but the service itself.
  ['api-key', { ...apiKeyEnv(ann), OUTBOUND_ALLOW: '' }, ann.headers],
];

/** A workflow whose second node says a text once the first was answered. */
function asking(name: string, text: string): Workflow {
  const asks = ruled('a', [{ when: { turn: 1 }, steps: [{ ask: 'more?' }] }], says('answered'));
  return linear(name, input('in'), asks, script('b', ...says(text)), output('out'));
}

describe.each(MODES)('NODE_DISPATCH=http with AUTH_MODE=%s', (_mode, env, headers) => {
  const stage = useStage({ env: { ...env, NODE_DISPATCH: 'http' } });

  it.each(['PUT', 'DELETE'])(
    'a run keeps its revision after a %s, for which replicas prove that they ask',
    async (how) => {
      const api = new Api(stage.parley.url, headers);
      const { name } = await api.save(asking(unique('claim'), 'accepted'));
      const runId = await api.start(name, { in: 'x' });
      await api.reached(runId, ['input-required']);
      const changed = await api.call(how, `/workflows/${name}`, how === 'PUT' ? asking(name, 'current') : undefined);
      expect(changed.status).toBe(how === 'PUT' ? 200 : 204);
      const base = how === 'PUT' ? api.base(name) : `${stage.parley.url}/a2a`;
      const { body } = await rpc(base, 'SendMessage', sendParams('go on', { fields: { taskId: runId } }), { headers });
      expect(body.error).toBeUndefined();
      const run = await api.ended(runId);
      expect({ status: run.status, error: run.error, b: run.artifacts.b?.[0]?.parts }).toEqual({
        status: 'completed',
        error: undefined,
        b: [{ text: 'accepted' }],
      });
    },
  );
});

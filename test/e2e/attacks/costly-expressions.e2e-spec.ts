import type { JsonObject } from '#libs/protocol';
import { sendTask } from '../../support/a2a.js';
import { apiKeyEnv, testCaller } from '../../support/callers.js';
import { metric } from '../../support/service-metrics.js';
import { useStage } from '../../support/stage.js';
import { takeTurns } from '../../support/turns.js';
import { until } from '../../support/until.js';
import { Api, echo, linear, output, unique, type Workflow } from '../../support/workflow.js';

takeTurns();

const PATIENCE_MS = 300_000;
const RUNS = 10;
const ANSWERS = 20;

const [ann, bob] = [testCaller('ann'), testCaller('bob')];
const stage = useStage({ env: { ...apiKeyEnv(ann, bob), NODE_OPTIONS: '--max-old-space-size=512' } });
const apiOf = ({ headers }: typeof ann): Api => new Api(stage.parley.url, headers);

/** Each entry of the list takes more steps than an expression has, and fails; the next one begins then. */
const COSTLY = '${size(inputs.list.map(a, inputs.list.map(b, a * b + a - b + a * 2)))}';

function costly(name: string): Workflow {
  const nodes = [
    { id: 'list', type: 'input', config: { schema: { type: 'array' } } },
    {
      id: 'n',
      type: 'set',
      config: { values: { n: COSTLY } },
      each: { items: 'inputs.list', concurrency: 1, onFailure: 'collect' },
    },
  ] as Workflow['nodes'];
  return { ...{ language: 2 }, name, nodes, edges: [{ from: 'list', to: 'n' }] };
}

describe('ten runs of one caller whose expressions take all steps that there are', () => {
  it(
    'leave others served, and are canceled at once',
    async () => {
      const { name } = await apiOf(ann).save(costly(unique('costly')));
      const { name: small } = await apiOf(bob).save(linear(unique('echo'), echo('writer'), output('result')));
      const inputs: JsonObject = { list: Array.from({ length: 440 }, (_, index) => index) };
      const started = await Promise.all(
        Array.from({ length: RUNS }, () => apiOf(ann).call('POST', `/workflows/${name}/runs`, { inputs })),
      );
      const runIds = started.map(({ body }) => (body as { runId: string }).runId);
      await until(async () => ((await metric(stage.parley, 'parley_evaluations_waiting')) ?? 0) >= RUNS / 2, {
        what: 'runs to wait for their turn',
      });
      for (let answer = 0; answer < ANSWERS; answer += 1)
        expect((await sendTask(apiOf(bob).base(small), 'Ada', { headers: bob.headers })).status.state).toBe(
          'TASK_STATE_COMPLETED',
        );
      for (const runId of runIds) expect(await apiOf(ann).run(runId)).toMatchObject({ status: 'running' });
      const canceled = await Promise.all(runIds.map((runId) => apiOf(ann).call('POST', `/runs/${runId}/cancel`)));
      expect(canceled.map(({ body }) => (body as { status: string }).status)).toEqual(runIds.map(() => 'canceled'));
    },
    PATIENCE_MS,
  );
});

import { ParleyCommand } from '../support/parley-command.js';
import { useSharedStage } from '../support/shared-stage.js';
import { input, linear, output, script, unique } from '../support/workflow.js';

const stage = useSharedStage();
let parley: ParleyCommand;

beforeEach(() => {
  parley = new ParleyCommand({ PARLEY_URL: stage.parley.url });
});

afterEach(() => parley.end());

describe('parley runs', () => {
  it('searches, exports, cancels and reruns several runs, and acts only with --yes', async () => {
    const name = unique('several');
    await stage.api.save(linear(name, input('topic'), script('gate', { ask: 'Shall it?' }), output('out')));
    const ids: string[] = [];
    for (const topic of ['green tea', 'coffee']) {
      const { out } = await parley.run('run', name, '-i', `topic=${topic}`, '--json');
      ids.push((JSON.parse(out) as { runId: string }).runId);
    }
    for (const runId of ids) await stage.api.reached(runId, ['input-required']);
    const [tea = '', coffee = ''] = ids;
    const found = await parley.run('runs', '-w', name, '--search', 'GREEN tea', '--since', '1h');
    expect([found.out.includes(tea), found.out.includes(coffee)]).toEqual([true, false]);
    expect((await parley.run('runs', '--since', 'noon')).err).toContain('--since noon: must be a time');
    const csv = await parley.run('runs', '-w', name, '--csv');
    expect(csv.out.split('\n').filter((line) => line.includes(name))).toHaveLength(2);
    const dry = await parley.run('cancel-runs', '-w', name, '-s', 'input-required');
    expect([dry.code, dry.out]).toEqual([0, expect.stringMatching(/possible[^]*Nothing was changed; --yes does it/)]);
    expect((await stage.api.run(tea)).status).toBe('input-required');
    const canceled = JSON.parse((await parley.run('cancel-runs', tea, '--yes', '--json')).out) as { runs: object[] };
    // A cancel that takes longer than the request waits for it is pending.
    const outcome = expect.stringMatching(/^(done|pending)$/);
    expect(canceled.runs).toEqual([expect.objectContaining({ runId: tea, status: 'input-required', outcome })]);
    expect((await stage.api.ended(tea)).status).toBe('canceled');
    const again = async () => parley.run('rerun-runs', ...ids, '--key', name, '--yes', '--json');
    const first = await again();
    expect([first.code, (JSON.parse(first.out) as { runs: object[] }).runs]).toEqual([
      1,
      [
        { runId: tea, status: 'canceled', outcome: 'done', newRunId: expect.any(String) },
        { runId: coffee, status: 'input-required', outcome: 'refused', reason: 'the run has not ended' },
      ],
    ]);
    expect((await again()).out).toBe(first.out);
    expect(await parley.run('cancel-runs', '--yes')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Name runs'),
    });
  });
});

import type { JsonObject } from '#libs/protocol';
import { ParleyCommand } from '../support/parley-command.js';
import { useSharedStage } from '../support/shared-stage.js';
import { input, linear, output, script, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();
let parley: ParleyCommand;

beforeEach(() => {
  parley = new ParleyCommand({ PARLEY_URL: stage.parley.url });
});

afterEach(() => parley.end());

const says = (name: string, prompt: string): Workflow => linear(name, input('in'), output('out', { prompt }));

async function replace(workflow: Workflow): Promise<void> {
  await stage.api.call('PUT', `/workflows/${workflow.name}`, workflow);
}

describe('parley revisions', () => {
  it('lists, compares and restores revisions', async () => {
    const name = unique('told');
    await stage.api.save(says(name, 'first'));
    await replace(linear(name, input('in'), script('new'), output('out', { prompt: 'second' })));
    const listed = await parley.run('revisions', name);
    expect([listed.code, listed.out.split('\n').map((line) => line.split(/\s+/)[0])]).toEqual([
      0,
      ['REVISION', '2', '1', ''],
    ]);
    const newest = await parley.run('revisions', name, '-n', '1', '--json');
    expect(JSON.parse(newest.out)).toMatchObject([{ revision: '2', savedAt: expect.any(String) }]);
    const changed = await parley.run('revisions', name, '--diff', '2');
    expect([changed.code, changed.out]).toEqual([
      2,
      [
        `revision 1 → 2 of ${name}`,
        '+ node new (script) added',
        '~ node out (output) changed',
        '  config.prompt',
        '    - "first"',
        '    + "second"',
        '+ edge in → new added',
        '+ edge new → out added',
        '- edge in → out removed',
        '',
      ].join('\n'),
    ]);
    expect((await parley.run('revisions', name, '--restore', '1')).out).toBe(
      `Saved revision 3 of ${name}, equal to revision 1.\n`,
    );
    expect(await parley.run('revisions', name, '--diff', '1', '3')).toMatchObject({
      code: 0,
      out: `No differences: revision 1 → 3 of ${name}.\n`,
    });
    expect((await parley.run('revisions', name)).out).toMatch(/^3 .*restores 1$/m);
  });

  it('marks where the history of a deleted workflow ends, and refuses what does not fit', async () => {
    const name = unique('twice');
    await stage.api.save(says(name, 'first'));
    await stage.api.call('DELETE', `/workflows/${name}`);
    await stage.api.save(says(name, 'second'));
    expect((await parley.run('revisions', name)).out).toMatch(/^1 .*last of a deleted workflow$/m);
    const refused = [
      ['--diff', '1', '--restore', '1'],
      ['--diff', '1', '2', '3'],
      ['-n', '0'],
    ];
    for (const options of refused) expect((await parley.run('revisions', name, ...options)).code).toBe(2);
    const newest = await parley.run('revisions', name, '--restore', '2');
    expect([newest.code, newest.err]).toEqual([1, expect.stringContaining('revision 2 is the newest one')]);
    expect((await parley.run('revisions', unique('none'))).code).toBe(1);
  });
});

describe('parley diff-runs', () => {
  it('compares two runs, or a rerun with its original run', async () => {
    const name = unique('runs');
    const { runId } = await stage.api.finish(says(name, 'first {{in}}'), { in: 'tea' });
    await replace(says(name, 'second {{in}}'));
    const started = await parley.run('rerun', runId, '-i', 'in=coffee', '--revision', '2');
    const [, rerun = ''] = /^Run (\S+) started/.exec(started.out) ?? [];
    expect(started.out).toContain(`\`parley diff-runs ${rerun}\` compares it with run ${runId}.`);
    await stage.api.ended(rerun);
    const found = await parley.run('diff-runs', rerun);
    expect([found.code, found.out]).toEqual([2, expect.stringMatching(/^revision +1 +2$/m)]);
    expect(found.out).toContain(
      'They differ in: revision, inputs, nodes, result.\ninput in\n  - "tea"\n  + "coffee"\n',
    );
    expect(found.out).toMatch(
      /~ node out \(\d+ ms → \d+ ms\)\n {2}output\n {4}- "first tea"\n {4}\+ "second coffee"\n/,
    );
    const json = JSON.parse((await parley.run('diff-runs', runId, rerun, '--json')).out) as JsonObject;
    expect(json).toMatchObject({ before: { runId }, after: { runId: rerun, origin: runId } });
    const same = await parley.run('diff-runs', runId, runId);
    expect([same.code, same.out]).toEqual([0, expect.stringContaining('\nNo differences.\n')]);
    expect((await parley.run('diff-runs', runId)).err).toContain('the run is not a rerun');
    expect((await parley.run('runs', '-w', name)).out).toMatch(/^RUN +WORKFLOW +STATUS .*REVISION$/m);
  });
});

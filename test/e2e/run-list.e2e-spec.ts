import { range } from '../support/sse.js';
import { useSharedStage } from '../support/shared-stage.js';
import { input, linear, output, type Run, ruled, unique } from '../support/workflow.js';

const stage = useSharedStage();

interface Page {
  runs: Run[];
  nextPageToken: string;
  search?: { searched: number; until?: string };
}

interface Report {
  dryRun: boolean;
  runs: { runId: string; status?: string; outcome: string; newRunId?: string; reason?: string }[];
  more: boolean;
}

/** Saves a workflow whose runs wait, fail or complete, by their input. */
async function saveWorkflow(): Promise<string> {
  const node = ruled('s', [
    { when: { text: 'wait' }, steps: [{ ask: 'Which?' }, { complete: 'done' }] },
    { when: { text: 'fail' }, steps: [{ fail: 'out of paper' }] },
  ]);
  const { name } = await stage.api.save(linear(unique('listed'), input('in'), node, output('out')));
  return name;
}

async function start(workflow: string, text: string, status: string): Promise<string> {
  const runId = await stage.api.start(workflow, { in: text });
  await stage.api.reached(runId, [status]);
  return runId;
}

async function list(query: Record<string, string>): Promise<Page> {
  const { status, body, text } = await stage.api.call<Page>('GET', `/runs?${new URLSearchParams(query)}`);
  if (status !== 200) throw new Error(`The list was refused: ${status} ${text}`);
  return body;
}

/**
 * Cancels runs. A cancel that takes longer than a request waits for it is pending: the same request then reports its
 * end.
 */
async function cancelRuns(ids: (string | undefined)[]): Promise<Report> {
  const { body: report } = await stage.api.call<Report>('POST', '/runs/cancel', { ids });
  const pending = report.runs.filter(({ outcome }) => outcome === 'pending').map(({ runId }) => runId);
  for (const runId of pending) await stage.api.ended(runId);
  const { body: rest } = await stage.api.call<Report>('POST', '/runs/cancel', { ids: pending });
  const ended = new Map(rest.runs.map(({ runId, outcome }) => [runId, outcome]));
  const runs = report.runs.map((run) => {
    const { reason: _reason, ...others } = run;
    const outcome = ended.get(run.runId);
    return outcome === undefined ? run : { ...others, outcome };
  });
  return { ...report, runs };
}

const idsIn = ({ runs }: Pick<Page, 'runs'>): string[] => runs.map(({ runId }) => runId);

describe('the list of runs', () => {
  it('filters by several statuses and by time, and searches inputs and errors', async () => {
    const workflow = await saveWorkflow();
    const done = await start(workflow, 'Customer number 77', 'completed');
    const failed = await start(workflow, 'fail', 'failed');
    const waiting = await start(workflow, 'wait', 'input-required');
    expect(idsIn(await list({ workflow, status: 'failed,completed' }))).toEqual([failed, done]);
    expect(idsIn(await list({ workflow, search: 'customer NUMBER 77' }))).toEqual([done]);
    expect(idsIn(await list({ workflow, search: 'Out of Paper' }))).toEqual([failed]);
    expect(idsIn(await list({ workflow, search: workflow.toUpperCase() }))).toEqual([waiting, failed, done]);
    expect(idsIn(await list({ search: done.slice(0, 30) }))).toContain(done);
    expect(await list({ workflow, search: 'paper', status: 'completed' })).toEqual({
      runs: [],
      nextPageToken: '',
      search: { searched: 1 },
    });
    const { updatedAt } = await stage.api.run(failed);
    expect(idsIn(await list({ workflow, until: updatedAt }))).toEqual([done]);
    expect(idsIn(await list({ workflow, since: updatedAt }))).toEqual([waiting, failed]);
  });

  it('counts the runs that a filter selects', async () => {
    const workflow = await saveWorkflow();
    await start(workflow, 'x', 'completed');
    const failed = await start(workflow, 'fail', 'failed');
    await start(workflow, 'wait', 'input-required');
    const count = async (query: string): Promise<unknown> =>
      (await stage.api.call('GET', `/runs/count?workflow=${workflow}&${query}`)).body;
    expect(await count('')).toEqual({ runs: 3, more: false });
    expect(await count('status=failed,completed')).toEqual({ runs: 2, more: false });
    const { updatedAt } = await stage.api.run(failed);
    expect(await count(`since=${updatedAt}`)).toEqual({ runs: 2, more: false });
    expect(await count(`until=${updatedAt}&status=completed,canceled`)).toEqual({ runs: 1, more: false });
    expect(await count('since=yesterday')).toMatchObject({ errors: [{ path: 'since' }] });
    expect(await count('search=x')).toMatchObject({ errors: [{ path: 'search' }] });
  });

  it('names the parameter that it refuses', async () => {
    const refused = async (query: string): Promise<string> => {
      const { status, text } = await stage.api.call('GET', `/runs?${query}`);
      return `${status} ${text}`;
    };
    expect(await refused('status=done')).toMatch(/^400 .*"path":"status"/);
    expect(await refused('status=failed&status=done')).toMatch(/^400 .*"path":"status"/);
    expect(await refused(`search=${'x'.repeat(101)}`)).toMatch(/^400 .*"path":"search"/);
    expect(await refused('until=yesterday')).toMatch(/^400 .*"path":"until"/);
  });
});

describe('actions on several runs', () => {
  it('cancels runs and reports each, after a dry run that changes nothing', async () => {
    const workflow = await saveWorkflow();
    const ids: string[] = [];
    for (const text of ['wait', 'x', 'wait'])
      ids.push(await start(workflow, text, text === 'x' ? 'completed' : 'input-required'));
    const [first, done, last] = ids;
    const unknown = `${first!.slice(0, -4)}0000`;
    const body = { ids: [first, done, unknown, last, first] };
    const refused = [
      { runId: done, status: 'completed', outcome: 'refused', reason: 'the run has ended: it is completed' },
      { runId: unknown, outcome: 'refused', reason: 'run not found' },
    ];
    const dry = await stage.api.call<Report>('POST', '/runs/cancel', { ...body, dryRun: true });
    expect([dry.status, dry.body]).toEqual([
      200,
      {
        dryRun: true,
        runs: [
          { runId: first, status: 'input-required', outcome: 'possible' },
          ...refused,
          { runId: last, status: 'input-required', outcome: 'possible' },
        ],
        more: false,
      },
    ]);
    expect((await stage.api.run(first!)).status).toBe('input-required');
    expect(await cancelRuns(body.ids)).toEqual({
      dryRun: false,
      runs: [
        { runId: first, status: 'input-required', outcome: 'done' },
        ...refused,
        { runId: last, status: 'input-required', outcome: 'done' },
      ],
      more: false,
    });
    expect((await list({ workflow, status: 'canceled' })).runs).toHaveLength(2);
    const again = await stage.api.call<Report>('POST', `/runs/cancel?workflow=${workflow}&status=canceled`);
    expect(again.body.runs.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  });

  it('reruns each run once under one key', async () => {
    const workflow = await saveWorkflow();
    const failed: string[] = [];
    for (const _ of range(1, 3)) failed.unshift(await start(workflow, 'fail', 'failed'));
    const waiting = await start(workflow, 'wait', 'input-required');
    const path = `/runs/rerun?workflow=${workflow}&status=failed,input-required`;
    const dry = await stage.api.call<Report>('POST', path, { failed: true, dryRun: true });
    expect(dry.body.runs).toEqual([
      { runId: waiting, status: 'input-required', outcome: 'refused', reason: 'the run has not ended' },
      ...failed.map((runId) => ({ runId, status: 'failed', outcome: 'possible' })),
    ]);
    const headers = { 'idempotency-key': unique('key') };
    const body = { ids: failed, failed: true };
    const first = await stage.api.call<Report>('POST', '/runs/rerun', body, headers);
    expect(first.body.runs.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'done']);
    const second = await stage.api.call<Report>('POST', '/runs/rerun', body, headers);
    expect(second.body).toEqual(first.body);
    for (const { newRunId } of first.body.runs) await stage.api.ended(newRunId!);
    expect((await list({ workflow, status: 'failed' })).runs).toHaveLength(6);
    // The filter selects the failed reruns as well, which the same request does not rerun.
    const filtered = `/runs/rerun?workflow=${workflow}&status=failed`;
    const third = (await stage.api.call<Report>('POST', filtered, { failed: true }, headers)).body.runs;
    const outcomes = new Map(third.map(({ runId, outcome, newRunId }) => [runId, newRunId ?? outcome]));
    for (const { runId, newRunId } of first.body.runs)
      expect([outcomes.get(runId), outcomes.get(newRunId!)]).toEqual([newRunId, 'refused']);
    expect((await list({ workflow, status: 'failed' })).runs).toHaveLength(6);
  });

  it('reruns several runs with the newest revision of their workflow, as a dry run checks', async () => {
    const workflow = await saveWorkflow();
    const ids = [await start(workflow, 'fail', 'failed'), await start(workflow, 'fail', 'failed')];
    await stage.api.call('PUT', `/workflows/${workflow}`, linear(workflow, input('in'), output('mended')));
    const rerun = async (body: object): Promise<Report['runs']> =>
      (await stage.api.call<Report>('POST', '/runs/rerun', { ids, ...body })).body.runs;
    expect((await rerun({ newest: true, failed: true, dryRun: true })).map(({ outcome }) => outcome)).toEqual([
      'possible',
      'possible',
    ]);
    const resultsOf = async (body: object): Promise<unknown[]> =>
      Promise.all(
        (await rerun(body)).map(async ({ newRunId }) => {
          const { status, revision } = await stage.api.ended(newRunId!);
          return [status, revision];
        }),
      );
    expect(await resultsOf({ failed: true })).toEqual(ids.map(() => ['failed', '1']));
    expect(await resultsOf({ newest: true, failed: true })).toEqual(ids.map(() => ['completed', '2']));
    expect(await resultsOf({ newest: true })).toEqual(ids.map(() => ['completed', '2']));
    await stage.api.call('DELETE', `/workflows/${workflow}`);
    expect(await rerun({ newest: true })).toEqual(
      ids.map((runId) => expect.objectContaining({ runId, outcome: 'refused', reason: expect.any(String) })),
    );
  });

  it('refuses a request that selects nothing, or that has an unknown member', async () => {
    const refused = async (path: string, body: unknown): Promise<string> => {
      const { status, text } = await stage.api.call('POST', path, body);
      return `${status} ${text}`;
    };
    expect(await refused('/runs/cancel', {})).toMatch(/^400 .*"path":"ids"/);
    for (const query of ['q=', 'search=', 'q=&search='])
      expect(await refused(`/runs/cancel?${query}`, {})).toMatch(/^400 .*"path":"ids"/);
    expect(await refused('/runs/cancel', { ids: [], dryrun: true })).toMatch(/^400 .*"path":"dryrun"/);
    expect(await refused('/runs/cancel', { ids: [], dryRun: null })).toMatch(/^400 .*"path":"dryRun"/);
    expect(await refused('/runs/cancel?workflow=none&dryRun=true', {})).toMatch(/^400 .*"path":"dryRun"/);
    expect(await refused('/runs/rerun?workflow=none&stauts=failed', {})).toMatch(/^400 .*"path":"stauts"/);
    expect(await refused('/runs/cancel?status=failed', { ids: ['x'] })).toMatch(/^400 .*cannot be combined/);
    expect(await refused('/runs/rerun', { ids: [7] })).toMatch(/^400 .*"path":"ids/);
    const many = range(1, 501).map(String);
    expect(await refused('/runs/rerun', { ids: many })).toMatch(/^400 .*must not have more than 500/);
    expect((await stage.api.call<Report>('POST', '/runs/cancel', { ids: [] })).body.runs).toEqual([]);
  });

  it('exports runs as CSV, without a formula for a spreadsheet', async () => {
    const workflow = await saveWorkflow();
    const runId = await start(workflow, '=HYPERLINK("x")', 'completed');
    await start(workflow, 'fail', 'failed');
    const reply = await stage.api.call('GET', `/runs.csv?workflow=${workflow}&status=completed,failed`);
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const lines = reply.text.split('\r\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toContain('"runId","workflow"');
    expect(lines[1]).toContain('out of paper');
    expect(lines[2]).toContain(`"${runId}","${workflow}"`);
    expect((await stage.api.call('GET', '/runs.csv?status=done')).status).toBe(400);
  });

  it('continue after a run, also among runs of the same time', async () => {
    const workflow = await saveWorkflow();
    const ids = new Set<string>();
    for (const text of ['a', 'b', 'c', 'd']) ids.add(await start(workflow, text, 'completed'));
    const exported = new Set<string>();
    for (let continued = ''; exported.size < ids.size;) {
      // A list that continues by time alone would skip the other runs of a millisecond.
      const { text } = await stage.api.call('GET', `/runs.csv?workflow=${workflow}${continued}`);
      const [, first] = text.split('\r\n').map((line) => line.slice(1, -1).split('","'));
      if (first?.[0] === undefined) break;
      exported.add(first[0]);
      const [runId = '', , , , , updatedAt = ''] = first;
      continued = `&until=${encodeURIComponent(updatedAt)}&after=${runId}`;
    }
    expect(exported).toEqual(ids);
    const { status, body } = await stage.api.call('GET', `/runs.csv?after=${[...ids][0]}`);
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ errors: [expect.objectContaining({ path: 'until' })] }),
    ]);
  });
});

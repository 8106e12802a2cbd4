import type { ApiCall } from '#libs/access';
import type { Processes } from '#libs/durable';
import { ProblemError } from '#libs/http-server';
import { Metrics } from '#libs/service';
import { BulkRuns, BulkSlots } from './run-bulk.js';
import type { RunList } from './run-list.js';
import { RunFilterQuery } from './run-query.js';
import type { Reruns } from './reruns.js';
import type { Runs } from './runs.js';

const CALL = { scope: { tenant: '', owner: 'ann' }, baseUrl: '' };

interface Parts {
  /** Pages of run ids that the list of runs returns. */
  pages?: string[][];
  onStart?: (runId: string, key: string | undefined, call: ApiCall) => Promise<void>;
  /** Original run and idempotency key of each rerun, by the id of the rerun. */
  starts?: Map<string, { origin: string; key: string }>;
  onList?: (filter: RunFilterQuery) => void;
}

/** Creates BulkRuns over fake runs, all of which have failed. */
function bulkRuns(parts: Parts = {}): BulkRuns {
  const { pages = [], onStart = async () => undefined, starts = new Map(), onList } = parts;
  const processes = { findHeader: async () => ({ state: 'TASK_STATE_FAILED' }) } as unknown as Processes;
  const listPages = async function* (listed: RunFilterQuery) {
    onList?.(listed);
    for (const [index, ids] of pages.entries())
      yield { runs: ids.map((runId) => ({ runId })), isLast: index === pages.length - 1 };
  };
  const startRerun: Reruns['startRerun'] = async (runId, _body, call, key) => {
    await onStart(runId, key, call);
    return { runId: `new-${runId}`, origin: runId };
  };
  const findStart: Reruns['findStart'] = async (runId) => starts.get(runId);
  const slots = new BulkSlots(new Metrics());
  return new BulkRuns(
    processes,
    { listPages } as unknown as RunList,
    {} as Runs,
    { startRerun, findStart } as Reruns,
    slots,
  );
}

describe('BulkRuns', () => {
  it('acts on 500 runs of a filter at most, and reports that there are more', async () => {
    const ids = Array.from({ length: 600 }, (_, n) => String(n));
    const bulk = bulkRuns({ pages: [ids.slice(0, 300), ids.slice(300)] });
    const filter = Object.assign(new RunFilterQuery(), { workflow: 'w' });
    const report = await bulk.rerunRuns({}, filter, CALL);
    expect([report.more, report.runs.map(({ runId }) => runId)]).toEqual([true, ids.slice(0, 500)]);
    expect((await bulkRuns({ pages: [['a']] }).rerunRuns({}, filter, CALL)).more).toBe(false);
  });

  it('selects only runs that the action is for, unless the filter names statuses', async () => {
    const listed: (string | undefined)[] = [];
    const bulk = bulkRuns({ pages: [[]], onList: ({ status }) => listed.push(status) });
    const filter = Object.assign(new RunFilterQuery(), { workflow: 'w' });
    const failed = Object.assign(new RunFilterQuery(), { workflow: 'w', status: 'failed' });
    for (const it of [filter, failed]) {
      await bulk.cancelRuns({}, it, CALL);
      await bulk.rerunRuns({}, it, CALL);
    }
    expect(listed).toEqual(['running,input-required', 'completed,failed,canceled', 'failed', 'failed']);
  });

  it('takes an empty text for no selection', async () => {
    const bulk = bulkRuns({ pages: [['a']] });
    for (const name of ['q', 'search'] as const) {
      const filter = Object.assign(new RunFilterQuery(), { [name]: '' });
      await expect(bulk.rerunRuns({}, filter, CALL)).rejects.toThrow('ids: is missing');
    }
  });

  it('gives each run a key of its own, the same for the same request', async () => {
    const keys: (string | undefined)[] = [];
    const bulk = bulkRuns({ onStart: async (_runId, key) => void keys.push(key) });
    for (const key of ['k', 'k', 'other', undefined])
      await bulk.rerunRuns({ ids: ['a', 'b'] }, new RunFilterQuery(), CALL, key);
    const [first, second, ...more] = keys;
    expect(first).not.toBe(second);
    expect(more).toEqual([first, second, expect.not.stringMatching(first!), expect.any(String), undefined, undefined]);
  });

  it('reruns no run that the same request started, but those of other requests', async () => {
    const starts = new Map<string, { origin: string; key: string }>();
    const onStart = async (runId: string, key = ''): Promise<void> =>
      void starts.set(`new-${runId}`, { origin: runId, key });
    const bulk = bulkRuns({ onStart, starts });
    await bulk.rerunRuns({ ids: ['a'] }, new RunFilterQuery(), CALL, 'k');
    const rerun = async (key: string) =>
      (await bulk.rerunRuns({ ids: ['new-a'] }, new RunFilterQuery(), CALL, key)).runs;
    expect(await rerun('k')).toMatchObject([
      { outcome: 'refused', reason: expect.stringContaining('this idempotency') },
    ]);
    expect(await rerun('other')).toMatchObject([{ outcome: 'done' }]);
  });

  it('reports a refusal beside the others, and what was done before an outage', async () => {
    const refuse = async (runId: string): Promise<void> => {
      if (runId === 'b') throw new ProblemError(409, 'the run has not ended');
      if (runId === 'down') throw new ProblemError(503, 'out of reach');
    };
    const bulk = bulkRuns({ onStart: refuse });
    const { runs } = await bulk.rerunRuns({ ids: ['a', 'b', 'a'] }, new RunFilterQuery(), CALL);
    expect(runs).toEqual([
      { runId: 'a', status: 'failed', outcome: 'done', newRunId: 'new-a' },
      { runId: 'b', status: 'failed', outcome: 'refused', reason: 'the run has not ended' },
    ]);
    const ids = ['x', 'down', ...Array.from({ length: 100 }, (_, n) => String(n))];
    const started: string[] = [];
    const start = async (runId: string): Promise<void> => {
      await refuse(runId);
      started.push(runId);
    };
    const failing = bulkRuns({ onStart: start });
    const report = await failing.rerunRuns({ ids }, new RunFilterQuery(), CALL);
    expect(report.runs.filter(({ outcome }) => outcome === 'done').map(({ runId }) => runId)).toEqual(started);
    expect(report.runs.filter(({ outcome }) => outcome !== 'done').map(({ runId }) => runId)).toContain('down');
    expect(report.runs.at(-1)).toMatchObject({ outcome: 'pending', reason: expect.stringContaining('an error') });
    expect(started.length).toBeLessThan(20);
    const nothing = failing.rerunRuns({ ids: ['down'] }, new RunFilterQuery(), CALL);
    await expect(nothing).rejects.toThrow('out of reach');
  });

  it('listens once to the departure of its caller, however many runs it acts on', async () => {
    let listeners = 0;
    const whenAnswered = (): boolean => (listeners += 1) > 0;
    const ids = Array.from({ length: 50 }, (_, n) => String(n));
    const calls: unknown[] = [];
    const bulk = bulkRuns({
      onStart: async (_runId, _key, call) => void calls.push(call.whenAnswered?.(() => undefined)),
    });
    await bulk.rerunRuns({ ids }, new RunFilterQuery(), { ...CALL, whenAnswered });
    expect([calls, listeners]).toEqual([ids.map(() => true), 1]);
  });

  it('has two requests of a caller under way at most, and frees their slots', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const bulk = bulkRuns({ onStart: () => held });
    const rerun = (): Promise<unknown> => bulk.rerunRuns({ ids: ['a'] }, new RunFilterQuery(), CALL);
    const underWay = [rerun(), rerun()];
    await expect(rerun()).rejects.toThrow('2 actions on several runs, or exports, of yours are under way');
    release();
    await Promise.all(underWay);
    await expect(rerun()).resolves.toMatchObject({ runs: [{ outcome: 'done' }] });
  });
});

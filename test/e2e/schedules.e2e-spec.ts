import type { JsonObject } from '#libs/protocol';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { type Api, input, linear, output, script, unique, type Workflow } from '../support/workflow.js';

interface Schedule extends JsonObject {
  name: string;
  paused: boolean;
  nextTimes: string[];
}

interface Firing extends JsonObject {
  id: string;
  due: string;
  cause: string;
  state: string;
  runId: string;
  reason: string;
}

const stage = useSharedStage();
const FAR = '2099-01-01T00:00:00Z';

/** Schedules of the test under way. Without their deletion they would fire beside the next test. */
const made: string[] = [];

afterEach(async () => {
  for (const name of made.splice(0)) await stage.api.call('DELETE', `/schedules/${name}`);
});

const asks = (name: string): Workflow => linear(name, { id: 'gate', type: 'human', config: { prompt: 'Go on?' } });

/** Saves a workflow and a schedule of it. */
async function schedule(workflow: Workflow, rules: object, api: Api = stage.api): Promise<string> {
  await api.save(workflow);
  const name = unique('schedule');
  const { status, text } = await api.call('POST', '/schedules', { name, workflow: workflow.name, ...rules });
  if (status !== 201) throw new Error(`${status} ${text}`);
  made.push(name);
  return name;
}

/** Returns the whole history of a schedule, oldest first. */
async function history(name: string): Promise<Firing[]> {
  const all: Firing[] = [];
  for (let token = ''; ;) {
    const path = `/schedules/${name}/firings?pageSize=100&pageToken=${token}`;
    const { body, status, text } = await stage.api.call<{ firings: Firing[]; nextPageToken: string }>('GET', path);
    if (status !== 200) throw new Error(`${status} ${text}`);
    all.push(...body.firings);
    token = body.nextPageToken;
    if (token === '') return all.toReversed();
  }
}

function awaitHistory(name: string, is: (firings: Firing[]) => boolean): Promise<Firing[]> {
  let last: Firing[] = [];
  const look = async (): Promise<Firing[] | false> => {
    last = await history(name);
    return is(last) && last;
  };
  return until(look, { what: () => `the history of ${name}; it is ${JSON.stringify(last)}` });
}

const view = async (name: string): Promise<Schedule> =>
  (await stage.api.call<Schedule>('GET', `/schedules/${name}`)).body;

describe('A schedule', () => {
  it('starts one run for each of its times, with its inputs, and not before the time', async () => {
    const workflow = linear(unique('report'), input('text'), output('out'));
    const name = await schedule(workflow, { every: '1s', inputs: { text: 'Good morning' }, overlap: 'allow' });
    const firings = await awaitHistory(name, (all) => all.filter(({ state }) => state === 'completed').length >= 3);
    const dues = firings.map(({ due }) => Date.parse(due));
    expect(dues).toEqual(dues.map((_, index) => dues[0]! + index * 1_000));
    const runs = await Promise.all(firings.slice(0, 3).map(({ runId }) => stage.api.run(runId)));
    expect(new Set(runs.map(({ runId }) => runId)).size).toBe(3);
    for (const [index, run] of runs.entries()) {
      expect(run).toMatchObject({ workflow: workflow.name, status: 'completed', inputs: { text: 'Good morning' } });
      expect(Date.parse(run.createdAt)).toBeGreaterThanOrEqual(dues[index]!);
    }
  });

  it('skips times while a run has not ended, and pauses and resumes', async () => {
    const name = await schedule(asks(unique('asks')), { every: '1s' });
    const firings = await awaitHistory(name, (all) => all.length >= 3);
    expect(firings.map(({ state }) => state).slice(0, 3)).toEqual(['running', 'skipped', 'skipped']);
    expect(firings[1]).toMatchObject({ cause: 'time', reason: 'An earlier run of the schedule had not ended.' });
    const paused = await stage.api.call<Schedule>('POST', `/schedules/${name}/pause`, { note: 'until Monday' });
    expect(paused.body).toMatchObject({ paused: true, note: 'until Monday', nextTimes: [] });
    const again = await stage.api.call<Schedule>('POST', `/schedules/${name}/pause`);
    expect([again.status, again.body.paused, again.body['note']]).toEqual([200, true, undefined]);
    const before = (await history(name)).length;
    await stage.api.call('POST', `/runs/${firings[0]!.runId}/cancel`);
    const resumed = await stage.api.call<Schedule>('POST', `/schedules/${name}/resume`);
    expect(resumed.body).toMatchObject({ paused: false });
    expect(resumed.body.nextTimes).toHaveLength(10);
    expect(resumed.body).not.toHaveProperty('note');
    const later = await awaitHistory(name, (all) => all.length > before);
    expect([later[0]!.state, later[before]!.due]).toEqual(['canceled', resumed.body.nextTimes[0]]);
  });

  it('cancels the run before, if its overlap says so, and has one run at a time', async () => {
    const name = await schedule(asks(unique('asks')), { every: '1s', overlap: 'cancel' });
    let most = 0;
    await awaitHistory(name, (all) => {
      most = Math.max(most, all.filter(({ state }) => state === 'running').length);
      return all.filter(({ state }) => state === 'canceled').length >= 3;
    });
    expect(most).toBeLessThanOrEqual(1);
  });

  it('starts the runs of a backfill one after another, and a run now beside them', async () => {
    const name = await schedule(asks(unique('asks')), { cron: '0 0 * * *', timeZone: 'Europe/Berlin' });
    const period = { from: '2026-03-28T00:00:00Z', to: '2026-03-30T22:00:00Z' };
    const filled = await stage.api.call('POST', `/schedules/${name}/backfill`, period);
    expect([filled.status, filled.body]).toEqual([202, { count: 3 }]);
    const first = await awaitHistory(name, (all) => all[0]?.state === 'running');
    expect(first.map(({ due, state, cause }) => [due, state, cause])).toEqual([
      ['2026-03-28T23:00:00.000Z', 'running', 'backfill'],
      ['2026-03-29T22:00:00.000Z', 'queued', 'backfill'],
      ['2026-03-30T22:00:00.000Z', 'queued', 'backfill'],
    ]);
    const now = await stage.api.call<{ runId: string }>('POST', `/schedules/${name}/run`);
    expect(now.status).toBe(202);
    expect((await stage.api.reached(now.body.runId, ['input-required'])).runId).toBe(now.body.runId);
    await stage.api.call('POST', `/runs/${now.body.runId}/cancel`);
    await stage.api.call('POST', `/runs/${first[0]!.runId}/cancel`);
    const second = await awaitHistory(name, (all) => all[1]?.state === 'running');
    expect(second.map(({ state }) => state)).toEqual(['canceled', 'running', 'queued', 'canceled']);
    expect(second.at(-1)).toMatchObject({ cause: 'request', runId: now.body.runId });
  });

  it('is paused after failed runs in a row', async () => {
    const workflow = linear(unique('fails'), script('plan', { fail: 'no paper' }), output('out'));
    const name = await schedule(workflow, { every: '1s', pauseAfterFailures: 2, overlap: 'queue' });
    const paused = await until(async () => {
      const seen = await view(name);
      return seen.paused && seen;
    });
    expect(paused).toMatchObject({ note: 'Paused by the service after 2 failed runs in a row.', nextTimes: [] });
    const failed = (await history(name)).filter(({ state }) => state === 'failed');
    expect(failed.length).toBeGreaterThanOrEqual(2);
  });

  it('says why a run did not start', async () => {
    const workflow = linear(unique('report'), input('text'), output('out'));
    const name = await schedule(workflow, { at: FAR, inputs: { text: 'x' } });
    await stage.api.call('DELETE', `/workflows/${workflow.name}`);
    const refused = await stage.api.call('POST', `/schedules/${name}/run`);
    expect([refused.status, refused.body['detail']]).toEqual([422, `The workflow "${workflow.name}" does not exist.`]);
    const [firing] = await awaitHistory(name, (all) => all[0]?.state === 'failed');
    expect(firing).toMatchObject({ reason: `The workflow "${workflow.name}" does not exist.`, cause: 'request' });
    expect(firing).not.toHaveProperty('runId');
  });

  it('keeps its next time when only its inputs change, and gets a new one with new times', async () => {
    const workflow = linear(unique('report'), input('text'), output('out'));
    const name = await schedule(workflow, { cron: '0 0 1 1 *', inputs: { text: 'x' } });
    const { nextTimes } = await view(name);
    const put = (rules: object) =>
      stage.api.call<Schedule>('PUT', `/schedules/${name}`, { workflow: workflow.name, ...rules });
    const same = await put({ cron: '0 0 1 1 *', inputs: { text: 'y' } });
    expect([same.status, same.body.nextTimes, same.body['inputs']]).toEqual([200, nextTimes, { text: 'y' }]);
    const other = await put({ at: FAR, inputs: { text: 'y' }, jitter: '30s', catchUp: '2h' });
    expect(other.body).toMatchObject({
      at: FAR,
      nextTimes: ['2099-01-01T00:00:00.000Z'],
      jitter: '30s',
      catchUp: '2h',
    });
    expect(other.body).not.toHaveProperty('cron');
  });
});

describe('The API of schedules', () => {
  it('refuses what could never run, and stores nothing', async () => {
    const workflow = linear(unique('report'), input('text'), output('out'));
    await stage.api.save(workflow);
    const name = unique('schedule');
    const post = async (fields: object) => {
      const body = { name, workflow: workflow.name, inputs: { text: 'x' }, ...fields };
      const reply = await stage.api.call<{ errors: { path: string; detail: string }[] }>('POST', '/schedules', body);
      return [reply.status, reply.body.errors?.map(({ path, detail }) => `${path}: ${detail}`)];
    };
    expect(await post({ cron: '61 * * * *' })).toEqual([
      400,
      ['cron: is no cron expression: Invalid value for minute: 61'],
    ]);
    expect(await post({ every: '1h', timeZone: 'UTC' })).toEqual([
      400,
      [expect.stringMatching(/^timeZone: belongs to cron/)],
    ]);
    expect(await post({ every: '1h', overlap: 'never', catchUp: 'soon' })).toEqual([
      400,
      [expect.stringMatching(/^overlap: /), expect.stringMatching(/^catchUp: /)],
    ]);
    expect(await post({ every: '1h', surprise: 1 })).toEqual([400, ['surprise: is not a field of a schedule']]);
    expect(await post({ every: '1h', workflow: 'nowhere' })).toEqual([
      422,
      ['workflow: the workflow "nowhere" does not exist'],
    ]);
    const [status, errors] = await post({ every: '1h', inputs: { other: 'x' } });
    expect([status, errors]).toEqual([422, expect.arrayContaining([expect.stringMatching(/^inputs\.?/)])]);
    expect((await stage.api.call('GET', `/schedules/${name}`)).status).toBe(404);
    expect(await post({ every: '1h' })).toEqual([201, undefined]);
    expect(await post({ every: '1h' })).toEqual([409, undefined]);
    const listed = await stage.api.call<{ schedules: Schedule[] }>('GET', '/schedules');
    expect(listed.body.schedules.find((it) => it.name === name)?.nextTimes).toHaveLength(1);
    const far = await stage.api.call('POST', `/schedules/${name}/backfill`, {
      from: '2020-01-01T00:00:00Z',
      to: '2026-01-01T00:00:00Z',
    });
    expect([far.status, far.text]).toEqual([422, expect.stringContaining('more than 1000 times')]);
    const nul = await stage.api.call('POST', `/schedules/${name}/pause`, { note: 'until\0Monday' });
    expect([nul.status, nul.body['detail']]).toEqual([400, 'note: must not contain a NUL character']);
    expect((await stage.api.call('DELETE', `/schedules/${name}`)).status).toBe(204);
    expect((await stage.api.call('DELETE', `/schedules/${name}`)).status).toBe(404);
  });

  it('shows the next times of what is not saved yet', async () => {
    const times = { cron: '30 2 * * *', timeZone: 'Europe/Berlin', startAt: '2099-03-28T00:00:00Z' };
    const { body } = await stage.api.call<Schedule>('POST', '/schedules/times', times);
    expect(body.nextTimes).toHaveLength(10);
    expect(body.nextTimes.slice(0, 2)).toEqual(['2099-03-28T01:30:00.000Z', '2099-03-29T01:00:00.000Z']);
  });

  it('saves schedules from files, and deletes those that are gone', async () => {
    const workflow = linear(unique('report'), input('text'), output('out'));
    const name = unique('schedule');
    const mark = unique('folder');
    const definition = { name, workflow: workflow.name, cron: '0 6 * * *', inputs: { text: 'x' } };
    const apply = async (objects: object[]) =>
      (
        await stage.api.call<{ objects: { action: string }[] }>('POST', '/apply', {
          workflows: [{ definition: workflow }],
          objects,
          mark,
          prune: true,
        })
      ).body.objects?.map(({ action }) => action);
    const entry = (fields: object) => ({ kind: 'schedule', definition: { ...definition, ...fields } });
    expect(await apply([entry({})])).toEqual(['created']);
    expect((await view(name)).nextTimes).toHaveLength(10);
    expect(await apply([entry({})])).toEqual(['unchanged']);
    expect(await apply([entry({ cron: '0 7 * * *' })])).toEqual(['updated']);
    expect((await view(name)).nextTimes[0]).toMatch(/T07:00:00/);
    expect(await apply([])).toEqual(['deleted']);
    expect((await stage.api.call('GET', `/schedules/${name}`)).status).toBe(404);
  });
});

import type { JsonObject } from '#libs/protocol';
import { ANN, EVE, KNOWS_CALLERS } from '../support/callers.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { Api, input, linear, output, script, unique, type Workflow } from '../support/workflow.js';

interface Fired extends JsonObject {
  deliveryId: string;
  cause: string;
  state: string;
  runId: string;
  reason: string;
  replayable: boolean;
}

const stage = useSharedStage(KNOWS_CALLERS);
let ann: Api;
let eve: Api;

beforeAll(() => {
  [ann, eve] = [new Api(stage.parley.url, ANN.headers), new Api(stage.parley.url, EVE.headers)];
});

/** Triggers of the test under way. Without their deletion they would fire beside the next test. */
const made: string[] = [];

afterEach(async () => {
  for (const name of made.splice(0)) await ann.call('DELETE', `/triggers/${name}`);
});

const echoes = (): Workflow => linear(unique('echoes'), input('text'), output('out'));

/** Saves a trigger of Ann. */
async function onEnd(workflow: string, run: JsonObject, rules: JsonObject): Promise<string> {
  const name = unique('ended');
  const { status, text } = await ann.call('POST', '/triggers', { name, workflow, run, ...rules });
  if (status !== 201) throw new Error(`${status} ${text}`);
  made.push(name);
  return name;
}

async function history(name: string): Promise<Fired[]> {
  const { body } = await ann.call<{ deliveries: Fired[] }>('GET', `/triggers/${name}/deliveries?pageSize=100`);
  return body.deliveries.toReversed();
}

function awaitHistory(name: string, is: (fired: Fired[]) => boolean): Promise<Fired[]> {
  let last: Fired[] = [];
  const look = async (): Promise<Fired[] | false> => {
    last = await history(name);
    return is(last) && last;
  };
  return until(look, { what: () => `the deliveries of ${name}; they are ${JSON.stringify(last)}` });
}

const isOver = (fired: Fired[]): boolean =>
  fired.length > 0 && fired.every(({ state }) => state !== 'starting' && state !== 'running');

describe('A trigger of the ends of runs', () => {
  it('starts one run for each, with its result, and fires for no other status', async () => {
    const { name: first } = await ann.save(echoes());
    const { name: second } = await ann.save(echoes());
    const mapping = { inputs: { text: '${run.workflow} ${run.status}: ${run.inputs.text}, ${run.result}' } };
    const name = await onEnd(second, { workflow: first }, mapping);
    const failures = await onEnd(second, { workflow: first, statuses: ['failed', 'canceled'] }, mapping);
    const ended = [await ann.start(first, { text: 'one' }), await ann.start(first, { text: 'two' })];
    for (const runId of ended) await ann.ended(runId);
    const fired = await awaitHistory(name, (all) => all.length === 2 && isOver(all));
    expect(fired.map(({ deliveryId }) => deliveryId).toSorted()).toEqual(ended.map((it) => `run:${it}`).toSorted());
    const texts = await Promise.all(fired.map(async ({ runId }) => (await ann.run(runId)).inputs['text']));
    expect(texts.toSorted()).toEqual([`${first} completed: one, one`, `${first} completed: two, two`]);
    expect(await history(failures)).toEqual([]);
  });

  it('starts a run for a failed run, with its error, and for the ends of runs that its condition takes', async () => {
    const { name: fails } = await ann.save(linear(unique('fails'), input('text'), script('s', { fail: 'no paper' })));
    const { name: reports } = await ann.save(echoes());
    const rules = { when: "run.inputs.text != 'ignored'", inputs: { text: '${run.error}' } };
    const name = await onEnd(reports, { workflow: fails, statuses: ['failed'] }, rules);
    for (const text of ['ignored', 'reported']) await ann.ended(await ann.start(fails, { text }));
    const fired = await awaitHistory(name, (all) => all.length === 2 && isOver(all));
    expect(fired.map(({ state }) => state).toSorted()).toEqual(['completed', 'filtered']);
    const { runId } = fired.find(({ state }) => state === 'completed')!;
    expect((await ann.run(runId)).inputs['text']).toContain('no paper');
    expect(fired.map(({ replayable }) => replayable)).toEqual([false, false]);
  });

  it('starts the run of one trigger although another has too many open deliveries', async () => {
    const { name: first } = await ann.save(echoes());
    const { name: second } = await ann.save(echoes());
    const run = { workflow: first };
    const names = [
      await onEnd(second, run, { inputs: { text: 'x' } }),
      await onEnd(second, run, { inputs: { text: 'x' } }),
    ];
    const [full, free] = names.toSorted();
    await stage.database.query(FILL, [full]);
    await ann.ended(await ann.start(first, { text: 'x' }));
    expect((await awaitHistory(free!, isOver)).map(({ state }) => state)).toEqual(['completed']);
  });

  it('ends the loop of two workflows that start each other', async () => {
    const { name: ping } = await ann.save(echoes());
    const { name: pong } = await ann.save(echoes());
    const mapping = { inputs: { text: '${run.inputs.text}' } };
    const names = [await onEnd(pong, { workflow: ping }, mapping), await onEnd(ping, { workflow: pong }, mapping)];
    await ann.ended(await ann.start(ping, { text: 'again' }));
    let all: Fired[] = [];
    const look = async (): Promise<boolean> => {
      all = (await Promise.all(names.map(history))).flat();
      return all.some(({ state }) => state === 'skipped') && isOver(all);
    };
    await until(look, { what: () => `the end of the loop; its deliveries are ${JSON.stringify(all)}` });
    expect(all.map(({ state }) => state).toSorted()).toEqual([...Array(5).fill('completed'), 'skipped']);
    expect(all.find(({ state }) => state === 'skipped')?.reason).toContain('5 runs in a row');
  });

  it('does not fire for a run that another run called', async () => {
    const { name: inner } = await ann.save(echoes());
    const { name: reports } = await ann.save(echoes());
    const call = { id: 'call', type: 'workflow', config: { workflow: inner, inputs: { text: 'x' } } };
    const { name: outer } = await ann.save(linear(unique('outer'), call));
    const name = await onEnd(reports, { workflow: inner }, { inputs: { text: 'x' } });
    const whole = await onEnd(reports, { workflow: outer }, { inputs: { text: 'x' } });
    await ann.ended(await ann.start(outer));
    await awaitHistory(whole, isOver);
    expect(await history(name)).toEqual([]);
  });

  it('starts runs that belong to the owner of the ended run', async () => {
    const { name: first } = await ann.save(echoes());
    const { name: second } = await ann.save(echoes());
    const name = await onEnd(second, { workflow: first }, { inputs: { text: '${run.result}' } });
    await eve.ended(await eve.start(first, { text: 'hers' }));
    const [fired] = await awaitHistory(name, isOver);
    expect((await eve.run(fired!.runId)).inputs).toEqual({ text: 'hers' });
    expect((await ann.call('GET', `/runs/${fired!.runId}`)).status).toBe(404);
  });

  it('names each member that is wrong', async () => {
    const { name: workflow } = await ann.save(echoes());
    const post = async (fields: object): Promise<string[]> => {
      const body = { name: unique('ended'), workflow, run: { workflow }, ...fields };
      const reply = await ann.call<{ errors: { path: string; detail: string }[] }>('POST', '/triggers', body);
      return [String(reply.status), ...reply.body.errors.map(({ path, detail }) => `${path}: ${detail}`)];
    };
    const webhook = { scheme: 'github', secrets: ['x'] };
    expect(await post({ webhook })).toEqual(['400', ': exactly one of webhook and run is required']);
    expect(await post({ run: { workflow, statuses: ['done'] } })).toEqual([
      '400',
      'run.statuses[0]: must be one of completed, failed, canceled',
    ]);
    expect(await post({ run: { workflow: 'missing' } })).toEqual([
      '422',
      'run.workflow: the workflow "missing" does not exist',
    ]);
    expect(await post({ inputs: { text: '${run.nodes}' } })).toEqual(['400', 'inputs.text: at 6: run has no "nodes"']);
  });
});

// Open deliveries whose starts are not due: their jobs do not exist.
const FILL = `
  INSERT INTO trigger_delivery (trigger_id, delivery_key, cause, state, is_open, tenant, owner, workflow)
  SELECT trigger_id, 'filled-' || n, 'run', 'starting', true, tenant, owner, workflow
  FROM workflow_trigger, generate_series(1, 1000) AS n WHERE name = $1`;

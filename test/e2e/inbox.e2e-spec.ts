import type { JsonObject, JsonValue } from '#libs/protocol';
import { apiKeyEnv, testCaller } from '../support/callers.js';
import { startParley } from '../support/parley.js';
import { metric } from '../support/service-metrics.js';
import { useStage } from '../support/stage.js';
import { until } from '../support/until.js';
import { Api, type ApiReply, output, ruled, unique, type Workflow } from '../support/workflow.js';

interface Item extends JsonObject {
  runId: string;
  instance: string;
  since: string;
}

interface Page {
  items: Item[];
  nextPageToken: string;
}

const [ann, bob] = [testCaller('ann'), testCaller('bob')];
const stage = useStage({ env: apiKeyEnv(ann, bob) });
let api: Api;
let bobs: Api;

beforeAll(() => {
  [api, bobs] = [ann, bob].map(({ headers }) => new Api(stage.parley.url, headers)) as [Api, Api];
});

/** Asks first, and says what it was answered then. */
const asks = (id: string) =>
  ruled(id, [
    { when: { turn: 1 }, steps: [{ ask: `${id}?` }] },
    { when: { turn: 2 }, steps: [{ artifact: { parts: [{ text: `${id}: {{text}}` }] } }, { complete: 'done' }] },
  ]);

/** Nodes that ask side by side, and their answers together. */
function asking(...ids: string[]): Workflow {
  return {
    name: unique('asks'),
    nodes: [...ids.map(asks), output('out', { prompt: ids.map((id) => `{{${id}}}`).join(', ') })],
    edges: ids.map((id) => ({ from: id, to: 'out' })),
  };
}

async function asked(workflow: Workflow, by = api): Promise<string> {
  const runId = await by.start(workflow.name);
  await by.reached(runId, ['input-required']);
  return runId;
}

function answer(runId: string, node: unknown, parts: unknown, by = api): Promise<ApiReply<JsonObject>> {
  return by.call('POST', `/runs/${runId}/answers`, { node, parts });
}

async function inbox(by = api, query = ''): Promise<Page> {
  const { status, body, text } = await by.call<Page>('GET', `/inbox${query}`);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body;
}

async function itemsOf(runId: string, by = api): Promise<Item[]> {
  return (await inbox(by, '?pageSize=100')).items.filter((item) => item.runId === runId);
}

const text = (value: string): JsonValue => [{ text: value }];

describe('The inbox', () => {
  it('has what the runs of its caller ask, and how to answer that', async () => {
    const workflow = await api.save(asking('a', 'b'));
    const runId = await asked(workflow);
    const items = await itemsOf(runId);
    expect(items).toEqual(
      ['a', 'b'].map((id) => ({
        runId,
        workflow: workflow.name,
        node: id,
        instance: id,
        text: `${id}?`,
        since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      })),
    );
    expect(await itemsOf(runId, bobs)).toEqual([]);
    expect((await answer(runId, 'a', text('x'), bobs)).status).toBe(404);
  });

  it('keeps a question and its time until it is answered; the others stay', async () => {
    const runId = await asked(await api.save(asking('a', 'b')));
    const [, before] = await itemsOf(runId);
    const taken = await answer(runId, 'a', text('one'));
    expect({ status: taken.status, body: taken.body }).toEqual({ status: 202, body: { runId, instance: 'a' } });
    await until(async () => (await itemsOf(runId)).length === 1, { what: 'the run to ask the other question again' });
    expect(await itemsOf(runId)).toEqual([before]);
    expect((await answer(runId, 'b', text('two'))).status).toBe(202);
    expect((await api.ended(runId)).result?.[0]?.parts[0]?.text).toBe('a: one, b: two');
    expect(await itemsOf(runId)).toEqual([]);
  });

  it('takes answers that come together, each by its node, and one for each', async () => {
    const ids = ['a', 'b', 'c', 'd'];
    const runId = await asked(await api.save(asking(...ids)));
    const twice = ids.flatMap((id) => [id, id]);
    const replies = await Promise.all(twice.map((id) => answer(runId, id, text(`for ${id}`))));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([...ids.map(() => 202), ...ids.map(() => 409)]);
    const said = ids.map((id) => `${id}: for ${id}`).join(', ');
    expect((await api.ended(runId)).result?.[0]?.parts[0]?.text).toBe(said);
  });

  it('is counted for Prometheus by run, not by question', async () => {
    const waiting = () => metric(stage.parley, 'parley_runs_waiting', 'reason="input"');
    const before = await waiting();
    const runId = await asked(await api.save(asking('a', 'b')));
    // A reading that takes long leaves the last one.
    await until(async () => (await waiting()) === before + 1, { what: 'the run to be counted' });
    await api.call('POST', `/runs/${runId}/cancel`);
    await until(async () => (await waiting()) === before, { what: 'the run not to be counted' });
    expect(await metric(stage.parley, 'parley_runs_waiting', 'reason="timer"')).toBe(0);
  });

  it('lets go of what a canceled run has asked', async () => {
    const runId = await asked(await api.save(asking('a')));
    await api.call('POST', `/runs/${runId}/cancel`);
    expect(await itemsOf(runId)).toEqual([]);
    expect(await answer(runId, 'a', text('late'))).toMatchObject({ status: 409, body: { reason: 'CONFLICT' } });
  });

  it('has what runs asked before there was an inbox', async () => {
    const runId = await asked(await api.save(asking('a', 'b')));
    const before = await itemsOf(runId);
    await stage.database.query('DELETE FROM task_question WHERE task_id = $1', [runId]);
    await stage.database.query(`DELETE FROM schema_migration WHERE name LIKE 'FillRunQuestions%'`);
    const later = await startParley({ databaseUrl: stage.database.url, env: apiKeyEnv(ann) });
    await later.stop();
    const known = before.map(({ since: _since, ...item }) => expect.objectContaining(item));
    expect((await itemsOf(runId)).toSorted((one, two) => (one.instance < two.instance ? -1 : 1))).toEqual(known);
  });

  it('gives pages, the longest asked first', async () => {
    const workflow = await bobs.save(asking('a', 'b'));
    const runs = [await asked(workflow, bobs), await asked(workflow, bobs), await asked(workflow, bobs)];
    const items: Item[] = [];
    for (let token = ''; ;) {
      const page = await inbox(bobs, `?pageSize=4${token && `&pageToken=${token}`}`);
      items.push(...page.items);
      token = page.nextPageToken;
      if (token === '') break;
      expect(page.items).toHaveLength(4);
    }
    expect(items.map(({ runId, instance }) => [runId, instance])).toEqual(
      runs.flatMap((runId) => [
        [runId, 'a'],
        [runId, 'b'],
      ]),
    );
    const times = items.map(({ since }) => since);
    expect(times).toEqual([...times].sort());
    expect((await inbox(bobs, '?assignee=nobody')).items).toEqual([]);
  });

  it.each(['?pageSize=0', '?pageSize=101', '?pageToken=x', '?assignee=', '?assignee=a&assignee=b'])(
    'refuses %s',
    async (query) => {
      expect((await api.call('GET', `/inbox${query}`)).status).toBe(400);
    },
  );
});

describe('An answer', () => {
  it('is refused where nobody asks for it', async () => {
    const runId = await asked(await api.save(asking('a')));
    expect(await answer(runId, 'out', text('x'))).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('out') },
    });
    expect((await answer(runId, 'nobody', text('x'))).status).toBe(404);
    expect((await answer(runId, 'a[2]', text('x'))).status).toBe(409);
    expect((await answer('no-such-run', 'a', text('x'))).status).toBe(404);
    expect((await answer(runId, 'a', text('yes'))).status).toBe(202);
    await api.ended(runId);
    expect((await answer(runId, 'a', text('again'))).status).toBe(409);
  });

  it.each<[what: string, node: unknown, parts: unknown, path: string]>([
    ['no node', undefined, [{ text: 'x' }], 'node'],
    ['a node that is no text', 1, [{ text: 'x' }], 'node'],
    ['no parts', 'a', undefined, 'parts'],
    ['no Part', 'a', [], 'parts'],
    ['what is no Part', 'a', [{ text: 'x' }, { text: 'x', data: 1 }], 'parts[1]'],
    ['a Part of another type', 'a', [{ text: 1 }], 'parts[0]'],
  ])('is refused with %s', async (_what, node, parts, path) => {
    const runId = await asked(await api.save(asking('a')));
    const { status, body } = await answer(runId, node, parts);
    expect(status).toBe(400);
    expect((body.errors as { path: string }[]).map((it) => it.path)).toEqual([path]);
    expect(await itemsOf(runId)).toHaveLength(1);
  });
});

import type { JsonObject } from '#libs/protocol';
import type { FakeAgent } from '../support/fake-agent.js';
import { answers, ends, holds } from '../support/fake-behaviour.js';
import { ParleyCommand } from '../support/parley-command.js';
import { useSharedStage } from '../support/shared-stage.js';
import { echo, external, input, linear, output, type Run, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();

interface Instances {
  instances: { instance: string; status: string; origin?: string }[];
  nextPageToken: string;
}

/** An agent that answers with what it was told, and how many times it has been called. */
async function counting(): Promise<FakeAgent> {
  const fake = await stage.fake();
  return fake.always(({ text }, index) => answers(`${text} #${index + 1}`));
}

async function ran(definition: Workflow, inputs: JsonObject = {}): Promise<Run> {
  await stage.api.call('PUT', `/workflows/${definition.name}`, definition);
  return stage.api.ended(await stage.api.start(definition.name, inputs));
}

async function rerun(runId: string, body: JsonObject): Promise<Run> {
  const reply = await stage.api.call<{ runId: string }>('POST', `/runs/${runId}/rerun`, body);
  expect({ status: reply.status, body: reply.body }).toEqual({
    status: 202,
    body: { runId: expect.any(String), origin: runId },
  });
  return stage.api.ended(reply.body.runId);
}

/** `in`, then two agents in a row, then `out`. */
async function chain(): Promise<{ a: FakeAgent; b: FakeAgent; definition: Workflow }> {
  const [a, b] = [await counting(), await counting()];
  const nodes = [external('a', a.url, { prompt: 'a({{in}})' }), external('b', b.url, { prompt: 'b({{a}})' })];
  return { a, b, definition: linear(unique('rerun'), input('in'), ...nodes, output('out')) };
}

const texts = (run: Run): (string | undefined)[] => run.result?.map(({ parts }) => parts[0]?.text) ?? [];

describe('a rerun', () => {
  it('calls only what is named and what follows; the origin stays as it is', async () => {
    const { a, b, definition } = await chain();
    const origin = await ran(definition, { in: 'x' });
    expect(texts(origin)).toEqual(['b(a(x) #1) #1']);
    const again = await rerun(origin.runId, { from: ['b'] });
    expect([a.sends.length, b.sends.length]).toEqual([1, 2]);
    expect(again.status).toBe('completed');
    expect(texts(again)).toEqual(['b(a(x) #1) #2']);
    expect(again.contextId).toBe(origin.contextId);
    expect(again).toMatchObject({ origin: origin.runId });
    expect(again.nodes['a']).toMatchObject({ status: 'completed', attempts: 0, origin: origin.runId });
    expect(await stage.api.run(origin.runId)).toEqual(origin);
    const forks = await stage.api.call<{ forks: { runId: string }[] }>('GET', `/runs/${origin.runId}/forks`);
    expect(forks.body).toEqual({
      forks: [{ runId: again.runId, createdAt: again.createdAt, status: 'completed' }],
    });
  });

  it('of what failed calls that alone', async () => {
    const { a, b, definition } = await chain();
    b.next(ends('TASK_STATE_FAILED', 'no'));
    const origin = await ran(definition, { in: 'x' });
    expect(origin.status).toBe('failed');
    const again = await rerun(origin.runId, { failed: true });
    expect([again.status, a.sends.length, b.sends.length]).toEqual(['completed', 1, 2]);
    const nothing = await stage.api.call('POST', `/runs/${again.runId}/rerun`, { failed: true });
    expect([nothing.status, nothing.text]).toEqual([422, expect.stringContaining('nothing of the run has failed')]);
  });

  it('of what failed goes on where the deadline of the run cut it off', async () => {
    const fake = await stage.fake();
    fake.always(holds());
    const definition = linear(unique('late'), input('in'), external('a', fake.url), output('out'));
    const origin = await ran(Object.assign(definition, { language: 2, deadline: '300ms' }), { in: 'x' });
    expect(origin).toMatchObject({ status: 'failed', error: { kind: 'deadline' } });
    expect(await rerun(origin.runId, { failed: true })).toMatchObject({ origin: origin.runId });
  });

  it('without a body calls everything; with other inputs what they change', async () => {
    const { a, b, definition } = await chain();
    const origin = await ran(definition, { in: 'x' });
    await rerun(origin.runId, {});
    expect([a.sends.length, b.sends.length]).toEqual([2, 2]);
    await rerun(origin.runId, { failed: false });
    expect([a.sends.length, b.sends.length]).toEqual([3, 3]);
    expect(texts(await rerun(origin.runId, { inputs: { in: 'y' } }))).toEqual(['b(a(y) #4) #4']);
    expect(texts(await rerun(origin.runId, { inputs: { in: 'x' } }))).toEqual(texts(origin));
    expect([a.sends.length, b.sends.length]).toEqual([4, 4]);
  });

  it('with a newer revision calls what has changed', async () => {
    const { a, b, definition } = await chain();
    const origin = await ran(definition, { in: 'x' });
    const changed = { ...definition, nodes: definition.nodes.map((node) => ({ ...node, config: { ...node.config } })) };
    changed.nodes[2]!.config = { ...changed.nodes[2]!.config, prompt: 'c({{a}})' };
    const saved = await stage.api.call<{ revision: string }>('PUT', `/workflows/${definition.name}`, changed);
    const again = await rerun(origin.runId, { revision: saved.body.revision });
    expect([a.sends.length, b.sends.length]).toEqual([1, 2]);
    expect(texts(again)).toEqual(['c(a(x) #1) #2']);
  });

  it('of a list calls the entries that failed, and of a loop the iterations that follow', async () => {
    const fake = await stage.fake();
    fake.always(({ text }) =>
      text === '2' && fake.sends.length <= 4 ? ends('TASK_STATE_FAILED', 'no') : answers(`${text}!`),
    );
    const list: Workflow = linear(
      unique('list'),
      input('in'),
      external('m', fake.url, { prompt: '${string(item)}' }),
      output('out'),
    );
    Object.assign(list, { language: 2 });
    Object.assign(list.nodes[1]!, { each: { items: '[1, 2, 3, 4]', concurrency: 1, onFailure: 'collect' } });
    const origin = await ran(list, { in: 'x' });
    expect(origin.nodes['m']?.artifacts[0]?.parts[0]?.data).toEqual(['1!', null, '3!', '4!']);
    const again = await rerun(origin.runId, { failed: true });
    expect(fake.texts).toEqual(['1', '2', '3', '4', '2']);
    expect(again.nodes['m']?.artifacts[0]?.parts[0]?.data).toEqual(['1!', '2!', '3!', '4!']);
    const page = await stage.api.call<Instances>('GET', `/runs/${again.runId}/instances?node=m&status=completed`);
    expect(page.body.instances.map(({ instance, origin: from }) => [instance, from === origin.runId])).toEqual([
      ['m', false],
      ['m[0]', true],
      ['m[1]', false],
      ['m[2]', true],
      ['m[3]', true],
    ]);
    expect(again.nodes['m']).toMatchObject({ counts: { total: 4, completed: 4 } });

    const drafts = await counting();
    const loop: Workflow = linear(
      unique('loop'),
      input('in'),
      external('draft', drafts.url, { prompt: 'd${iteration}' }),
      output('out'),
    );
    Object.assign(loop, { language: 2 });
    loop.edges.push({ from: 'draft', to: 'draft', loop: { max_iterations: 3 } } as never);
    const thrice = await ran(loop, { in: 'x' });
    expect(drafts.texts).toEqual(['d1', 'd2', 'd3']);
    await rerun(thrice.runId, { from: ['draft@3'] });
    expect(drafts.texts.slice(3)).toEqual(['d3']);
    await rerun(thrice.runId, { from: ['draft'] });
    expect(drafts.texts.slice(4)).toEqual(['d1', 'd2', 'd3']);
  });

  it('takes over the data of a fallback as what it was', async () => {
    const [a, b] = [await counting(), await counting()];
    a.next(ends('TASK_STATE_FAILED', 'no'));
    const definition = linear(unique('fallback'), input('in'), external('a', a.url), external('b', b.url));
    Object.assign(definition, { language: 2 });
    Object.assign(definition.nodes[1]!, { fallback: { parts: [{ data: { made: 'up' } }] } });
    const origin = await ran(definition, { in: 'x' });
    const again = await rerun(origin.runId, { from: ['b'] });
    expect(again.nodes['a']).toMatchObject({ status: 'completed', attempts: 0 });
    await rerun(again.runId, { from: ['b'] });
    expect(b.texts).toEqual(Array(3).fill(JSON.stringify({ made: 'up' })));
  });

  it('is refused for what there is not, and nothing is written', async () => {
    const { a, definition } = await chain();
    const origin = await ran(definition, { in: 'x' });
    const refusals: [JsonObject, string][] = [
      [{ from: ['nope'] }, 'from[0]'],
      [{ from: ['b', 'a@2'] }, 'from[1]'],
      [{ from: ['a b'] }, 'from[0]'],
      [{ revision: '999999' }, 'revision'],
      [{ inputs: { nope: 1 } }, 'inputs.nope'],
      [{ from: 'a' }, 'from'],
      [{ from: [1] }, 'from'],
      [{ inputs: [] }, 'inputs'],
      [{ revision: 1 }, 'revision'],
    ];
    for (const [body, path] of refusals) {
      const reply = await stage.api.call<{ errors?: { path: string }[] }>('POST', `/runs/${origin.runId}/rerun`, body);
      expect([body, reply.status, reply.body.errors?.map((it) => it.path)]).toEqual([
        body,
        422,
        expect.arrayContaining([path]),
      ]);
    }
    for (const body of [{ failed: 'yes' }, { failed: 'yes', from: 'a' }, []]) {
      const reply = await stage.api.call('POST', `/runs/${origin.runId}/rerun`, body);
      expect([body, reply.status]).toEqual([body, 400]);
    }
    const forks = await stage.api.call('GET', `/runs/${origin.runId}/forks`);
    expect(forks.body).toEqual({ forks: [] });
    expect(a.sends).toHaveLength(1);
    const unknown = await stage.api.call('POST', '/runs/nope/rerun', {});
    expect(unknown.status).toBe(404);
  });

  it('is refused from a node that the newer revision lacks, and says so', async () => {
    const { definition } = await chain();
    const origin = await ran(definition, { in: 'x' });
    const without = linear(definition.name, input('in'), output('out'));
    const saved = await stage.api.call<{ revision: string }>('PUT', `/workflows/${definition.name}`, without);
    const { revision } = saved.body;
    const refusal = async (from: string): Promise<string | undefined> => {
      const body = { from: [from], revision };
      const reply = await stage.api.call<{ detail?: string }>('POST', `/runs/${origin.runId}/rerun`, body);
      return reply.body.detail;
    };
    expect(await refusal('b')).toBe(`from[0]: revision "${revision}" of the workflow has no node "b"`);
    expect(await refusal('c')).toBe('from[0]: the run has no instance "c"');
  });

  it('sends an edited prompt to an agent, records it, and names what cannot be edited', async () => {
    const nodes = [input('in'), echo('a', { prompt: 'a {{in}}' }), echo('b', { prompt: 'b {{a}}' })];
    const origin = await ran(linear(unique('edit'), ...nodes, output('out')), { in: 'x' });
    expect(texts(origin)).toEqual(['b a x']);
    const edit = { node: 'b', prompt: 'as {{it}} is' };
    const again = await rerun(origin.runId, { edit });
    expect(again).toMatchObject({ origin: origin.runId, edit });
    expect(texts(again)).toEqual(['as {{it}} is']);
    expect(again.nodes['a']).toMatchObject({ attempts: 0, origin: origin.runId });
    const { body } = await stage.api.call<JsonObject>('GET', `/runs/${again.runId}/nodes/b`);
    expect(body['input']).toMatchObject([{ text: 'as {{it}} is' }]);
    const parley = new ParleyCommand({ PARLEY_URL: stage.parley.url });
    stage.defer(() => parley.end());
    const shown = await parley.run('rerun', origin.runId, '--edit', 'b', '--prompt', 'by hand', '--follow');
    expect(shown).toMatchObject({ code: 0, out: expect.stringMatching(/by hand\n$/) });
    const forks = await stage.api.call<{ forks: object[] }>('GET', `/runs/${origin.runId}/forks`);
    expect(forks.body.forks).toMatchObject([{ editedNode: 'b' }, { runId: again.runId, editedNode: 'b' }]);
    expect((await parley.run('rerun', origin.runId, '--edit', 'b')).err).toContain(
      '--edit and --prompt belong together',
    );
    const refusal = async (body: JsonObject): Promise<unknown[]> => {
      const reply = await stage.api.call<{ errors: { path: string }[] }>('POST', `/runs/${origin.runId}/rerun`, body);
      return [reply.status, reply.body.errors[0]?.path];
    };
    expect(await refusal({ edit: { node: 'out', prompt: 'x' } })).toEqual([422, 'edit.node']);
    expect(await refusal({ edit: { node: 'c', prompt: 'x' } })).toEqual([422, 'edit.node']);
    expect(await refusal({ edit: { node: 'b', prompt: '' } })).toEqual([422, 'edit.prompt']);
  });

  it('takes null for what is left out', async () => {
    const { a, definition } = await chain();
    const origin = await ran(definition, { in: 'x' });
    await rerun(origin.runId, { from: null, failed: null, inputs: null, revision: null });
    expect(a.sends).toHaveLength(2);
  });

  it('of a run that goes on is 409; under a key there is one', async () => {
    const { a, definition } = await chain();
    a.next({ hang: true });
    await stage.api.save(definition);
    const runId = await stage.api.start(definition.name, { in: 'x' });
    await a.sent();
    expect((await stage.api.call('POST', `/runs/${runId}/rerun`, {})).status).toBe(409);
    await stage.api.call('POST', `/runs/${runId}/cancel`);
    const headers = { 'idempotency-key': unique('key') };
    const [one, other] = await Promise.all([
      stage.api.call('POST', `/runs/${runId}/rerun`, {}, headers),
      stage.api.call('POST', `/runs/${runId}/rerun`, {}, headers),
    ]);
    expect(one).toMatchObject({ status: 202 });
    expect(other.body).toEqual(one.body);
    expect((await stage.api.call('POST', `/runs/${runId}/rerun`, { from: ['b'] }, headers)).status).toBe(409);
  });
});

import { answers, answersParts } from '../support/fake-behaviour.js';
import { useSharedStage } from '../support/shared-stage.js';
import { rewriteStored } from '../support/stored-definition.js';
import { echo, external, input, linear, textOf, unique, type Workflow } from '../support/workflow.js';

const stage = useSharedStage();
const cycle = 'cycle detected in workflow graph (excluding back-edges)';

function triangle(name: string): Workflow {
  return {
    name,
    nodes: [echo('a'), echo('b'), echo('c')],
    edges: [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
    ],
  };
}

describe('row C5: invalid graphs', () => {
  it.each<[string, string, (workflow: Workflow) => void]>([
    ['a duplicate id', 'duplicate node ID: a', (it) => it.nodes.push(echo('a'))],
    [
      'an unknown node in an edge',
      'edge references unknown node: ghost',
      (it) => it.edges.push({ from: 'a', to: 'ghost' }),
    ],
    ['a cycle', cycle, (it) => it.edges.push({ from: 'c', to: 'a' })],
    ['a node that follows itself', cycle, (it) => it.edges.push({ from: 'b', to: 'b' })],
  ])('C5 %s is refused at save with 422 and `%s`', async (_what, text, spoil) => {
    const workflow = triangle(unique('c5'));
    spoil(workflow);
    const before = await stage.database.counts();
    const reply = await stage.api.call('POST', '/workflows', workflow);
    expect(reply.status).toBe(422);
    expect(reply.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(reply.text).toContain(text);
    expect(await stage.database.counts()).toEqual(before);
    expect((await stage.api.call('GET', `/workflows/${workflow.name}`)).status).toBe(404);
  });

  it.each<[string, string, (workflow: Workflow) => void]>([
    ['a duplicate id', 'build DAG: duplicate node ID: a', (it) => it.nodes.push(echo('a'))],
    [
      'an unknown node',
      'build DAG: edge references unknown node: ghost',
      (it) => it.edges.push({ from: 'a', to: 'ghost' }),
    ],
    ['a cycle', `build DAG: ${cycle}`, (it) => it.edges.push({ from: 'c', to: 'a' })],
  ])('C5 a stored definition that got %s fails its run with `%s`', async (_what, text, spoil) => {
    const workflow = await stage.api.save(triangle(unique('c5')));
    await rewriteStored(stage.database, workflow.name, spoil);
    const run = await stage.api.ended(await stage.api.start(workflow.name));
    expect(run.status).toBe('failed');
    expect(run.error?.message).toBe(text);
  });
});

describe('row C10: the text that a node gets', () => {
  it('C10 (1) its prompt with templates resolved', async () => {
    const fake = await stage.fake();
    await stage.api.finish(
      linear(unique('c10'), input('in'), external('x', fake.url, { prompt: 'Say {{in}}, please' })),
      { in: 'cheese' },
    );
    expect(fake.texts).toEqual(['Say cheese, please']);
  });

  it('C10 (2) the first texts of its parents in order, a blank line between, empty ones left out', async () => {
    const [one, none, two, child] = await Promise.all([stage.fake(), stage.fake(), stage.fake(), stage.fake()]);
    one.always({ delay: 150, then: answers('one') });
    none.always(answers(''));
    two.always(answersParts({ data: { not: 'text' } }, { text: 'two' }));
    const parents = [external('p1', one.url), external('p2', none.url), external('p3', two.url)];
    const name = unique('c10');
    await stage.api.finish({
      name,
      nodes: [...parents, external('child', child.url)],
      edges: parents.map(({ id }) => ({ from: id, to: 'child' })),
    });
    expect(child.texts).toEqual(['one\n\ntwo']);
  });

  it('C10 (2) a parent without an Artifact counts with the user input of its id', async () => {
    const [silent, child] = await Promise.all([stage.fake(), stage.fake()]);
    silent.always({ steps: [{ status: 'TASK_STATE_COMPLETED' }] });
    await stage.api.finish(linear(unique('c10'), external('p', silent.url), external('child', child.url)), {
      p: 'from the user',
    });
    expect(child.texts).toEqual(['from the user']);
  });

  it('C10 (2) K1 a parent with an Artifact counts with that, though there is a user input of its id', async () => {
    const [parent, child] = await Promise.all([stage.fake(), stage.fake()]);
    parent.always(answers('from the agent'));
    await stage.api.finish(linear(unique('c10'), external('p', parent.url), external('child', child.url)), {
      p: 'from the user',
    });
    expect(child.texts).toEqual(['from the agent']);
  });

  it('C10 (3) the order to execute the node where there is neither', async () => {
    const [root, child] = await Promise.all([stage.fake(), stage.fake()]);
    root.always({ steps: [{ status: 'TASK_STATE_COMPLETED' }] });
    await stage.api.finish(linear(unique('c10'), external('root', root.url), external('child', child.url)));
    expect([root.texts, child.texts]).toEqual([['Execute node root'], ['Execute node child']]);
  });

  it('K2 an input node answers with its user input, and with an empty text where an optional one was not given', async () => {
    const fake = await stage.fake();
    const workflow = await stage.api.save(
      linear(unique('k2'), { ...input('in'), config: { optional: true } }, external('x', fake.url)),
    );
    const given = await stage.api.ended(await stage.api.start(workflow.name, { in: 'hello' }));
    const missing = await stage.api.ended(await stage.api.start(workflow.name));
    expect(textOf(given.artifacts.in)).toBe('hello');
    expect(fake.texts).toEqual(['hello', 'Execute node x']);
    expect(missing.status).toBe('completed');
  });
});

describe('rows C9, C11 and C12: the run as it is told', () => {
  it('C9 C11 C12 a completed run shows inputs, state, artifacts and every node', async () => {
    const fake = await stage.fake();
    fake.always(answers('translated'));
    const workflow = linear(unique('run'), input('in'), input('extra'), external('b', fake.url));
    const run = await stage.api.finish(workflow, { in: 'hello', extra: { deep: [1] } });
    expect(run).toMatchObject({
      workflow: workflow.name,
      status: 'completed',
      inputs: { in: 'hello', extra: { deep: [1] } },
      contextId: expect.any(String),
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      state: { __user_input__in: 'hello', b: 'translated' },
    });
    expect(run.error).toBeUndefined();
    expect(textOf(run.artifacts.__user_input__in)).toBe('hello');
    expect(JSON.parse(textOf(run.artifacts.__user_input__extra) ?? '')).toEqual({ deep: [1] });
    expect(run.nodes.b).toMatchObject({
      status: 'completed',
      attempts: 1,
      agentUrl: fake.url,
      taskId: fake.taskIds()[0],
      startedAt: expect.stringMatching(/Z$/),
      finishedAt: expect.stringMatching(/Z$/),
    });
    expect(run.nodes.in).toMatchObject({
      agentUrl: expect.stringContaining(`/a2a/workflows/${workflow.name}/nodes/in`),
      taskId: expect.any(String),
    });
  });

  it('C9 a failed run says so, with the error and what became of each node', async () => {
    const fake = await stage.fake();
    fake.always({ rpcError: { code: -32000, message: 'no luck' } });
    const run = await stage.api.finish(linear(unique('run'), external('x', fake.url), echo('y')));
    expect(run).toMatchObject({
      status: 'failed',
      error: { node: 'x', message: expect.stringMatching(/^node "x": .*a2a error -32000: no luck/) },
      nodes: { x: { status: 'failed', error: expect.anything() }, y: { status: 'skipped' } },
    });
  });

  it('C12 state of a node is set only where its first text is not empty', async () => {
    const fake = await stage.fake();
    fake.always(answersParts({ data: { only: 'data' } }));
    const run = await stage.api.finish(linear(unique('run'), external('x', fake.url)));
    expect(run.artifacts.x?.[0]?.parts[0]?.data).toEqual({ only: 'data' });
    expect(run.state).not.toHaveProperty('x');
  });
});

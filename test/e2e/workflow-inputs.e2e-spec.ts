import { rest, rpc, sendParams, sendTask } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { range } from '../support/sse.js';
import {
  echo,
  external,
  input,
  linear,
  output,
  textOf,
  unique,
  type Workflow,
  type WorkflowNode,
} from '../support/workflow.js';

const stage = useSharedStage();

const asking = (id: string, config: NonNullable<WorkflowNode['config']>): WorkflowNode => ({ ...input(id), config });

const AGE = { type: 'object', required: ['age'], properties: { age: { type: 'integer', minimum: 0 } } };

/** `name` is required, `tone` has a default, `note` may be left out, `who` has to fit a schema if it is given. */
async function greeting(): Promise<Workflow> {
  const nodes = [
    input('name'),
    asking('tone', { default: 'kind' }),
    asking('note', { optional: true }),
    asking('who', { optional: true, schema: AGE }),
    output('out', { prompt: '{{name}}/{{tone}}/{{note}}' }),
  ];
  const edges = ['name', 'tone', 'note', 'who'].map((from) => ({ from, to: 'out' }));
  return stage.api.save({ name: unique('greeting'), nodes, edges });
}

describe('the inputs of a run', () => {
  it('have defaults, and may be left out where they are optional', async () => {
    const { name } = await greeting();
    const run = await stage.api.ended(await stage.api.start(name, { name: 'Ada' }));
    expect(textOf(run.result)).toBe('Ada/kind/');
    expect(run.inputs).toEqual({ name: 'Ada', tone: 'kind' });
    const given = await stage.api.ended(await stage.api.start(name, { name: 'Ada', tone: 'rude', who: { age: 3 } }));
    expect(textOf(given.result)).toBe('Ada/rude/');
  });

  it.each([
    ['a required one is missing', {}, 'MISSING_INPUT', 'inputs.name'],
    ['one is unknown', { name: 'Ada', nmae: 'x' }, 'UNKNOWN_INPUT', 'inputs.nmae'],
    ['one does not fit its schema', { name: 'Ada', who: { age: -1 } }, 'INVALID_INPUT', 'inputs.who.age'],
  ])('are refused where %s, on every surface, and nothing is written', async (_what, inputs, reason, path) => {
    const { name } = await greeting();
    for (const call of ['runs', 'run']) {
      const reply = await stage.api.call('POST', `/workflows/${name}/${call}`, { inputs });
      expect([reply.status, reply.headers.get('content-type')]).toEqual([
        422,
        expect.stringContaining('application/problem+json'),
      ]);
      expect(reply.body).toMatchObject({ reason, errors: [{ path, code: reason }], requestId: expect.any(String) });
    }
    const params = sendParams([{ data: inputs }]);
    const { body } = await rpc(stage.api.base(name), 'SendMessage', params);
    expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining(path) });
    expect(JSON.stringify(body.error?.data)).toContain(reason);
    const told = await rest(stage.api.base(name), 'POST', '/message:send', { body: params });
    expect([told.status, told.body.error?.status]).toEqual([400, 'INVALID_ARGUMENT']);
    const listed = await stage.api.call('GET', `/runs?workflow=${name}`);
    expect(listed.body).toMatchObject({ runs: [] });
  });

  it('are not judged anew where the request was accepted under its key', async () => {
    const { name } = await stage.api.save(
      linear(unique('keyed'), input('name'), output('out', { prompt: '{{name}}' })),
    );
    const headers = { 'idempotency-key': unique('key') };
    const start = () => stage.api.call('POST', `/workflows/${name}/runs`, { inputs: { name: 'Ada' } }, headers);
    const message = sendParams([{ data: { name: 'Ada' } }]);
    const keyed = { 'idempotency-key': unique('key') };
    const send = () => rpc<{ task: { id: string } }>(stage.api.base(name), 'SendMessage', message, { headers: keyed });
    const [first, task] = [await start(), (await send()).body.result?.task.id];
    expect(first.status).toBe(202);
    const more = linear(name, input('name'), input('more'), output('out', { prompt: '{{name}}' }));
    expect((await stage.api.call('PUT', `/workflows/${name}`, more)).status).toBe(200);
    const again = await start();
    expect([again.status, again.body.runId]).toEqual([202, first.body.runId]);
    expect((await send()).body.result?.task.id).toBe(task);
    const other = await stage.api.call('POST', `/workflows/${name}/runs`, { inputs: { name: 'Eve' } }, headers);
    expect([other.status, other.body.reason]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
  });

  it('may be what a brainstorm tells its agents, of which a workflow takes what it knows', async () => {
    const state = echo('says', { prompt: '{{state}}' });
    const { name } = await stage.api.save(linear(unique('thinker'), state));
    const turn = { role: 'build', systemPrompt: '', llmConfig: {}, state: { idea: 'x' } };
    const task = await sendTask(stage.api.base(name), [{ data: turn }]);
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    const { body } = await rpc(stage.api.base(name), 'SendMessage', sendParams([{ data: { ...turn, more: 1 } }]));
    expect(body.error?.message).toContain('inputs.more');
  });

  it('a text is that of every input that no data names', async () => {
    const { name } = await stage.api.save(
      linear(unique('text'), input('a'), input('b'), output('o', { prompt: '{{a}}{{b}}' })),
    );
    const task = await sendTask(stage.api.base(name), [{ text: 'x' }, { data: { b: 'y' } }]);
    expect(textOf(task.artifacts)).toBe('xy');
  });

  it('the name of any node is known (row K1); a follow-up brings no inputs', async () => {
    const fake = await stage.fake();
    const workflow = linear(unique('known'), external('x', fake.url), output('o', { prompt: 'is {{x}}' }));
    const run = await stage.api.finish(workflow, { x: 'mine' });
    expect(textOf(run.result)).toBe('is mine');
  });

  it('without input nodes the text goes to the roots that have none of their own', async () => {
    const { name } = await stage.api.save({
      name: unique('roots'),
      nodes: [echo('a'), echo('b', { prompt: 'own' }), output('o', { prompt: '{{a}}|{{b}}' })],
      edges: ['a', 'b'].map((from) => ({ from, to: 'o' })),
    });
    expect(textOf((await sendTask(stage.api.base(name), 'said')).artifacts)).toBe('said|own');
  });

  it.each([
    ['no schema', { schema: 5 }, 'must be a JSON Schema object'],
    ['an unknown keyword', { schema: { tpye: 'string' } }, 'tpye'],
    ['a keyword that takes too long', { schema: { uniqueItems: true } }, 'uniqueItems'],
    ['a reference elsewhere', { schema: { $ref: 'http://127.0.0.1/x' } }, 'itself alone'],
    ['a circle', { schema: { $ref: '#/definitions/a', definitions: { a: { $ref: '#/definitions/a' } } } }, 'circle'],
    ['a pattern that RE2 does not know', { schema: { pattern: '(a)\\1' } }, 'no valid JSON Schema'],
    ['a default that it refuses', { schema: { type: 'number' }, default: 'x' }, 'default must be number'],
    ['an optional that is none', { optional: 'yes' }, 'optional must be a boolean'],
  ])('a definition with %s is refused', async (_what, config, text) => {
    const reply = await stage.api.call('POST', '/workflows', linear(unique('bad'), asking('in', config)));
    expect([reply.status, reply.text]).toEqual([422, expect.stringContaining(text)]);
  });

  it('a schema that doubles itself again and again is refused before it is compiled', async () => {
    const definitions = Object.fromEntries(
      range(0, 29).map((n) => [`d${n}`, { allOf: [1, 2].map(() => ({ $ref: `#/definitions/d${n + 1}` })) }]),
    );
    const schema = { $ref: '#/definitions/d0', definitions: { ...definitions, d30: {} } };
    const reply = await stage.api.call('POST', '/workflows', linear(unique('bad'), asking('in', { schema })));
    expect([reply.status, reply.text]).toEqual([422, expect.stringContaining('subschemas')]);
  });
});

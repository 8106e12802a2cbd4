import { rpc } from '../support/a2a.js';
import { useSharedStage } from '../support/shared-stage.js';
import { until } from '../support/until.js';
import { echo, external, input, linear, output, script, step, unique } from '../support/workflow.js';

const stage = useSharedStage();

describe('answers of the service', () => {
  it('a problem says what it is about, and names the request that the log names', async () => {
    const problem = await stage.api.call<{ requestId: string }>('GET', '/workflows/nope');
    expect(problem.body).toMatchObject({ status: 404, reason: 'NOT_FOUND', requestId: expect.any(String) });
    const other = await stage.api.call<{ requestId: string }>('GET', '/runs/nope');
    expect(other.body.requestId).not.toBe(problem.body.requestId);
    const { name } = await stage.api.save(linear(unique('once'), input('in'), echo('a')));
    const headers = { 'idempotency-key': unique('key') };
    await stage.api.start(name, { in: 'x' }, headers);
    const conflict = await stage.api.call('POST', `/workflows/${name}/runs`, { inputs: { in: 'y' } }, headers);
    expect([conflict.status, conflict.body]).toEqual([
      409,
      expect.objectContaining({ reason: 'IDEMPOTENCY_CONFLICT' }),
    ]);
  });

  it('a cursor that is none is the fault of its parameter, and not an old one', async () => {
    const reply = await stage.api.call('GET', '/events?since=abc');
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({ errors: [{ path: 'since' }] });
  });

  it('who takes JSON alone gets no page of the console', async () => {
    for (const path of ['/nope', '/nope/deeper', '/runs/x']) {
      const reply = await fetch(`${stage.parley.url}${path}`, { headers: { accept: 'application/json' } });
      expect([reply.status, reply.headers.get('content-type')]).toEqual([
        404,
        expect.stringContaining('application/problem+json'),
      ]);
      expect(await reply.json()).toMatchObject({ status: 404, reason: 'NOT_FOUND', instance: path });
    }
    const page = await fetch(`${stage.parley.url}/runs/x`, { headers: { accept: 'text/html' } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    for (const path of ['/', '/api/workflows', '/health/live'])
      expect((await fetch(`${stage.parley.url}${path}`)).headers.has('strict-transport-security')).toBe(false);
  });

  it('a run tells of references that stand for nothing, or for something else (rows D4 and D6)', async () => {
    const frames = await stage.api.trace(
      linear(unique('odd'), input('in'), output('out', { prompt: '{{in.foo}} {{nope}} {{nope}} {{in}}' })),
      { in: 'x' },
    );
    const told = frames.filter(({ event }) => event === 'template.warning');
    expect(told.map(({ data }) => [data.node_id, data.payload])).toEqual([
      ['out', { reference: '{{in.foo}}', message: expect.stringContaining('stands for {{in}}') }],
      ['out', { reference: '{{nope}}', message: expect.stringContaining('stays unchanged') }],
    ]);
    expect(frames.map(step)).toContain('a2a.sending:out');
    expect(frames.at(-1)?.data).toMatchObject({ status: 'completed', state: { out: 'x {{nope}} {{nope}} x' } });
  });

  it('a definition is checked for what its author may not mean', async () => {
    const definition = {
      name: unique('check'),
      nodes: [
        input('in'),
        echo('a', { promt: 'x', prompt: '{{b}} {{in.foo}} {{in}} {{a}}' }),
        echo('b'),
        echo('lonely', { prompt: 'x' }),
        echo('silent'),
        { id: 't', type: 'tool', config: { tool: 'calculator', args: { expression: '{{text}}' } } },
      ],
      edges: [
        { from: 'in', to: 'a' },
        { from: 'a', to: 'b' },
        { from: 'silent', to: 't' },
      ],
    };
    const reply = await stage.api.call<{ problems: { code: string }[] }>('POST', '/workflows/check', definition);
    expect(reply.status).toBe(200);
    expect(reply.body.problems).toEqual([
      expect.objectContaining({ code: 'UNKNOWN_CONFIG_KEY', path: 'nodes[1].config.promt', node: 'a' }),
      expect.objectContaining({ code: 'UNCONNECTED', path: 'nodes[3]', node: 'lonely' }),
      expect.objectContaining({ code: 'NO_MESSAGE', path: 'nodes[4]', node: 'silent' }),
      expect.objectContaining({ code: 'LATER_REFERENCE', path: 'nodes[1].config.prompt', node: 'a', offset: 0 }),
      expect.objectContaining({ code: 'UNKNOWN_SUFFIX', path: 'nodes[1].config.prompt', node: 'a', offset: 6 }),
      expect.objectContaining({ code: 'LATER_REFERENCE', path: 'nodes[1].config.prompt', node: 'a', offset: 24 }),
    ]);
    const wrong = await stage.api.call('POST', '/workflows/check', {
      ...definition,
      budget: {},
      edges: [{ from: 'in', to: 'nope' }],
    });
    expect(wrong.body).toMatchObject({
      problems: [
        { severity: 'error', code: 'UNKNOWN_NODE', path: 'edges[0].to', edge: 0 },
        { severity: 'error', code: 'EMPTY_BUDGET', path: 'budget' },
        { severity: 'warning', code: 'UNKNOWN_CONFIG_KEY', path: 'nodes[1].config.promt' },
      ],
    });
    expect((await stage.api.call('PUT', `/workflows/${definition.name}`, { ...definition, budget: {} })).status).toBe(
      422,
    );
    const saved = await stage.api.call('PUT', `/workflows/${definition.name}`, definition);
    expect([saved.status, saved.body]).toEqual([201, expect.objectContaining({ problems: reply.body.problems })]);
  });

  it('a run that fails leaves one warning that names it, its workflow, its node and the cause', async () => {
    const refusing = (await stage.fake()).always({ httpStatus: 400 });
    const failing = linear(unique('fails'), script('breaks', { fail: 'out of ink' }));
    const away = linear(unique('away'), external('far', refusing.url));
    for (const [workflow, node, cause] of [
      [failing, 'breaks', 'out of ink'],
      [away, 'far', 'HTTP 400'],
    ] as const) {
      const run = await stage.api.finish(workflow, {});
      const lines = await until(async () => {
        const said = (await stage.written()).split('\n');
        const found = said.filter((it) => it.includes(run.runId) && it.includes('A run failed'));
        return found.length > 0 && found;
      });
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({
        level: 'warn',
        runId: run.runId,
        workflow: workflow.name,
        node,
        cause: expect.stringContaining(cause),
      });
    }
    expect((await rpc(stage.api.base(failing.name), 'ListTasks', {})).status).toBe(200);
  });
});

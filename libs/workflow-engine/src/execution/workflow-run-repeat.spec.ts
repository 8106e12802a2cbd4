import { dataPart, type JsonObject, textPart } from '#libs/protocol';
import type { EachConfig, LoopConfig, WorkflowDefinition, WorkflowEdge } from '#libs/workflow-definition';
import { useFakeTime } from '../../../../test/support/fake-time.js';
import { answer, answering, fail, hang, says } from '../testing/answering-agents.js';
import { everyCrash } from '../testing/crashes.js';
import { DrivenRun, workflowOf } from '../testing/driven-run.js';
import { extended } from '../testing/extended-workflow.js';
import { FakeAgents, type FakeCall } from '../testing/fake-agents.js';
import { FakeClock } from '../testing/fake-clock.js';

FakeClock.advance = useFakeTime();

/** Returns the definition with additional back-edges. `loops` has the loop settings of each back-edge by `from>to`. */
function looping(definition: WorkflowDefinition, loops: Record<string, LoopConfig>): WorkflowDefinition {
  const back = Object.entries(loops).map(([ends, loop]): WorkflowEdge => {
    const [from = '', to = ''] = ends.split('>');
    return { from, to, loop };
  });
  return { ...definition, edges: [...definition.edges, ...back] };
}

/** Workflow in which a loop repeats `draft` and `review`. */
const CRITIC = workflowOf('in draft review out', 'in>draft draft>review review>out', { language: 2 });

/** Returns the name of the instance for which the call was made. */
const instanceOf = ({ attempt }: FakeCall): string => attempt.split('#')[0] ?? '';
/** Returns the number of the iteration in which the call was made. */
const iterationOf = (call: FakeCall): number => Number(instanceOf(call).split('@').at(-1));

/**
 * Returns a behavior that rejects drafts before iteration `nth`, and approves the drafts of that and later iterations.
 */
const approvesOf = (nth: number) => (call: FakeCall) => call.complete(dataPart({ ok: iterationOf(call) >= nth }));
const draft = (call: FakeCall): void => call.complete(`draft ${iterationOf(call)}`);

async function untilOver(run: DrivenRun): Promise<void> {
  while (!run.steps.includes('done')) await Promise.race([run.clock.pass(), run.until('done')]);
}

describe('a loop', () => {
  const exit_when = 'nodes.review.data.ok';

  test('ends when its condition holds, and its instances are named', async () => {
    const definition = looping(CRITIC, { 'review>draft': { max_iterations: 5, exit_when } });
    const run = await everyCrash(definition, () => answering({ draft, review: approvesOf(3) }));
    const rounds = [1, 2, 3].flatMap((nth) => [`draft@${nth}#1`, `review@${nth}#1`]);
    expect(run.sent).toEqual(['in#1', ...rounds, 'out#1']);
    expect(run.payloads('loop.next')).toEqual([
      { edge: 3, iteration: 2 },
      { edge: 3, iteration: 3 },
    ]);
    expect(run.payloads('loop.ended')).toEqual([{ edge: 3, reason: 'exit_when', iterations: 3 }]);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
    expect(run.state.getNode('draft')).toMatchObject({
      instance: 'draft@3',
      artifacts: [{ parts: [{ text: 'draft 3' }] }],
    });
  });

  test('ends at its maximum, and says so', async () => {
    const config = { prompt: '${nodes.draft.loop.reason} after ${nodes.draft.loop.iterations}: {{draft}}' };
    const definition = extended(looping(CRITIC, { 'review>draft': { max_iterations: 2, exit_when } }), {
      out: { config },
    });
    const run = await everyCrash(definition, () => answering({ draft, review: approvesOf(9) }));
    expect(run.payloads('loop.ended')).toEqual([{ edge: 3, reason: 'max', iterations: 2 }]);
    expect(run.agents.calls.at(-1)?.text).toBe('max after 2: draft 2');
  });

  test('that must not reach its maximum fails there', async () => {
    const definition = looping(CRITIC, { 'review>draft': { max_iterations: 2, exit_when, on_max: 'fail' } });
    const run = await everyCrash(definition, () => answering({ draft, review: approvesOf(9) }));
    expect(run.state.error).toMatchObject({ kind: 'max-iterations', node: 'review' });
    expect(run.sent).not.toContain('out#1');
    expect(run.task.status.state).toBe('TASK_STATE_FAILED');
  });

  test('whose failure at its maximum is handled goes on', async () => {
    const base = looping(CRITIC, { 'review>draft': { max_iterations: 2, exit_when, on_max: 'fail' } });
    const definition = {
      ...base,
      nodes: [...base.nodes, { id: 'catcher', type: 'agent', config: {} }],
      edges: [
        ...base.edges,
        { from: 'review', to: 'catcher', on: 'failure' as const, when: "error.kind == 'max-iterations'" },
      ],
    };
    const run = await everyCrash(definition, () => answering({ draft, review: approvesOf(9) }));
    expect(run.sent.slice(-1)).toEqual(['catcher#1']);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('whose condition cannot be decided fails', async () => {
    const loop = { max_iterations: 3, exit_when: 'nodes.review.data.gone' };
    const run = await everyCrash(looping(CRITIC, { 'review>draft': loop }), () => answering({ review: approvesOf(9) }));
    expect(run.state.error).toMatchObject({
      kind: 'expression',
      node: 'review',
      message: expect.stringContaining('edges[3].loop.exit_when, at 18'),
    });
  });

  test('begins with what its last node has said before, and the first time with its initial text', async () => {
    const loop = { max_iterations: 2, initial: 'nothing yet' };
    const run = await everyCrash(looping(CRITIC, { 'review>draft': loop }), () => answering());
    const texts = run.agents.calls.filter(({ node }) => node === 'draft').map(({ text }) => text);
    expect(texts).toEqual(['in done\n\nnothing yet', 'in done\n\nreview done']);
  });

  test('sees the results of its own iteration, else of the one before', async () => {
    const config = { prompt: '${iteration}: ${iteration > 1 ? nodes.review.text : "none"}' };
    const review = { prompt: 'of {{draft}}' };
    const definition = extended(looping(CRITIC, { 'review>draft': { max_iterations: 2 } }), {
      draft: { config },
      review: { config: review },
    });
    const agents = () => answering({ draft, review: (call) => call.complete(`review ${iterationOf(call)}`) });
    const run = await everyCrash(definition, agents);
    const texts = run.agents.calls.slice(1, -1).map(({ text }) => text);
    expect(texts).toEqual(['1: none', 'of draft 1', '2: review 1', 'of draft 2']);
  });

  test('waits between two iterations', async () => {
    const definition = looping(CRITIC, { 'review>draft': { max_iterations: 2, delay: '10s' } });
    const run = await everyCrash(definition, () => answering(), untilOver);
    expect(run.payloads('loop.next')).toEqual([{ edge: 3, iteration: 2, at: expect.any(String) }]);
  });

  test('in a loop begins anew each time: 2 times 2', async () => {
    const flat = workflowOf('in a b c out', 'in>a a>b b>c c>out', { language: 2 });
    const definition = looping(flat, { 'b>b': { max_iterations: 2 }, 'c>a': { max_iterations: 2 } });
    const run = await everyCrash(definition, () => answering());
    const rounds = [1, 2].flatMap((nth) => [`a@${nth}#1`, `b@${nth}@1#1`, `b@${nth}@2#1`, `c@${nth}#1`]);
    expect(run.sent).toEqual(['in#1', ...rounds, 'out#1']);
    expect(run.payloads('loop.ended')).toEqual([
      { edge: 4, path: [1], reason: 'max', iterations: 2 },
      { edge: 4, path: [2], reason: 'max', iterations: 2 },
      { edge: 5, reason: 'max', iterations: 2 },
    ]);
  });

  test('and one around it may end at the same node', async () => {
    const flat = workflowOf('a b out', 'a>b b>out');
    const definition = looping(flat, { 'b>b': { max_iterations: 2 }, 'b>a': { max_iterations: 2 } });
    const run = await everyCrash(definition, () => answering());
    const rounds = [1, 2].flatMap((nth) => [`a@${nth}#1`, `b@${nth}@1#1`, `b@${nth}@2#1`]);
    expect(run.sent).toEqual([...rounds, 'out#1']);
  });

  test('in which a node fails is over', async () => {
    const definition = looping(CRITIC, { 'review>draft': { max_iterations: 3 } });
    const review = (call: FakeCall) => (iterationOf(call) === 2 ? fail : answer)(call);
    const run = await everyCrash(definition, () => answering({ review }));
    expect(run.sent).toEqual(['in#1', 'draft@1#1', 'review@1#1', 'draft@2#1', 'review@2#1']);
    expect(run.state.error).toMatchObject({ kind: 'failed', node: 'review', instance: 'review@2' });
  });

  test('in which a failure is handled by an edge out of it is left there', async () => {
    const base = looping(CRITIC, { 'review>draft': { max_iterations: 3 } });
    const edges = [...base.edges, { from: 'draft', to: 'catcher', on: 'failure' as const }];
    const nodes = [...base.nodes, { id: 'catcher', type: 'agent', config: {} }];
    const run = await everyCrash({ ...base, nodes, edges }, () => answering({ draft: fail }));
    expect(run.sent).toEqual(['in#1', 'draft@1#1', 'catcher#1']);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('decides the edges out of it at its end', async () => {
    const base = looping(CRITIC, { 'review>draft': { max_iterations: 3, exit_when } });
    const definition = extended(
      {
        ...base,
        nodes: [...base.nodes, { id: 'other', type: 'agent', config: {} }],
        edges: [...base.edges, { from: 'draft', to: 'other' }],
      },
      {},
      {
        'review>out': { when: 'nodes.review.data.ok' },
        'draft>other': { when: "nodes.draft.text == 'draft 1'" },
      },
    );
    const run = await everyCrash(definition, () => answering({ draft, review: approvesOf(2) }));
    expect(run.sent.slice(-1)).toEqual(['out#1']);
    expect(run.payloads('loop.ended')).toEqual([{ edge: 3, reason: 'exit_when', iterations: 2, taken: [2] }]);
  });
});

describe('a node that nothing is said to', () => {
  const silent = (): FakeAgents => new FakeAgents((call) => call.complete(''));

  test('is told to execute by its plain id, in each iteration', async () => {
    const run = new DrivenRun(looping(CRITIC, { 'review>draft': { max_iterations: 2 } }), silent());
    expect(await run.start([textPart(' ')])).toBe('TASK_STATE_COMPLETED');
    const orders = ['draft', 'review', 'draft', 'review'].map((id) => `Execute node ${id}`);
    expect(run.agents.calls.map(({ text }) => text).slice(1, 5)).toEqual(orders);
  });

  test('is told to execute by its plain id, for each entry of a list', async () => {
    const fields = { each: { items: '[1, 2]' }, config: { prompt: '{{in}}' } };
    const run = new DrivenRun(extended(workflowOf('in m', 'in>m', { language: 2 }), { m: fields }), silent());
    expect(await run.start([textPart(' ')])).toBe('TASK_STATE_COMPLETED');
    const orders = ['m', 'm'].map((id) => `Execute node ${id}`);
    expect(run.agents.calls.map(({ text }) => text).slice(1)).toEqual(orders);
  });
});

describe('a node for each entry of a list', () => {
  const each = (config: Partial<EachConfig> = {}, fields: Partial<WorkflowDefinition> = {}): WorkflowDefinition =>
    extended(workflowOf('list m out', 'list>m m>out', { language: 2, ...fields }), {
      m: { each: { items: 'nodes.list.data', ...config }, config: { prompt: '${index}: ${item}' } },
    });
  /** Returns a behavior that fails for the entries of these indexes. */
  const failsAt =
    (...places: number[]) =>
    (call: FakeCall) =>
      places.some((place) => instanceOf(call) === `m[${place}]`) ? fail(call) : call.complete(`<${call.text ?? ''}>`);

  const list = (n: number) => (call: FakeCall) =>
    call.complete(dataPart(Array.from({ length: n }, (_, index) => `item ${index}`)));

  test('has their results in their order', async () => {
    const run = await everyCrash(each(), () => answering({ list: list(3), m: failsAt() }));
    expect(run.sent).toEqual(['list#1', 'm[0]#1', 'm[1]#1', 'm[2]#1', 'out#1']);
    const results = ['<0: item 0>', '<1: item 1>', '<2: item 2>'];
    expect(run.state.getNode('m').artifacts[0]?.parts).toEqual([dataPart(results)]);
    expect(run.payloads('each.started')).toEqual([{ items: ['item 0', 'item 1', 'item 2'] }]);
    expect(run.agents.calls.at(-1)?.text).toBe(JSON.stringify(results));
  });

  test('has so many at work at once, and keeps the order whatever order they end in', async () => {
    const agents = answering({ list: list(20), m: hang });
    const run = new DrivenRun(each({ concurrency: 4 }), agents);
    const whole = run.start();
    let most = 0;
    const open = new Set<FakeCall>();
    for (let ended = 0; ended < 20; ended += 1) {
      await agents.called('m', Math.min(20, ended + 4));
      for (const call of agents.calls.slice(1 + open.size + ended)) if (call.node === 'm') open.add(call);
      most = Math.max(most, open.size);
      const last = [...open].at(-1);
      if (last === undefined) throw new Error('nothing is at work');
      open.delete(last);
      last.complete(last.text ?? '');
    }
    await whole;
    expect(most).toBe(4);
    const results = Array.from({ length: 20 }, (_, index) => `${index}: item ${index}`);
    expect(run.state.getNode('m').artifacts[0]?.parts).toEqual([dataPart(results)]);
  });

  test('completes at once where there are none', async () => {
    const run = await everyCrash(each(), () => answering({ list: list(0) }));
    expect(run.state.getNode('m').artifacts[0]?.parts).toEqual([dataPart([])]);
    expect(run.sent).toEqual(['list#1', 'out#1']);
  });

  test('fails with the first of them, and the rest is canceled', async () => {
    const behaviour = (call: FakeCall) => (instanceOf(call) === 'm[1]' ? fail : hang)(call);
    const run = new DrivenRun(each({ concurrency: 3 }), answering({ list: list(9), m: behaviour }));
    await run.start();
    expect(run.sent).toEqual(['list#1', 'm[0]#1', 'm[1]#1', 'm[2]#1']);
    expect(run.agents.cancels).toHaveLength(2);
    expect(run.state.error).toMatchObject({
      kind: 'failed',
      node: 'm',
      instance: 'm[1]',
      message: 'node "m[1]": boom',
    });
    expect(run.payloads('node.error', 'm')).toMatchObject([
      { failure: { kind: 'failed', node: 'm', instance: 'm[1]' } },
    ]);
  });

  test('may collect what there is: null where one has failed', async () => {
    const run = await everyCrash(each({ onFailure: 'collect' }), () => answering({ list: list(3), m: failsAt(1) }));
    expect(run.state.getNode('m').artifacts[0]?.parts).toEqual([dataPart(['<0: item 0>', null, '<2: item 2>'])]);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test.each([
    ['60%', true],
    ['80%', false],
    [2, true],
    [3, false],
  ])('collects where enough of them succeed: %s', async (minSuccess, isEnough) => {
    const definition = each({ onFailure: 'collect', minSuccess });
    const run = await everyCrash(definition, () => answering({ list: list(3), m: failsAt(1) }));
    expect(run.task.status.state).toBe(isEnough ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_FAILED');
    if (!isEnough) expect(run.state.error).toMatchObject({ kind: 'failed', node: 'm', instance: 'm[1]' });
  });

  test.each<[string, Partial<EachConfig>, JsonObject | JsonObject[], string]>([
    ['no list', {}, { a: 1 }, 'each.items must give a list'],
    ['too long a list', { maxItems: 2 }, [{}, {}, {}], 'each.items gives 3 items; 2 is the most'],
  ])('fails for %s, whatever its entries would do about a failure', async (_, config, data, message) => {
    const definition = extended(each(config), {
      m: { retry: { attempts: 2, on: ['expression'] }, fallback: { parts: [{ data: [] }] } },
    });
    const run = await everyCrash(definition, () => answering({ list: says(data) }));
    expect(run.state.error).toMatchObject({ kind: 'expression', node: 'm', message: `node "m": ${message}` });
    expect(run.sent).toEqual(['list#1']);
  });

  test('tries each of them again by itself, and each may have a fallback', async () => {
    const definition = extended(each(), {
      m: {
        retry: { attempts: 2, on: ['failed'], delay: '1ms' },
        fallback: { parts: [{ text: 'no ${item}' }] },
      },
    });
    const run = await everyCrash(definition, () => answering({ list: list(2), m: failsAt(1) }), untilOver);
    expect(run.sent).toEqual(['list#1', 'm[0]#1', 'm[1]#1', 'm[1]#2', 'out#1']);
    expect(run.state.getNode('m').artifacts[0]?.parts).toEqual([dataPart(['<0: item 0>', 'no item 1'])]);
  });

  test('that fails may be handled', async () => {
    const definition = extended(each(), {}, { 'm>out': { on: 'failure', when: "error.instance == 'm[1]'" } });
    const run = await everyCrash(definition, () => answering({ list: list(2), m: failsAt(1) }));
    expect(run.sent.slice(-1)).toEqual(['out#1']);
    expect(run.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('is canceled with its run, and so is each of them', async () => {
    const run = new DrivenRun(each({ concurrency: 2 }), answering({ list: list(3), m: hang }));
    const whole = run.start();
    await run.agents.called('m', 2);
    run.cancel();
    expect(await whole).toBe('TASK_STATE_CANCELED');
    expect(run.agents.cancels).toHaveLength(2);
    expect(run.state.children?.map(({ instance }) => instance)).toEqual(['m[0]', 'm[1]']);
  });

  test('in a loop has the list of its iteration', async () => {
    const base = extended(workflowOf('m out', 'm>out', { language: 2 }), {
      m: { each: { items: '[iteration, iteration * 10]' }, config: { prompt: '${item}' } },
    });
    const definition = looping(base, { 'm>m': { max_iterations: 2 } });
    const run = await everyCrash(definition, () => new FakeAgents((call) => call.complete(call.text ?? '')));
    expect(run.sent).toEqual(['m@1[0]#1', 'm@1[1]#1', 'm@2[0]#1', 'm@2[1]#1', 'out#1']);
    expect(run.state.getNode('m').artifacts[0]?.parts).toEqual([dataPart(['2', '20'])]);
  });

  test('may be a set, which nobody is called for', async () => {
    const definition = extended(each(), { m: { type: 'set', config: { values: { x: '${item}' } } } });
    const run = await everyCrash(definition, () => answering({ list: list(2) }));
    expect(run.sent).toEqual(['list#1', 'out#1']);
    expect(run.state.getNode('m').artifacts[0]?.parts).toEqual([dataPart([{ x: 'item 0' }, { x: 'item 1' }])]);
  });
});

import { evaluateCondition, renderTemplate } from '#libs/expressions';
import type { JsonObject, JsonValue } from '#libs/protocol';
import type { WorkflowDefinition } from '#libs/workflow-definition';
import type { NodeInstance } from '../state/node-instance.js';
import { createRunVariables, type Moment, type Viewpoint } from './run-evaluation.js';
import { evaluateMember, FailedExpression, RunExpressions } from './run-expressions.js';

const DEFINITION: WorkflowDefinition = {
  name: 'w',
  language: 2,
  nodes: [
    { id: 'src', type: 'input', config: {} },
    { id: 'a', type: 'agent', config: { prompt: '${nodes.src.text}!', data: { n: '${inputs.src}' } } },
    { id: 'b', type: 'agent', config: {}, each: { items: 'nodes.a.data' }, retry: { attempts: 2, when: 'index > 0' } },
  ],
  edges: [
    { from: 'src', to: 'a' },
    { from: 'a', to: 'b', when: "nodes.a.status == 'completed'" },
    { from: 'b', to: 'a', loop: { max_iterations: 2, exit_when: 'iteration > 1' } },
  ],
};

function of(definition: WorkflowDefinition): RunExpressions {
  return RunExpressions.forDefinition(definition, () => true);
}

function node(id: string, fields: Partial<NodeInstance> = {}): NodeInstance {
  return { id, instance: id, path: [], type: 'agent', status: 'completed', attempts: 1, artifacts: [], ...fields };
}

function viewpoint(nodes: NodeInstance[], fields: Partial<Viewpoint> = {}): Viewpoint {
  return {
    run: { id: 'r', workflow: 'w', revision: '1', contextId: 'c', startedAt: new Date(0), conversation: null },
    inputs: {},
    ids: new Set(['src', 'a', 'b']),
    findInstance: (id) => nodes.find((it) => it.id === id),
    readLoopResult: () => null,
    ...fields,
  };
}

/** Evaluates an expression in the prompt of a node. A new definition is created for each call. */
function valueOf(expression: string, at: Viewpoint, moment?: Moment): unknown {
  const config = { prompt: `\${${expression}}` };
  const definition: WorkflowDefinition = {
    ...DEFINITION,
    nodes: [...DEFINITION.nodes, { id: 'c', type: 'agent', config, each: { items: '[]' } }],
    onExit: [{ node: 'c' }],
  };
  const all = of(definition);
  const template = all.findNodeTemplate('c', 'config.prompt');
  if (template === undefined) throw new Error(all.fault);
  return renderTemplate(template, { variables: createRunVariables(at, moment), resolve: () => undefined });
}

describe('an input node', () => {
  const given = (value: JsonValue, status: NodeInstance['status'] = 'completed'): unknown =>
    valueOf('nodes.src.data', viewpoint([node('src', { type: 'input', status })], { inputs: { src: value } }));

  it('has what it was given as data, where that is no text', () => {
    expect([given({ n: 1 }), given([1, 2]), given(7), given(false)]).toEqual([{ n: 1 }, [1, 2], 7, false]);
    expect([given('text'), given({ n: 1 }, 'pending')]).toEqual([null, null]);
  });
});

describe('RunExpressions', () => {
  it('has those of a definition, compiled once', () => {
    const all = of(DEFINITION);
    expect(all.fault).toBeUndefined();
    expect(all.findEdgeCondition(0)).toBeUndefined();
    expect(all.findEdgeCondition(1)?.text).toBe("nodes.a.status == 'completed'");
    expect(all.findExitCondition(2)?.text).toBe('iteration > 1');
    expect(all.findExitCondition(1)).toBeUndefined();
    expect(all.findNodeExpression('b', 'each.items')?.text).toBe('nodes.a.data');
    expect(all.findNodeExpression('b', 'retry.when')?.text).toBe('index > 0');
    expect(all.findNodeExpression('a', 'config.until')).toBeUndefined();
    expect(all.findNodeTemplate('a', 'config.data')?.references).toMatchObject([{ variable: 'inputs', path: 'n' }]);
    expect(all.findNodeTemplate('a', 'config.args')).toBeUndefined();
    expect(of(DEFINITION)).toBe(all);
  });

  it('has no templates before language 2', () => {
    expect(of({ ...DEFINITION, language: 1 }).findNodeTemplate('a', 'config.prompt')).toBeUndefined();
  });

  it.each<[Partial<WorkflowDefinition>, string]>([
    [{ edges: [{ from: 'a', to: 'b', when: 'nodes.gone.text' }] }, 'edges[0].when, at 6: nodes has no "gone"'],
    [
      { nodes: [{ id: 'a', type: 'set', config: { values: { x: ['${1 +}'] } } }], edges: [] },
      'nodes[0].config.values.x[0], at ',
    ],
  ])('says what is wrong with one that was saved when more was allowed: %j', (fields, fault) => {
    expect(of({ ...DEFINITION, ...fields }).fault).toContain(fault);
  });

  it('says of one that fails where it stands', () => {
    const when = of(DEFINITION).findExitCondition(2);
    if (when === undefined) throw new Error('no expression');
    const failed = () => evaluateMember('edges[2].loop.exit_when', () => evaluateCondition(when, {}));
    expect(failed).toThrow(FailedExpression);
    expect(failed).toThrow('edges[2].loop.exit_when, at 0: this has no value here');
  });

  it('lets faults of ours through as they are', () => {
    const fault = new TypeError('ours');
    const broken = viewpoint([], {
      findInstance: () => {
        throw fault;
      },
    });
    expect(() => valueOf("nodes.a.text == '' || true", broken)).toThrow(fault);
  });
});

describe('what expressions know of a run', () => {
  const artifact = { artifactId: 'x', parts: [{ text: 'yes' }, { data: { ok: true, parts: [1, 2] } }] };
  const failure = { kind: 'timeout', message: 'late', node: 'b', instance: 'b[3]' } as const;
  const nodes = [
    node('a', { artifacts: [artifact], attempts: 2 }),
    node('b', { status: 'failed', failure, error: 'late' }),
    node('src', { status: 'skipped', attempts: 0 }),
  ];
  const at = viewpoint(nodes, {
    inputs: { topic: { deep: ['x'] } } as JsonObject,
    readLoopResult: (id) => (id === 'a' ? { iterations: 3, reason: 'max' } : null),
    item: { name: 'n' },
    index: 4,
    iteration: 2,
    ids: new Set(['src', 'a', 'b', 'c', 'topic']),
  });

  it.each<[string, unknown]>([
    ['nodes.a.status', 'completed'],
    ['nodes.a.text', 'yes'],
    ['nodes.a.data', { ok: true, parts: [1, 2] }],
    ['nodes.a.data.parts[1] + 1', 3],
    ['nodes.a.artifacts', [artifact]],
    ['nodes.a.artifacts[0].parts[0].text', 'yes'],
    ['nodes.a.error', null],
    ['nodes.a.attempts', 2],
    ['nodes.a.loop.iterations', 3],
    ['nodes.b.loop', null],
    ['nodes.b.text', ''],
    ['nodes.b.error', { kind: 'timeout', message: 'late', node: 'b', instance: 'b[3]' }],
    ['nodes.src.status', 'skipped'],
    ['nodes.src.data', null],
    ['nodes.c.status', 'pending'],
    ['item.name + string(index) + string(iteration)', 'n42'],
    [
      "run.id + run.workflow + run.revision + run.contextId + string(run.startedAt + duration('1h'))",
      'rw1c1970-01-01T01:00:00Z',
    ],
    ['run.conversation == null', true],
    ["get(run.conversation, 'turn', 0)", 0],
    ["has(inputs.a) ? 'given' : 'not'", 'not'],
    ['error', null],
  ])('%s', (expression, expected) => {
    expect(valueOf(expression, at, { error: null })).toEqual(expected);
  });

  it('is the failure that is handled, with all members', () => {
    const error = { kind: 'failed', message: 'no', node: 'a' } as const;
    expect(valueOf('error', at, { error })).toEqual({ ...error, instance: 'a' });
    expect(valueOf("error.kind in ['failed', 'rejected'] && error.instance == 'a'", at, { error })).toBe(true);
  });

  it('is not made unless it is asked for, and once then', () => {
    const asked: string[] = [];
    const watched = viewpoint(nodes, { findInstance: (id) => (asked.push(id), nodes.find((it) => it.id === id)) });
    expect(valueOf('nodes.a.attempts == 2 || nodes.b.attempts == 2', watched)).toBe(true);
    expect(valueOf('nodes.a.text + nodes.a.text', watched)).toBe('yesyes');
    expect(asked).toEqual(['a', 'a']);
  });
});

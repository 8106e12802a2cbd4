import { type Artifact, dataPart, type JsonObject, type Part, textPart } from '#libs/protocol';
import { type WorkflowDefinition, WorkflowGraph, type WorkflowNode } from '#libs/workflow-definition';
import { RunState } from '../state/run-state.js';
import { messageParts as allPartsOf, nodeContent } from './node-message.js';
import { createRunVariables } from './run-evaluation.js';
import { FailedExpression, RunExpressions } from './run-expressions.js';

interface Given {
  inputs?: JsonObject;
  /** Parts of the only Artifact of each node, by node id. */
  artifacts?: Record<string, Part[]>;
  config?: JsonObject;
  type?: string;
}

const PARENTS: WorkflowDefinition = {
  name: 'wf',
  nodes: [
    { id: 'a', type: 'input', config: {} },
    { id: 'b', type: 'agent', config: {} },
    { id: 'child', type: 'agent', config: {} },
  ],
  edges: [
    { from: 'b', to: 'child' },
    { from: 'a', to: 'child' },
  ],
};

/** Returns the Parts of the Message to `child`, whose predecessors are `b` and `a`, in this order. */
function partsOf({ inputs = {}, artifacts = {}, config = {}, type = 'agent' }: Given): Part[] {
  const definition: WorkflowDefinition = {
    ...PARENTS,
    nodes: [...PARENTS.nodes.slice(0, 2), { id: 'child', type, config }],
  };
  const state = new RunState(definition);
  state.inputs = inputs;
  for (const [id, parts] of Object.entries(artifacts)) {
    const artifact: Artifact = { artifactId: id, parts };
    state.getNode(id).artifacts = [artifact];
  }
  return contentParts(
    definition.nodes[2] as WorkflowDefinition['nodes'][0],
    WorkflowGraph.buildValid(definition),
    state,
  );
}

const contentParts = (...given: Parameters<typeof nodeContent>): Part[] => allPartsOf(nodeContent(...given));

const textOf = (given: Given) => partsOf(given)[0]?.text;

describe('nodeContent', () => {
  test('is an edited text with the files, and without other texts and data', () => {
    const file: Part = { url: 'https://files.example/a.png', mediaType: 'image/png' };
    const state = new RunState(PARENTS);
    state.getNode('b').artifacts = [{ artifactId: 'b', parts: [textPart('text'), dataPart({ k: 1 }), file] }];
    const graph = WorkflowGraph.buildValid(PARENTS);
    const source = { inputs: {}, nodes: state.nodes, edited: 'say {{b}}' };
    expect(contentParts(graph.node('child'), graph, source)).toEqual([textPart('say {{b}}'), file]);
  });

  test('is the rendered prompt (C10, D5)', () => {
    const given = {
      config: { prompt: '{{b}} and {{b.data}}, {{nobody}}' },
      artifacts: { b: [dataPart({ k: 1 }), textPart('text')] },
    };
    expect(partsOf(given)).toEqual([textPart('text and {"k":1}, {{nobody}}')]);
  });

  test('the input overrides what its node answered, character by character (D7, K1)', () => {
    const given = {
      config: { prompt: 'Summarize: {{a}}' },
      inputs: { a: 'hello world' },
      artifacts: { a: [textPart('summary output')] },
    };
    expect(textOf(given)).toBe('Summarize: hello world');
    expect(textOf({ ...given, config: { prompt: '{{a.data}} {{__user_input__a}}' } })).toBe('{{a.data}} hello world');
  });

  test('an input that no node has is named all the same', () => {
    expect(textOf({ config: { prompt: '{{x}} {{__user_input__x}} {{y}}' }, inputs: { x: 'value' } })).toBe(
      'value value {{y}}',
    );
  });

  test('an input that is no string is named in its string form (C11)', () => {
    expect(textOf({ config: { prompt: '{{a}} {{b}}' }, inputs: { a: { k: [1] }, b: 7 } })).toBe('{"k":[1]} 7');
  });

  test('what came out of a node is never read as a template (D9)', () => {
    expect(textOf({ config: { prompt: '{{b}}' }, artifacts: { b: [textPart('{{a}}')] }, inputs: { a: 'leak' } })).toBe(
      '{{a}}',
    );
  });

  test("without a prompt is the parents' texts in edge order, without empty ones (C10)", () => {
    expect(textOf({ artifacts: { a: [textPart('A')], b: [textPart('B')] } })).toBe('B\n\nA');
    expect(textOf({ artifacts: { a: [textPart('A')], b: [textPart('')] } })).toBe('A');
    expect(textOf({ artifacts: { b: [dataPart({ no: 'text' })], a: [textPart('A')] }, config: { prompt: '' } })).toBe(
      'A',
    );
  });

  test("falls back to a parent's input, but its Artifact comes first (C10, K1)", () => {
    expect(textOf({ inputs: { a: 'input' }, artifacts: { b: [textPart('B')] } })).toBe('B\n\ninput');
    expect(textOf({ inputs: { a: 'input' }, artifacts: { a: [textPart('answer')] } })).toBe('answer');
  });

  test('without anything is the order to execute the node (C10)', () => {
    expect(textOf({})).toBe('Execute node child');
    expect(textOf({ config: { prompt: '{{a}} {{b}}' }, inputs: { a: '', b: '' } })).toBe('Execute node child');
    expect(textOf({ type: 'conversation', config: { target: 't' } })).toBe('Execute node child');
    expect(textOf({ type: 'plugin.own', artifacts: { a: [textPart(' ')] } })).toBe('Execute node child');
  });

  test.each(['input', 'output', 'set', 'wait', 'human', 'workflow', 'tool'])(
    'without anything stays empty for a node of the type %s',
    (type) => {
      expect(textOf({ type })).toBe('');
    },
  );

  test('stays without a text where it has data or a file', () => {
    expect(textOf({ config: { data: { n: 1 } } })).toBe('');
    const file = { url: 'https://files.example/1', mediaType: 'image/png' };
    expect(partsOf({ artifacts: { a: [file] } })).toEqual([file]);
  });

  test('for an input node is its input, else empty (K2)', () => {
    expect(textOf({ type: 'input', inputs: { child: 'mine' }, artifacts: { a: [textPart('A')] } })).toBe('mine');
    expect(textOf({ type: 'input', inputs: { child: '' } })).toBe('');
    expect(textOf({ type: 'input', artifacts: { a: [textPart('A')] } })).toBe('');
  });

  test('for a conversation is its message', () => {
    const given = { type: 'conversation', inputs: { a: 'A' } };
    expect(textOf({ ...given, config: { target: 't', message: 'Ask about {{a}}' } })).toBe('Ask about A');
    expect(textOf({ ...given, config: { target: 't' } })).toBe('A');
  });

  test('for a tool carries its arguments with every string rendered', () => {
    const args = { q: 'find {{b}}', deep: [{ n: 1, s: '{{a}}' }, null, true], '{{b}}': 'key' };
    expect(
      partsOf({ type: 'tool', config: { tool: 't', args }, inputs: { a: 'A' }, artifacts: { b: [textPart('B')] } }),
    ).toEqual([
      textPart('B\n\nA'),
      dataPart({ args: { q: 'find B', deep: [{ n: 1, s: 'A' }, null, true], '{{b}}': 'key' } }),
    ]);
    expect(partsOf({ type: 'tool' })[1]).toEqual(dataPart({ args: {} }));
  });

  test('carries data, with every string rendered', () => {
    const data = { n: 1, b: ['{{b}}'] };
    expect(partsOf({ config: { prompt: 'p', data }, artifacts: { b: [textPart('B')] } })).toEqual([
      textPart('p'),
      dataPart({ n: 1, b: ['B'] }),
    ]);
    expect(partsOf({ type: 'input', config: { data } })).toEqual([textPart('')]);
  });

  test('of a workflow is its inputs, or else its text', () => {
    const given = { type: 'workflow', inputs: { a: 'A' } };
    expect(partsOf({ ...given, config: { workflow: 'w', inputs: { x: '{{a}}' } } })).toEqual([dataPart({ x: 'A' })]);
    expect(partsOf({ ...given, config: { workflow: 'w' } })).toEqual([textPart('A')]);
  });

  test('without a prompt is the data of parents that say nothing else', () => {
    const definition = { ...PARENTS, nodes: PARENTS.nodes.map((it) => ({ ...it, type: 'set' })) };
    const state = new RunState(definition);
    state.getNode('b').artifacts = [{ artifactId: 'b', parts: [dataPart({ k: 1 })] }];
    const [, , child] = definition.nodes;
    if (child === undefined) throw new Error('no child');
    expect(contentParts(child, WorkflowGraph.buildValid(definition), state)).toEqual([textPart('{"k":1}')]);
  });

  test.each<[string, object, object]>([
    ['a tool', { type: 'tool', config: { tool: 'shop/prices' } }, {}],
    ['a type of a plugin', { type: 'quote' }, {}],
    ['a schema for its answer', { config: { output: { type: 'object' } } }, {}],
    ['a schema for its output', { type: 'external', output: { schema: { type: 'object' } } }, {}],
    ['a fallback that is data', { type: 'external', fallback: { parts: [dataPart({ k: 1 })] } }, { fallback: true }],
  ])('without a prompt is the data of a parent with %s', (_what, parent, run) => {
    const [first, second, child] = PARENTS.nodes as [WorkflowNode, WorkflowNode, WorkflowNode];
    const definition = { ...PARENTS, nodes: [first, { ...second, ...parent }, child] };
    const state = new RunState(definition);
    Object.assign(state.getNode('b'), { artifacts: [{ artifactId: 'b', parts: [dataPart({ k: 1 })] }], ...run });
    expect(contentParts(child, WorkflowGraph.buildValid(definition), state)).toEqual([textPart('{"k":1}')]);
  });
});

describe('nodeContent with expressions', () => {
  const config = {
    prompt: '{{b}}: ${nodes.b.data.list}, ${inputs.a}',
    args: { n: '${nodes.b.data.list.size() + 1}', mixed: '{{a}}-${nodes.b.attempts}' },
  };

  function partsWith(type: string, own: JsonObject, language: 1 | 2 = 2): Part[] {
    const definition: WorkflowDefinition = { ...PARENTS, language };
    const child = { id: 'child', type, config: own };
    definition.nodes = [...PARENTS.nodes.slice(0, 2), child];
    const state = new RunState(definition);
    state.inputs = { a: '${1}{{b}}' };
    state.getNode('b').artifacts = [{ artifactId: 'b', parts: [textPart('B ${2}'), dataPart({ list: [1, 'x'] })] }];
    const expressions = RunExpressions.forDefinition(definition, () => false);
    if (expressions.fault !== undefined) throw new Error(expressions.fault);
    const variables = createRunVariables({
      run: { id: 'r', workflow: 'wf', revision: '1', contextId: 'c', startedAt: new Date(0), conversation: null },
      inputs: state.inputs,
      ids: expressions.ids,
      findInstance: (id) => state.nodes.get(id),
      readLoopResult: () => null,
    });
    const { inputs, nodes } = state;
    return contentParts(child, WorkflowGraph.buildValid(definition), {
      inputs,
      nodes,
      language: { expressions, variables },
    });
  }

  test('fills them in, once, beside references', () => {
    expect(partsWith('tool', config)).toEqual([
      textPart('B ${2}: [1,"x"], ${1}{{b}}'),
      dataPart({ args: { n: 3, mixed: '${1}{{b}}-0' } }),
    ]);
    expect(partsWith('agent', { prompt: '${nodes.b.data}', data: '${nodes.b.data}' })).toEqual([
      textPart('{"list":[1,"x"]}'),
      dataPart({ list: [1, 'x'] }),
    ]);
  });

  test('leaves them as they are written without the language', () => {
    expect(partsWith('agent', { prompt: '{{a}} ${inputs.a}' }, 1)).toEqual([textPart('${1}{{b}} ${inputs.a}')]);
  });

  test('says which one failed, and where', () => {
    const failed = () => partsWith('tool', { args: { deep: ['', 'x ${nodes.b.data.gone.y}'] } });
    expect(failed).toThrow(FailedExpression);
    expect(failed).toThrow('config.args.deep[1], at 17: field not found: gone');
  });
});

describe('files of the Message that a run began with', () => {
  const files = [{ url: 'https://files.example/a', mediaType: 'text/plain', filename: 'a.txt' }];
  const graph = WorkflowGraph.buildValid(PARENTS);
  const nodes = new Map();

  it('go with an input node, after its text', () => {
    const input = PARENTS.nodes[0] as WorkflowNode;
    const parts = contentParts(input, graph, { inputs: { a: 'hello' }, nodes, content: files });
    expect(parts).toEqual([textPart('hello'), ...files]);
  });

  it('stand alone where an input node has no text', () => {
    expect(contentParts(PARENTS.nodes[0] as WorkflowNode, graph, { inputs: {}, nodes, content: files })).toEqual(files);
  });

  it('go to a node that nothing comes before, with the text', () => {
    const parts = contentParts(PARENTS.nodes[1] as WorkflowNode, graph, {
      inputs: {},
      nodes,
      text: 'hello',
      content: files,
    });
    expect(parts).toEqual([textPart('hello'), ...files]);
  });

  it('leave the texts of the caller as they are, for an agent elsewhere', () => {
    const said = [
      { text: 'a', metadata: { tone: 'kind' } },
      { text: 'b', mediaType: 'text/markdown' },
    ];
    const source = { inputs: {}, nodes, text: 'a\nb', said, content: files };
    const partsFor = (config: JsonObject) =>
      contentParts({ ...PARENTS.nodes[1], type: 'external', config } as WorkflowNode, graph, source);
    expect(partsFor({})).toEqual([{ ...said[0], mediaType: 'text/plain' }, said[1], ...files]);
    expect(partsFor({ prompt: 'a\nb' })).toEqual([textPart('a\nb'), ...files]);
  });

  it('go to such a node with its prompt as well', () => {
    const node = { ...PARENTS.nodes[1], config: { prompt: 'describe' } } as WorkflowNode;
    expect(contentParts(node, graph, { inputs: {}, nodes, content: files })).toEqual([textPart('describe'), ...files]);
  });

  it('reach the node after the input node by the Artifact of that', () => {
    const said = [textPart('hello'), ...files];
    expect(partsOf({ inputs: { a: 'hello' }, artifacts: { a: said }, type: 'external' })).toEqual(said);
  });
});

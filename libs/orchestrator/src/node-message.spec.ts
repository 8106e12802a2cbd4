import { type Artifact, dataPart, type JsonObject, type Part, textPart } from '#libs/protocol';
import { nodeParts } from './node-message.js';
import { RunState } from './run-state.js';
import type { WorkflowDefinition } from './workflow.js';
import { WorkflowGraph } from './workflow-graph.js';

interface Given {
  inputs?: JsonObject;
  /** The Parts of each node's one Artifact. */
  artifacts?: Record<string, Part[]>;
  config?: JsonObject;
  type?: string;
}

/** The Parts of the Message to `child`, whose parents are `b` and `a`, in this order. */
function partsOf({ inputs = {}, artifacts = {}, config = {}, type = 'agent' }: Given): Part[] {
  const definition: WorkflowDefinition = {
    name: 'wf',
    nodes: [
      { id: 'a', type: 'input', config: {} },
      { id: 'b', type: 'agent', config: {} },
      { id: 'child', type, config },
    ],
    edges: [
      { from: 'b', to: 'child' },
      { from: 'a', to: 'child' },
    ],
  };
  const state = new RunState(definition);
  state.inputs = inputs;
  for (const [id, parts] of Object.entries(artifacts)) {
    const artifact: Artifact = { artifactId: id, parts };
    state.node(id).artifacts = [artifact];
  }
  return nodeParts(definition.nodes[2] as WorkflowDefinition['nodes'][0], WorkflowGraph.build(definition), state);
}

const textOf = (given: Given) => partsOf(given)[0]?.text;

describe('nodeParts', () => {
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

  test('without anything is empty (C10)', () => {
    expect(textOf({})).toBe('');
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
});

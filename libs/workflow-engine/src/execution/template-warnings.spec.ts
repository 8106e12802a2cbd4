import { type Artifact, dataPart, type JsonObject, type Part, textPart } from '#libs/protocol';
import type { WorkflowNode } from '#libs/workflow-definition';
import { RunState } from '../state/run-state.js';
import { templateWarnings } from './node-dispatch.js';

interface Given {
  inputs?: JsonObject;
  /** Parts of the only Artifact of the node `a`. */
  parts?: Part[];
}

function warnedOf(prompt: string, { inputs = {}, parts }: Given): unknown[] {
  const node: WorkflowNode = { id: 'child', type: 'agent', config: { prompt } };
  const state = new RunState({ name: 'wf', nodes: [{ id: 'a', type: 'agent', config: {} }, node], edges: [] });
  state.inputs = inputs;
  const artifact: Artifact | undefined = parts && { artifactId: 'a', parts };
  if (artifact) state.getNode('a').artifacts = [artifact];
  return templateWarnings(node, state).map(({ payload }) => payload['message']);
}

const NOTHING = 'has no value here and stays unchanged';

describe('templateWarnings', () => {
  test('tells of what is not there', () => {
    expect(warnedOf('{{a}} {{a.data}} {{b}}', {})).toEqual(
      ['{{a}}', '{{a.data}}', '{{b}}'].map((it) => `${it} ${NOTHING}`),
    );
    expect(warnedOf('{{a}} {{a.data}}', { parts: [textPart('')] })).toEqual([`{{a.data}} ${NOTHING}`]);
    expect(warnedOf('{{a}} {{a.data}}', { parts: [dataPart(null)] })).toEqual([]);
    expect(warnedOf('{{a}} {{a.data}}', { parts: [{ url: 'http://127.0.0.1/x' }] })).toEqual([`{{a.data}} ${NOTHING}`]);
    expect(warnedOf('{{x}} {{__user_input__x}} {{x.data}}', { inputs: { x: '' } })).toEqual([`{{x.data}} ${NOTHING}`]);
  });

  test('an input stands before what its node answered', () => {
    expect(warnedOf('{{a.data}}', { inputs: { a: 'text' }, parts: [dataPart(1)] })).toEqual([`{{a.data}} ${NOTHING}`]);
  });

  test('tells of suffixes that nobody knows, each reference once', () => {
    const known = '{{a.x}} stands for {{a}}: only .data is known';
    expect(warnedOf('{{a.x}} {{a.x}}', { parts: [textPart('t')] })).toEqual([known]);
  });

  test('puts nothing together to say so', () => {
    let rendered = 0;
    const data = {
      toJSON: () => {
        rendered += 1;
        return {};
      },
    } as unknown as JsonObject;
    const prompt = Array.from({ length: 400 }, (_, index) => `{{a}}{{x.s${index}}}{{a.data}}`).join('');
    const part: Part = { ...dataPart(data) };
    Object.defineProperty(part, 'text', {
      get: () => {
        rendered += 1;
        return undefined;
      },
    });
    expect(warnedOf(prompt, { inputs: { x: data }, parts: [part] })).toHaveLength(10);
    expect(rendered).toBe(0);
  });
});

import type { GraphNode } from '../../graph/graph.js';
import { renameInEdge, renameInExpression, renameInNode, renameInTemplate } from './rename-references.js';

const NEW_IDS: Readonly<Record<string, string>> = { a: 'a2', 'b-c': 'b-c2', topic: 'topic2' };
const rename = (id: string): string => NEW_IDS[id] ?? id;

describe('renaming of references', () => {
  it.each([
    ['{{a}} and {{a.data}}', '{{a2}} and {{a2.data}}'],
    ['{{__user_input__topic}}', '{{__user_input__topic2}}'],
    ['{{other}} {{ a }} {{aa}} {a} a', '{{other}} {{ a }} {{aa}} {a} a'],
    ['{{{{a}}', '{{{{a2}}'],
    ['${nodes.a.text}', '${nodes.a.text}'],
  ])('follows references in a text of language 1: %s', (text, expected) => {
    expect(renameInTemplate(text, rename, 1)).toBe(expected);
  });

  it.each([
    ['{{a}}: ${nodes.a.text}', '{{a2}}: ${nodes.a2.text}'],
    ['nodes.a ${"nodes.a"} ${inputs.topic}', 'nodes.a ${"nodes.a"} ${inputs.topic2}'],
    ['${nodes.a.text', '${nodes.a2.text'],
  ])('follows references and expressions in a text of language 2: %s', (text, expected) => {
    expect(renameInTemplate(text, rename, 2)).toBe(expected);
  });

  it.each([
    ["nodes.a.data.decision == 'a'", "nodes.a2.data.decision == 'a'"],
    ["nodes['b-c'].text", 'nodes["b-c2"].text'],
    ['nodes["a"].text + nodes . a . text', 'nodes["a2"].text + nodes.a2 . text'],
    ['has(nodes.a.data) && run.nodes.a', 'has(nodes.a2.data) && run.nodes.a'],
    ["size(inputs['topic']) > 0", 'size(inputs["topic2"]) > 0'],
    ['item.a + a.nodes + nodes[a]', 'item.a + a.nodes + nodes[a]'],
    ['nodes.other.text // nodes.a', 'nodes.other.text // nodes.a'],
  ])('follows the members of nodes and inputs in an expression: %s', (text, expected) => {
    expect(renameInExpression(text, rename)).toBe(expected);
  });

  it('follows references in every member of a node that has texts or expressions', () => {
    const node: GraphNode = {
      id: 'a',
      type: 'tool',
      config: { tool: 'calculator', prompt: '{{topic}}', args: { x: ['{{topic}}', { y: 1 }] }, note: '{{topic}}' },
      each: { items: 'nodes.topic.data', concurrency: 2 },
      retry: { attempts: 2, when: 'nodes.topic.text != ""' },
      fallback: { parts: [{ text: 'no {{topic}}' }, { data: { of: '{{topic}}' } }] },
    };
    expect(renameInNode(node, rename, undefined)).toEqual({
      id: 'a2',
      type: 'tool',
      config: { tool: 'calculator', prompt: '{{topic2}}', args: { x: ['{{topic2}}', { y: 1 }] }, note: '{{topic}}' },
      each: { items: 'nodes.topic2.data', concurrency: 2 },
      retry: { attempts: 2, when: 'nodes.topic2.text != ""' },
      fallback: { parts: [{ text: 'no {{topic2}}' }, { data: { of: '{{topic2}}' } }] },
    });
  });

  it.each([
    ['conversation', { message: '{{a}}' }, { message: '{{a2}}' }],
    ['brainstorm', { idea: '{{a}}' }, { idea: '{{a2}}' }],
    ['set', { values: { v: '{{a}}' } }, { values: { v: '{{a2}}' } }],
    ['wait', { for: '{{a}}', until: 'nodes.a.data.t' }, { for: '{{a2}}', until: 'nodes.a2.data.t' }],
    ['input', { prompt: '{{a}}' }, { prompt: '{{a}}' }],
    [
      'workflow',
      { inputs: { v: '{{a}}' }, body: { nodes: [{ id: 'a', config: { prompt: '{{a}}' } }] } },
      { inputs: { v: '{{a2}}' }, body: { nodes: [{ id: 'a', config: { prompt: '{{a}}' } }] } },
    ],
  ])('follows the texts of the type %s', (type, config, expected) => {
    expect(renameInNode({ id: 'n', type, config }, rename, 1).config).toEqual(expected);
  });

  it('follows the ends, the condition and the loop of an edge', () => {
    const edge = {
      from: 'a',
      to: 'other',
      when: 'nodes.a.data.ok',
      loop: { max_iterations: 3, exit_when: 'nodes.a.data.done && nodes.other.data.done' },
    };
    expect(renameInEdge(edge, rename)).toEqual({
      from: 'a2',
      to: 'other',
      when: 'nodes.a2.data.ok',
      loop: { max_iterations: 3, exit_when: 'nodes.a2.data.done && nodes.other.data.done' },
    });
  });

  it('reads a long text without an end once', () => {
    const text = `\${${'"'.repeat(1_001)}nodes.a${'{{a'.repeat(50_000)}`;
    expect(renameInTemplate(text, (id) => id, 2)).toBe(text);
  });
});

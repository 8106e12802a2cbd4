import type { JsonObject } from '#libs/protocol';
import { agent, codesOf, edge, having, problemsOf } from './testing/checked-definitions.js';

describe('what an expression refers to', () => {
  it('has run before, or in the iteration before', () => {
    const prompt = (text: string) => codesOf(having('nodes.1', { config: { prompt: text } }));
    expect(prompt('a ${nodes.topic.text} ${nodes.gate.text} ${nodes.draft.text}')).toEqual([]);
    expect(prompt('a ${nodes.topic.text} ${nodes.out.text}')).toEqual([
      ['LATER_REFERENCE', 'nodes[1].config.prompt', 30],
    ]);
    expect(codesOf(having('nodes.2', { config: { prompt: '{{draft}}', x: '${nope}' } }))).toEqual([]);
  });

  it('is not looked for where the graph is none', () => {
    const edges = [
      edge('topic', 'draft'),
      edge('draft', 'topic'),
      edge('gate', 'out', { when: 'nodes.notify.data == iteration' }),
    ];
    expect(codesOf(having('', { edges }))).toEqual([['CYCLE', 'edges']]);
  });

  it('in a text is only warned of, and an iteration before counts there as well', () => {
    expect(codesOf(having('nodes.1', { config: { prompt: '{{gate}}' } }), 'warning')).toEqual([]);
    expect(codesOf(having('nodes.1', { config: { prompt: '{{out}}' } }), 'warning')).toEqual([
      ['LATER_REFERENCE', 'nodes[1].config.prompt', 0],
    ]);
    expect(codesOf(having('nodes.4', { config: { prompt: '{{out}}' } }), 'warning')).toEqual([]);
  });

  it('in a text is left as text without language 2', () => {
    expect(problemsOf(having('', { language: 1, nodes: [agent('a', { config: { prompt: '${nope +' } })] }))).toEqual([
      expect.objectContaining({ code: 'UNKNOWN_NODE' }),
      expect.objectContaining({ code: 'UNKNOWN_NODE' }),
      ...Array.from({ length: 6 }, (): unknown => expect.objectContaining({ code: 'UNKNOWN_NODE' })),
      expect.objectContaining({ code: 'UNKNOWN_NODE', path: 'onExit[0].node' }),
      expect.objectContaining({ code: 'INVALID_EXPRESSION', path: 'edges[2].loop.exit_when' }),
    ]);
    const config = { prompt: '${nope +', data: ['${'] };
    expect(problemsOf({ name: 'w', nodes: [agent('a', { config })] })).toEqual([]);
    expect(codesOf({ name: 'w', nodes: [agent('a', { config })], language: 2 })).toEqual([
      ['INVALID_EXPRESSION', 'nodes[0].config.prompt', 0],
      ['INVALID_EXPRESSION', 'nodes[0].config.data[0]', 0],
    ]);
  });
});

describe('hostile definitions', () => {
  const withConditions = (count: number, when: string): JsonObject => ({
    name: 'w',
    nodes: [agent('a'), agent('b')],
    edges: Array.from({ length: count }, () => edge('a', 'b', { when })),
  });

  it('have their expressions counted before one is read', () => {
    // If one of them were compiled, its error would be reported.
    expect(codesOf(withConditions(1_001, '1 +'))).toEqual([['TOO_MANY_EXPRESSIONS', 'edges[1000].when']]);
    expect(codesOf(withConditions(1_000, '(')).every(([code]) => code === 'INVALID_EXPRESSION')).toBe(true);
    expect(codesOf(withConditions(1_000, `${'('.repeat(1_999)}`))).toEqual([
      ['TOO_MANY_EXPRESSIONS', 'edges[32].when'],
    ]);
    expect(codesOf(withConditions(10_000, 'x'))).toEqual([['TOO_MANY_EXPRESSIONS', 'edges[1000].when']]);
  });

  it('have those in texts counted, and the text around them not', () => {
    const text = (prompt: string): JsonObject => ({
      name: 'w',
      language: 2,
      nodes: [agent('a', { config: { prompt } })],
    });
    expect(codesOf(text(`${'x'.repeat(200_000)}\${true}`))).toEqual([]);
    expect(codesOf(text('${+}'.repeat(1_001)))).toEqual([['TOO_MANY_EXPRESSIONS', 'nodes[0].config.prompt']]);
    expect(codesOf(text(`\${${'+'.repeat(66_000)}}`))).toEqual([['TOO_MANY_EXPRESSIONS', 'nodes[0].config.prompt']]);
    expect(codesOf(text('${'.repeat(50)))).toEqual([['INVALID_EXPRESSION', 'nodes[0].config.prompt', 0]]);
    expect(codesOf(text('${'.repeat(100_000)))).toEqual([['TOO_MANY_EXPRESSIONS', 'nodes[0].config.prompt']]);
  });

  it('are answered with no more problems than anybody reads', () => {
    expect(problemsOf(withConditions(1_000, 'nobody'))).toHaveLength(100);
  });
});

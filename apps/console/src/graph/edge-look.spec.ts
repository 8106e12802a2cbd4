import { edgeLooks, type EdgeOutcome } from './edge-look.js';
import type { DefinitionEdge } from './graph.js';

const looks = (branch: 'every' | 'first', edges: Partial<DefinitionEdge>[], state?: EdgeOutcome) =>
  edgeLooks(
    {
      nodes: [{ id: 'a', type: 'agent', config: {}, branch }],
      edges: edges.map((it) => ({ from: 'a', to: 'b', ...it })),
    },
    () => state,
  );

describe('edgeLooks', () => {
  it('draws a plain edge as a line, and says where it leads', () => {
    expect(looks('every', [{}])).toEqual([{ color: 'input', sentence: 'From a to b' }]);
  });

  it('labels an edge with its condition, cut where it is long', () => {
    const when = 'nodes.gate.data.decision == "yes" && true';
    expect(looks('every', [{ when }])[0]).toMatchObject({
      label: 'nodes.gate.data.decision == "yes"…',
      title: when,
      sentence: `From a to b, when ${when}`,
    });
  });

  it('dashes the edge that is taken where no other is, only where one is chosen', () => {
    expect(looks('first', [{ when: 'x' }, {}])[1]).toMatchObject({ label: 'else', dash: '7 5' });
    expect(looks('every', [{ when: 'x' }, {}])[1]).not.toHaveProperty('dash');
  });

  it('shows what an edge for failures is for', () => {
    const [failure, always] = looks('every', [{ on: 'failure', when: "error.kind == 'timeout'" }, { on: 'always' }]);
    expect(failure).toMatchObject({ label: "on failure: error.kind == 'timeou…", color: 'destructive' });
    expect(always).toMatchObject({ label: 'always', color: 'input' });
  });

  it('says how often a loop repeats, and until when', () => {
    const loop = { max_iterations: 3, exit_when: 'nodes.a.data.ok' };
    expect(looks('first', [{ loop }])[0]).toMatchObject({
      label: 'up to 3× until nodes.a.data.ok',
      sentence: 'From a back to b, up to 3× until nodes.a.data.ok',
    });
  });

  it('cuts the text of a loop later, since its line is long', () => {
    const long = { max_iterations: 3, exit_when: 'nodes.review.data.approved && nodes.review.data.score > 4' };
    expect(looks('first', [{ loop: long }])[0]?.label).toBe(`up to 3× until ${long.exit_when}`);
    const longer = { ...long, exit_when: 'x'.repeat(200) };
    expect(looks('first', [{ loop: longer }])[0]?.label).toHaveLength(120);
  });

  it('draws how an edge settled', () => {
    const of = (state: EdgeOutcome) => looks('every', [{}], state)[0];
    expect(of('live')).toMatchObject({ color: 'success', width: 2, sentence: 'From a to b, taken' });
    expect(of('off')).toMatchObject({ color: 'border', sentence: 'From a to b, not taken' });
    expect(of('broken')).toMatchObject({ dash: '1 6', sentence: 'From a to b, broken by a failure' });
  });
});

import type { GraphNode } from '../../graph/graph.js';
import { eachSummary, failureSummary, followSummary, joinSummary, resultSummary, waitSummary } from './summaries.js';

const node = (members: Partial<GraphNode> = {}): GraphNode => ({ id: 'a', type: 'agent', config: {}, ...members });

describe('what is set of how a node runs', () => {
  it('says nothing where nothing is set', () => {
    const all = [eachSummary, resultSummary, waitSummary].map((summary) => summary(node()));
    expect([...all, joinSummary(undefined, 1), failureSummary(node(), [])]).toEqual(Array(5).fill(undefined));
  });

  it('says when it starts', () => {
    expect(joinSummary('all', 3)).toBe('when all are done');
    expect(joinSummary('any', 3)).toBe('at the first of them');
    expect(joinSummary({ n: 2, cancelRest: true }, 3)).toBe('at 2 of 3, cancels the rest');
  });

  it('says what follows, without what leads back', () => {
    const edges = ['b', 'c', 'd'].map((to) => ({ from: 'a', to }));
    expect(followSummary(node({ branch: 'first' }), edges)).toBe('the first of b, c, …');
    expect(followSummary(node(), [{ from: 'a', to: 'a', loop: { max_iterations: 2 } }])).toBe('nothing');
  });

  it('says what happens when it fails', () => {
    const set = node({ retry: { attempts: 4 }, timeout: '2m', fallback: { parts: [] } });
    expect(failureSummary(set, [{ from: 'a', to: 'b', on: 'failure' }])).toBe(
      '4 attempts, 2m at most, a fallback, continues elsewhere',
    );
  });

  it('says how it repeats, waits, and what its result is', () => {
    expect(eachSummary(node({ each: { items: 'inputs.list' } }))).toBe('inputs.list, 5 at once');
    expect(waitSummary(node({ onWait: { deadline: '48h', default: {} } }))).toBe('48h, then a default');
    expect(waitSummary(node({ onWait: { deadline: '1h' } }))).toBe('1h, then it fails');
    expect(resultSummary(node({ output: { parse: true, schema: {} } }))).toBe('JSON out of its text, checked');
  });
});

import type { JsonObject } from '#libs/protocol';
import { agent, codesOf, edge, type Found, having, problemsOf } from './testing/checked-definitions.js';

describe('of a node', () => {
  it.each<[JsonObject, Found]>([
    [{ timeout: '0ms' }, ['INVALID_DURATION', 'nodes[1].timeout']],
    [{ timeout: 'soon' }, ['INVALID_DURATION', 'nodes[1].timeout']],
    [{ retry: { attempts: 0 } }, ['OUT_OF_RANGE', 'nodes[1].retry.attempts']],
    [{ retry: { attempts: 101 } }, ['OUT_OF_RANGE', 'nodes[1].retry.attempts']],
    [{ retry: { attempts: 2.5 } }, ['OUT_OF_RANGE', 'nodes[1].retry.attempts']],
    [{ retry: { attempts: 2, on: ['timeout', 'bad-luck'] } }, ['UNKNOWN_FAILURE_KIND', 'nodes[1].retry.on[1]']],
    [{ retry: { attempts: 2, on: ['internal'] } }, ['UNKNOWN_FAILURE_KIND', 'nodes[1].retry.on[0]']],
    [{ retry: { attempts: 2, delay: '-1s' } }, ['INVALID_DURATION', 'nodes[1].retry.delay']],
    [{ retry: { attempts: 2, maxDelay: '400d' } }, ['INVALID_DURATION', 'nodes[1].retry.maxDelay']],
    [{ retry: { attempts: 2, factor: 0.5 } }, ['OUT_OF_RANGE', 'nodes[1].retry.factor']],
    [{ retry: { attempts: 2, jitter: 1.1 } }, ['OUT_OF_RANGE', 'nodes[1].retry.jitter']],
    [{ retry: { attempts: 2, when: 'kind' } }, ['INVALID_EXPRESSION', 'nodes[1].retry.when', 0]],
    [{ each: { items: '[]', concurrency: 0 } }, ['OUT_OF_RANGE', 'nodes[1].each.concurrency']],
    [{ each: { items: '[]', maxItems: 10_001 } }, ['OUT_OF_RANGE', 'nodes[1].each.maxItems']],
    [{ each: { items: '[]', minSuccess: 1_001 } }, ['OUT_OF_RANGE', 'nodes[1].each.minSuccess']],
    [{ each: { items: '[]', maxItems: 5, minSuccess: 6 } }, ['OUT_OF_RANGE', 'nodes[1].each.minSuccess']],
    [{ each: { items: '[]', minSuccess: '101%' } }, ['OUT_OF_RANGE', 'nodes[1].each.minSuccess']],
    [{ each: { items: '[]', minSuccess: '5' } }, ['OUT_OF_RANGE', 'nodes[1].each.minSuccess']],
    [{ each: { items: '' } }, ['INVALID_EXPRESSION', 'nodes[1].each.items', 0]],
    [{ each: { items: '[item]' } }, ['INVALID_EXPRESSION', 'nodes[1].each.items', 1]],
    [{ join: { n: 0 } }, ['INVALID_JOIN', 'nodes[1].join.n']],
    [{ join: { n: 2 } }, ['INVALID_JOIN', 'nodes[1].join.n']],
    [{ join: { n: 0.5 } }, ['INVALID_JOIN', 'nodes[1].join.n']],
    [{ fallback: { parts: [{ text: 'x' }, {}] } }, ['INVALID_PART', 'nodes[1].fallback.parts[1]']],
    [{ fallback: { parts: [{ text: 'x', data: 1 }] } }, ['INVALID_PART', 'nodes[1].fallback.parts[0]']],
    [{ fallback: { parts: [{ text: 5 }] } }, ['INVALID_PART', 'nodes[1].fallback.parts[0]']],
    [{ fallback: { parts: [{ url: 'x', mediaType: 5 }] } }, ['INVALID_PART', 'nodes[1].fallback.parts[0]']],
    [{ fallback: { parts: ['x'] } }, ['INVALID_PART', 'nodes[1].fallback.parts[0]']],
    [
      { fallback: { parts: [{ data: ['a', '${error.nope}'] }] } },
      ['INVALID_EXPRESSION', 'nodes[1].fallback.parts[0].data[1]', 8],
    ],
    [{ output: { schema: { type: 'strange' } } }, ['INVALID_SCHEMA', 'nodes[1].output.schema']],
    [{ output: { schema: { $ref: 'http://a.test/x' } } }, ['INVALID_SCHEMA', 'nodes[1].output.schema']],
    [{ output: { schema: { pattern: '(?=a)' } } }, ['INVALID_SCHEMA', 'nodes[1].output.schema']],
    [{ output: {}, config: { output: { type: 'object' } } }, ['CONFLICTING_OUTPUT', 'nodes[1].output']],
    [{ onWait: { deadline: '0s' } }, ['INVALID_DURATION', 'nodes[1].onWait.deadline']],
    [{ onWait: { deadline: '1s', default: 5 } }, ['INVALID_DEFAULT', 'nodes[1].onWait.default']],
    [{ onWait: { deadline: '1s', default: ['x'] } }, ['INVALID_DEFAULT', 'nodes[1].onWait.default']],
  ])('%j is refused: %j', (members, found) => {
    expect(codesOf(having('nodes.1', members))).toEqual([found]);
    expect(problemsOf(having('nodes.1', members))[0]).toMatchObject({ severity: 'error', node: 'draft' });
  });

  it.each<[JsonObject, Found]>([
    [{ config: { form: { type: 'strange' } } }, ['INVALID_SCHEMA', 'nodes[2].config.form']],
    [{ onWait: { deadline: '1s', default: {} } }, ['INVALID_DEFAULT', 'nodes[2].onWait.default']],
    [{ onWait: { deadline: '1s', default: 'yes' } }, ['INVALID_DEFAULT', 'nodes[2].onWait.default']],
  ])('that asks: %j is refused: %j', (members, found) => {
    expect(codesOf(having('nodes.2', members))).toEqual([found]);
  });

  it('that is an output has a schema in one place', () => {
    expect(codesOf(having('nodes.3', { config: { schema: { type: 'x' } } }))).toEqual([
      ['INVALID_SCHEMA', 'nodes[3].config.schema'],
    ]);
    expect(codesOf(having('nodes.3', { config: { schema: {} }, output: { schema: {} } }))).toEqual([
      ['CONFLICTING_OUTPUT', 'nodes[3].output'],
    ]);
  });

  it('schemas are bounded, alone and together', () => {
    const long = { description: 'x'.repeat(65_536) };
    expect(codesOf(having('nodes.1', { output: { schema: long } }))).toEqual([
      ['INVALID_SCHEMA', 'nodes[1].output.schema'],
    ]);
    const schema = { properties: Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`p${index}`, {}])) };
    const nodes = ['a', 'b'].map((id) => agent(id, { output: { schema } }));
    expect(codesOf({ name: 'w', nodes })).toEqual([['INVALID_SCHEMA', 'nodes[1].output.schema']]);
  });

  it('a join counts what leads to it, and nothing else', () => {
    expect(codesOf({ name: 'w', nodes: [agent('a', { join: { n: 1 } })] })).toEqual([
      ['INVALID_JOIN', 'nodes[0].join.n'],
    ]);
    const nodes = [agent('a'), agent('b', { join: { n: 2 } })];
    const edges = [edge('a', 'b', { when: 'true' }), edge('a', 'b', { on: 'failure' })];
    expect(codesOf({ name: 'w', nodes, edges })).toEqual([]);
    expect(codesOf({ name: 'w', nodes, edges: [edge('a', 'b'), edge('a', 'b')] })).toEqual([
      ['INVALID_JOIN', 'nodes[1].join.n'],
    ]);
  });

  it('waits for an expression in language 2 alone', () => {
    const nodes = [{ id: 'pause', type: 'wait', config: { for: '${"5s"}' } }];
    expect(codesOf({ name: 'w', nodes })).toEqual([['INVALID_DURATION', 'nodes[0].config.for']]);
    expect(codesOf({ name: 'w', nodes, language: 2 })).toEqual([]);
  });

  it('waits until a time, which alone knows what time it is', () => {
    const until = (text: string) => ({ name: 'w', nodes: [{ id: 'pause', type: 'wait', config: { until: text } }] });
    expect(codesOf(until("now + duration('1h')"))).toEqual([]);
    expect(codesOf(until('later'))).toEqual([['INVALID_EXPRESSION', 'nodes[0].config.until', 0]]);
    expect(codesOf(having('nodes.1', { config: { prompt: '${now}' } }))).toEqual([
      ['INVALID_EXPRESSION', 'nodes[1].config.prompt', 2],
    ]);
  });
});

import { ProblemError, readBody } from '#libs/http';
import type { JsonValue } from '#libs/protocol';
import fc from 'fast-check';
import { RunBody } from './run.dto.js';
import { definitionOf, WorkflowBody } from './workflow-body.js';

const good = { name: 'w', nodes: [{ id: 'a', type: 'agent', config: { x: 1 } }], edges: [{ from: 'a', to: 'a' }] };

function refusal(act: () => unknown): ProblemError {
  try {
    act();
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
  throw new Error('Expected a refusal');
}

function pathsOf(body: unknown): string[] {
  return refusal(() => readBody(WorkflowBody, body)).errors.map((it) => it.path);
}

describe('WorkflowBody', () => {
  it('becomes a definition of the members that are known', () => {
    const body = { ...good, extra: { constructor: 1 }, description: 'd', onFailure: 'continue' };
    const withMore = { ...body, nodes: [{ ...good.nodes[0], x: 10 }] };
    expect(definitionOf(readBody(WorkflowBody, withMore))).toEqual({
      ...good,
      description: 'd',
      onFailure: 'continue',
    });
  });

  it('keeps where an editor draws a node', () => {
    const nodes = [{ ...good.nodes[0], position: { x: 10, y: -2.5, z: 1 } }];
    expect(definitionOf(readBody(WorkflowBody, { ...good, nodes })).nodes[0]?.position).toEqual({ x: 10, y: -2.5 });
    expect(pathsOf({ ...good, nodes: [{ ...good.nodes[0], position: { x: '1' } }] })).toEqual([
      'nodes[0].position.x',
      'nodes[0].position.y',
    ]);
    expect(pathsOf({ ...good, nodes: [{ ...good.nodes[0], position: 'left' }] })).toEqual(['nodes[0].position']);
  });

  it('fills in what may be left out', () => {
    const body = { name: 'w', nodes: [{ id: 'a', type: 'agent' }], description: null, edges: null, onFailure: null };
    expect(definitionOf(readBody(WorkflowBody, body))).toEqual({
      name: 'w',
      nodes: [{ id: 'a', type: 'agent', config: {} }],
      edges: [],
    });
  });

  it('takes any JSON object as a config, and leaves it as it is', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 }), { noNullPrototype: true }), (config) => {
        const sent = JSON.parse(JSON.stringify({ ...good, nodes: [{ id: 'a', type: 'agent', config }] })) as JsonValue;
        const text = JSON.stringify(definitionOf(readBody(WorkflowBody, sent)).nodes[0]?.config);
        expect(text).toBe(JSON.stringify(config));
      }),
    );
    const odd = JSON.parse('{"constructor":1,"__proto__":{"a":1},"toString":"x"}') as object;
    const body = { ...good, nodes: [{ id: 'a', type: 'agent', config: odd }] };
    expect(definitionOf(readBody(WorkflowBody, body)).nodes[0]?.config).toBe(odd);
  });

  it.each([
    [{ ...good, name: 1 }, ['name']],
    [{}, ['name', 'nodes']],
    [{ ...good, nodes: 'a' }, ['nodes']],
    [{ ...good, nodes: [5] }, ['nodes[0].id', 'nodes[0].type']],
    [{ ...good, nodes: [null, [[]]] }, ['nodes[0].id', 'nodes[0].type', 'nodes[1].id', 'nodes[1].type']],
    [{ ...good, nodes: [{ id: 'a' }] }, ['nodes[0].type']],
    [
      { ...good, nodes: [good.nodes[0], { id: 1, type: 2, config: [] }] },
      ['nodes[1].id', 'nodes[1].type', 'nodes[1].config'],
    ],
    [{ ...good, edges: {} }, ['edges']],
    [{ ...good, edges: [{ from: 'a' }] }, ['edges[0].to']],
    [{ ...good, description: 5 }, ['description']],
    [{ ...good, onFailure: 'stop' }, ['onFailure']],
  ])('refuses %j, naming %j', (body, paths) => {
    expect(new Set(pathsOf(body))).toEqual(new Set(paths));
  });

  it.each([undefined, null, 5, 'x', [good]])('refuses %j, which is no object', (body) => {
    const error = refusal(() => readBody(WorkflowBody, body));
    expect(error).toMatchObject({ status: 400, errors: [{ path: '', detail: 'the body must be a JSON object' }] });
  });

  it('refuses more nodes than are allowed without looking at all of them', () => {
    const nodes = Array.from({ length: 200_000 }, (_, index) => ({ id: `n${index}`, type: 'agent' }));
    expect(pathsOf({ ...good, nodes })).toEqual(['nodes']);
  });

  it('refuses what is nested so deep that writing it would fail', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`) as JsonValue;
    const body = { ...good, nodes: [{ id: 'a', type: 'agent', config: { deep } }] };
    expect(refusal(() => readBody(WorkflowBody, body)).message).toContain('nested deeper');
  });

  it('never fails otherwise, whatever is sent', () => {
    const anything = fc.oneof(
      fc.jsonValue(),
      fc.record({ name: fc.jsonValue(), nodes: fc.jsonValue(), edges: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(anything, (body) => {
        try {
          readBody(WorkflowBody, body);
        } catch (error) {
          expect(error).toBeInstanceOf(ProblemError);
        }
      }),
    );
  });
});

describe('RunBody', () => {
  it('takes an object of inputs, or none', () => {
    expect(readBody(RunBody, { inputs: { a: [1] } }).inputs).toEqual({ a: [1] });
    expect(readBody(RunBody, {}).inputs).toBeUndefined();
  });

  it.each([5, 'x', [1], true])('refuses the inputs %j by name', (inputs) => {
    expect(refusal(() => readBody(RunBody, { inputs })).errors).toEqual([
      { path: 'inputs', detail: 'must be an object' },
    ]);
  });

  it.each([undefined, null, 'x', 5, [], {}, { inputs: 5 }, { inputs: [1] }, { inputs: null }])(
    'leniently reads %j as no inputs (row F2)',
    (body) => {
      expect(RunBody.lenient(body).inputs).toEqual({});
    },
  );
});

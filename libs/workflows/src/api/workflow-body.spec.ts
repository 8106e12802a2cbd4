import fc from 'fast-check';
import { ProblemError, readBody } from '#libs/http-server';
import type { JsonValue } from '#libs/protocol';
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

  it('keeps all that can be said, as it was said', () => {
    const parts = [{ text: 'x', metadata: { a: null } }];
    const node = {
      id: 'a',
      type: 'agent',
      config: {},
      branch: 'first',
      join: { n: 2, cancelRest: true },
      each: { items: 'inputs.list', concurrency: 2, maxItems: 10, onFailure: 'collect', minSuccess: '80%' },
      retry: {
        attempts: 3,
        on: ['timeout'],
        when: 'true',
        delay: '1s',
        factor: 2,
        maxDelay: '1m',
        jitter: 0,
      },
      timeout: '2m',
      fallback: { parts },
      output: { schema: { default: null, constructor: { a: 1 } }, parse: false },
      onWait: { deadline: '48h', default: { a: null } },
    };
    const loop = { max_iterations: 3, exit_when: 'true', delay: '1s', on_max: 'fail', initial: '' };
    const definition = {
      $schema: 's',
      name: 'w',
      description: 'd',
      nodes: [node, { id: 'b', type: 'agent', config: {}, join: 'any', each: { items: '[1]', minSuccess: 0 } }],
      edges: [
        { from: 'a', to: 'b', when: 'true', on: 'always' },
        { from: 'b', to: 'a', loop },
      ],
      onFailure: 'cancel',
      language: 2,
      deadline: '2h',
      parallel: 20,
      concurrency: { limit: 2, key: 'inputs.list', onFull: 'skip' },
      onExit: [{ node: 'c', on: 'failure' }, { node: 'd' }],
    };
    const stored = definitionOf(readBody(WorkflowBody, definition));
    expect(JSON.stringify(stored)).toBe(JSON.stringify(definition));
  });

  it('stores nothing that is not set or not known', () => {
    const nothing = { branch: null, join: null, each: null, retry: null, timeout: null, fallback: null };
    const body = {
      ...{ name: 'w', language: null, deadline: null, parallel: null, onExit: null },
      nodes: [
        { id: 'a', type: 'agent', ...nothing, output: null, onWait: null },
        { id: 'b', type: 'agent', join: { n: 1, cancelRest: null, x: 1 }, retry: { attempts: 2, delay: null, x: 1 } },
        { id: 'c', type: 'agent', output: { schema: null, parse: null }, onWait: { deadline: '1s', default: null } },
      ],
      edges: [
        { from: 'a', to: 'b', when: null, on: null, loop: null },
        { from: 'a', to: 'b', loop: { max_iterations: 1, initial: null, x: 1 } },
      ],
    };
    const stored = definitionOf(readBody(WorkflowBody, body));
    expect(JSON.parse(JSON.stringify(stored))).toEqual({
      name: 'w',
      nodes: [
        { id: 'a', type: 'agent', config: {} },
        { id: 'b', type: 'agent', config: {}, join: { n: 1 }, retry: { attempts: 2 } },
        { id: 'c', type: 'agent', config: {}, output: {}, onWait: { deadline: '1s' } },
      ],
      edges: [
        { from: 'a', to: 'b' },
        { from: 'a', to: 'b', loop: { max_iterations: 1 } },
      ],
    });
    expect(Object.keys(stored.nodes[0] ?? {})).toEqual(['id', 'type', 'config']);
  });

  it('stores what says nothing new byte for byte as before', () => {
    const sent = {
      edges: [{ to: 'a', from: 'b' }],
      nodes: [
        { position: { y: 2, x: 1 }, config: { z: 1, a: 2 }, type: 'agent', id: 'a' },
        { id: 'b', type: 'input' },
      ],
      onFailure: 'continue',
      description: 'd',
      name: 'w',
      $schema: 's',
    };
    expect(JSON.stringify(definitionOf(readBody(WorkflowBody, sent)))).toBe(
      '{"$schema":"s","name":"w","description":"d","nodes":[{"id":"a","type":"agent","config":{"z":1,"a":2},"position":{"x":1,"y":2}},{"id":"b","type":"input","config":{}}],"edges":[{"from":"b","to":"a"}],"onFailure":"continue"}',
    );
  });

  it.each<[object, string]>([
    [{ branch: 'last' }, 'branch'],
    [{ join: 'some' }, 'join'],
    [{ join: {} }, 'join'],
    [{ join: { n: 1, cancelRest: 'yes' } }, 'join'],
    [{ join: ['any'] }, 'join'],
    [{ each: 'inputs.list' }, 'each'],
    [{ each: {} }, 'each.items'],
    [{ each: { items: '[]', minSuccess: [1] } }, 'each.minSuccess'],
    [{ each: { items: '[]', onFailure: 'stop' } }, 'each.onFailure'],
    [{ retry: 3 }, 'retry'],
    [{ retry: { on: ['timeout'] } }, 'retry.attempts'],
    [{ retry: { attempts: '3' } }, 'retry.attempts'],
    [{ retry: { attempts: 3, on: ['timeout', 5] } }, 'retry.on[1]'],
    [{ retry: { attempts: 3, on: 'timeout' } }, 'retry.on'],
    [{ timeout: 30 }, 'timeout'],
    [{ fallback: [] }, 'fallback'],
    [{ fallback: { parts: 'x' } }, 'fallback.parts'],
    [{ output: { schema: true } }, 'output.schema'],
    [{ output: { parse: 'yes' } }, 'output.parse'],
    [{ onWait: {} }, 'onWait.deadline'],
  ])('refuses a node with %j, naming %s', (members, path) => {
    expect(pathsOf({ ...good, nodes: [{ ...good.nodes[0], ...members }] })).toEqual([`nodes[0].${path}`]);
  });

  it.each<[object, string]>([
    [{ when: true }, 'when'],
    [{ on: 'error' }, 'on'],
    [{ loop: 3 }, 'loop'],
    [{ loop: {} }, 'loop.max_iterations'],
    [{ loop: { max_iterations: 3, on_max: 'stop' } }, 'loop.on_max'],
    [{ loop: { max_iterations: 3, initial: {} } }, 'loop.initial'],
  ])('refuses an edge with %j, naming %s', (members, path) => {
    expect(pathsOf({ ...good, edges: [{ ...good.edges[0], ...members }] })).toEqual([`edges[0].${path}`]);
  });

  it.each<[object, string]>([
    [{ language: '2' }, 'language'],
    [{ deadline: 60 }, 'deadline'],
    [{ parallel: 'x' }, 'parallel'],
    [{ onExit: { node: 'a' } }, 'onExit'],
    [{ onExit: [{ on: 'failure' }] }, 'onExit[0].node'],
    [{ onExit: [{ node: 'a', on: 'canceled' }] }, 'onExit[0].on'],
    [{ onExit: Array.from({ length: 101 }, () => ({ node: 'a' })) }, 'onExit'],
  ])('refuses %j, naming %s', (members, path) => {
    expect(new Set(pathsOf({ ...good, ...members }))).toEqual(new Set([path]));
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

  it.each([5, 'x', [1], true, null])('refuses the inputs %j by name', (inputs) => {
    expect(refusal(() => readBody(RunBody, { inputs })).errors).toEqual([
      { path: 'inputs', detail: 'must be an object' },
    ]);
  });

  it.each([5, 'x', [1], null])('refuses the budget %j by name, so that no run loses its limit', (budget) => {
    expect(refusal(() => readBody(RunBody, { budget })).errors).toEqual([
      { path: 'budget', detail: 'must be an object' },
    ]);
  });

  it.each([undefined, null, 'x', 5, [], {}, { inputs: 5 }, { inputs: [1] }, { inputs: null }])(
    'leniently reads %j as no inputs (row F2)',
    (body) => {
      expect(RunBody.readLeniently(body).inputs).toEqual({});
    },
  );

  it('refuses members that it does not know, by their names, also where it is read leniently', () => {
    for (const read of [(body: unknown) => readBody(RunBody, body), (body: unknown) => RunBody.readLeniently(body)])
      expect(refusal(() => read({ input: { topic: 'x' } })).errors).toEqual([
        { path: 'input', detail: 'is not a member of the start of a run; inputs are members of `inputs`' },
      ]);
  });
});

import { readDefinition, unknownMembers } from './sent-definition.js';

/** Definition with every member, and with one unknown member in each object. */
const DEFINITION = {
  ...{ $schema: 's', name: 'w', description: 'd', onFailure: 'cancel', language: 2, deadline: '1h', parallel: 1 },
  inputModes: ['text/plain'],
  concurrency: { limit: 1, key: '', onFull: 'skip', x: 1 },
  ...{ revision: '1', createdAt: '', updatedAt: '', problems: [] },
  nodes: [
    {
      ...{ id: 'a', type: 'agent', config: { x: 1 }, position: { x: 1, y: 1, z: 1 }, branch: 'first', timeout: '1s' },
      join: { n: 1, cancelRest: true, x: 1 },
      each: { items: '[]', concurrency: 1, maxItems: 1, onFailure: 'collect', minSuccess: 1, x: 1 },
      retry: { attempts: 1, on: [], when: '', delay: '', factor: 1, maxDelay: '', jitter: 1, x: 1 },
      fallback: { parts: [{ x: 1 }], x: 1 },
      output: { schema: { x: 1 }, parse: true, x: 1 },
      onWait: { deadline: '', default: { x: 1 }, x: 1 },
      x: 1,
    },
  ],
  edges: [
    {
      ...{ from: 'a', to: 'a', when: '', on: 'failure', x: 1 },
      loop: { max_iterations: 1, exit_when: '', delay: '', on_max: 'fail', initial: '', x: 1 },
    },
  ],
  onExit: [{ node: 'a', on: 'always', x: 1 }],
  notes: [{ text: 't', position: { x: 1, y: 1, z: 1 }, x: 1 }],
  x: 1,
};

/** Returns the paths of all members with this name in a value. */
function pathsOf(value: unknown, name: string, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, it]) => {
    const at = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    return key === name ? [at] : pathsOf(it, name, at);
  });
}

describe('unknownMembers', () => {
  it('are warned of, at any depth that is not the author’s own', () => {
    const found = unknownMembers(DEFINITION);
    const own = [
      ...['nodes[0].config.x', 'nodes[0].position.x', 'nodes[0].output.schema.x', 'nodes[0].onWait.default.x'],
      'notes[0].position.x',
    ];
    const expected = pathsOf(DEFINITION, 'x').filter((path) => !own.includes(path) && !path.includes('parts'));
    expect(found.map(({ path }) => path).toSorted()).toEqual(expected.toSorted());
    expect(found.every(({ severity, code }) => severity === 'warning' && code === 'UNKNOWN_KEY')).toBe(true);
    expect(found.find(({ path }) => path === 'nodes[0].retry.x')).toMatchObject({
      node: 'a',
      detail: 'unknown key "x": a retry has no such member',
    });
    expect(found.find(({ path }) => path === 'edges[0].loop.x')).toMatchObject({ edge: 0 });
  });

  it('are what is not stored, and nothing else is', () => {
    const stored: unknown = readDefinition(DEFINITION);
    const shown = ['revision', 'createdAt', 'updatedAt', 'problems'];
    const expected = JSON.parse(JSON.stringify(DEFINITION)) as Record<string, unknown>;
    for (const name of shown) delete expected[name];
    const unknown = new Set([
      ...unknownMembers(DEFINITION).map(({ path }) => path),
      'nodes[0].position.z',
      'notes[0].position.z',
    ]);
    expect(stored).toEqual(without(expected, unknown));
  });

  it('warns of an unknown member of a budget', () => {
    const [found, ...others] = unknownMembers({ name: 'w', nodes: [], budget: { usd: 1, calls: 5 } });
    expect(others).toEqual([]);
    expect(found).toMatchObject({ severity: 'warning', code: 'UNKNOWN_KEY', path: 'budget.calls' });
  });
});

/** Returns the value without the members at these paths. */
function without(value: unknown, paths: ReadonlySet<string>, path = ''): unknown {
  if (Array.isArray(value)) return value.map((it, index) => without(it, paths, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).flatMap(([key, it]) => {
    const at = path === '' ? key : `${path}.${key}`;
    return paths.has(at) ? [] : [[key, without(it, paths, at)]];
  });
  return Object.fromEntries(kept) as unknown;
}

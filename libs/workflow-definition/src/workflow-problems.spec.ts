import type { JsonObject } from '#libs/protocol';
import { agent, codesOf, edge, type Found, GOOD, having, problemsOf } from './testing/checked-definitions.js';

describe('a definition that says everything', () => {
  it('has no problem', () => {
    expect(problemsOf(GOOD)).toEqual([]);
  });

  it.each<[string, JsonObject]>([
    ['', { language: 1, deadline: '365d', parallel: 10_000 }],
    ['', { inputModes: ['text/plain', 'image/*', '*/*', 'application/vnd.x+json'] }],
    ['', { concurrency: { limit: 1_000, key: 'inputs.topic + run.contextId', onFull: 'cancel-oldest' } }],
    ['nodes.1', { retry: { attempts: 100, on: ['timeout', 'max-iterations'], delay: '0s', factor: 1, jitter: 1 } }],
    ['nodes.1', { retry: { attempts: 2, when: "error.kind == 'timeout' && iteration < 2" } }],
    ['nodes.1', { each: { items: 'inputs.topic', concurrency: 1, onFailure: 'collect', minSuccess: '99.5%' } }],
    ['nodes.1', { each: { items: '[1, 2]' }, config: { prompt: '${string(item) + string(index)}' } }],
    ['nodes.1', { fallback: { parts: [{ text: '${error.message}' }, { data: null }], x: 1 } }],
    ['nodes.1', { config: { prompt: '${iteration > 1 ? nodes.gate.text : nodes.topic.text} ${inputs.topic}' } }],
    ['nodes.1', { output: { schema: { type: 'object' }, parse: true } }],
    ['nodes.2', { onWait: { deadline: '1s', default: { ok: true } } }],
    ['nodes.3', { join: { n: 1, cancelRest: true }, config: { prompt: '${nodes.gate.loop.iterations}' } }],
    ['nodes.4', { config: { prompt: '${error == null ? nodes.out.text : error.message}' } }],
    ['edges.3', { when: 'nodes.gate.data.ok && nodes.draft.status == "completed"' }],
  ])('may have at %s %j', (path, members) => {
    expect(codesOf(having(path, members))).toEqual([]);
  });
});

describe('of the run', () => {
  it.each<[JsonObject, Found]>([
    [{ language: 3 }, ['UNKNOWN_LANGUAGE', 'language']],
    [{ language: 1.5 }, ['UNKNOWN_LANGUAGE', 'language']],
    [{ deadline: '2 hours' }, ['INVALID_DURATION', 'deadline']],
    [{ deadline: '0s' }, ['INVALID_DURATION', 'deadline']],
    [{ deadline: '366d' }, ['INVALID_DURATION', 'deadline']],
    [{ inputModes: [] }, ['INVALID_MODES', 'inputModes']],
    [{ inputModes: ['text'] }, ['INVALID_MODES', 'inputModes']],
    [{ inputModes: ['*/png'] }, ['INVALID_MODES', 'inputModes']],
    [{ inputModes: ['text/plain; charset=utf-8'] }, ['INVALID_MODES', 'inputModes']],
    [{ inputModes: ['text/plain', 'text/plain'] }, ['INVALID_MODES', 'inputModes']],
    [{ inputModes: Array.from({ length: 101 }, (_, n) => `x/${n}`) }, ['INVALID_MODES', 'inputModes']],
    [{ parallel: 0 }, ['OUT_OF_RANGE', 'parallel']],
    [{ parallel: 1.5 }, ['OUT_OF_RANGE', 'parallel']],
    [{ concurrency: { limit: 0 } }, ['OUT_OF_RANGE', 'concurrency.limit']],
    [{ concurrency: { limit: 1_001 } }, ['OUT_OF_RANGE', 'concurrency.limit']],
    [{ concurrency: { limit: 1.5 } }, ['OUT_OF_RANGE', 'concurrency.limit']],
    [{ concurrency: { limit: 1, key: 'inputs.' } }, ['INVALID_EXPRESSION', 'concurrency.key', 6]],
    [{ concurrency: { limit: 1, key: 'item' } }, ['INVALID_EXPRESSION', 'concurrency.key', 0]],
    [{ concurrency: { limit: 1, key: 'nodes.topic.text' } }, ['LATER_REFERENCE', 'concurrency.key', 6]],
    [{ onExit: [{ node: 'nobody' }] }, ['UNKNOWN_NODE', 'onExit[0].node']],
    [{ onExit: [{ node: 'notify' }, { node: 'draft' }] }, ['INVALID_EXIT', 'onExit[1].node']],
    [{ onExit: [{ node: 'notify' }, { node: 'notify' }] }, ['INVALID_EXIT', 'onExit[1].node']],
  ])('%j is refused: %j', (members, found) => {
    expect(codesOf(having('', members))).toEqual([found]);
  });

  it.each<JsonObject>([
    { id: 'last', type: 'output' },
    { id: 'last', type: 'human', config: { prompt: 'Well?' } },
  ])('$type does not run at the end', (last) => {
    const nodes = [...(GOOD['nodes'] as JsonObject[]), last];
    expect(codesOf(having('', { nodes, onExit: [{ node: 'last' }] }))).toEqual([['INVALID_EXIT', 'onExit[0].node']]);
  });
});

describe('warnings', () => {
  it.each<[string, JsonObject, Found[]]>([
    ['nodes.1', { timeout: '1s', config: { prompt: 'x', timeout: 5 } }, [['IGNORED_KEY', 'nodes[1].config.timeout']]],
    ['nodes.1', { each: { items: '[]', minSuccess: 1 } }, [['IGNORED_KEY', 'nodes[1].each.minSuccess']]],
    ['nodes.3', { onWait: { deadline: '1s' } }, [['IGNORED_KEY', 'nodes[3].onWait']]],
    ['nodes.4', { onWait: { deadline: '1s' } }, [['IGNORED_KEY', 'nodes[4].onWait']]],
    ['nodes.1', { onWait: { deadline: '1s' } }, []],
    ['nodes.1', { timeout: '1s' }, []],
    ['nodes.1', { type: 'wait', timeout: '1s', config: { for: '5s' } }, [['IGNORED_KEY', 'nodes[1].timeout']]],
    ['nodes.1', { type: 'set', timeout: '1s', config: { values: {} } }, [['IGNORED_KEY', 'nodes[1].timeout']]],
    ['nodes.1', { type: 'human', timeout: '1s', config: { prompt: 'x' } }, [['IGNORED_KEY', 'nodes[1].timeout']]],
    ['', { language: 1 }, []],
    ['nodes.1', { config: { prompt: 'x ${1}', data: { a: ['${', '${2}'] } } }, []],
  ])('at %s, for %j: %j', (path, members, found) => {
    expect(codesOf(having(path, members), 'warning').filter(([code]) => code !== 'UNCONNECTED')).toEqual(found);
  });
});

describe('an input whose id is a keyword of expressions', () => {
  const named = (id: string, text: string, language = 2): JsonObject => ({
    name: 'w',
    language,
    nodes: [{ id, type: 'input' }, agent('a', { config: { prompt: `\${${text}}` } })],
    edges: [edge(id, 'a')],
  });

  it.each(['in', 'true', 'false', 'null'])('is warned of, and can be named by its text: %s', (id) => {
    const found = problemsOf(named(id, `inputs["${id}"]`));
    expect(found).toEqual([expect.objectContaining({ code: 'KEYWORD_ID', path: 'nodes[0].id', severity: 'warning' })]);
    expect(found[0]?.detail).toContain(`inputs["${id}"]`);
    expect(codesOf(named(id, `inputs.${id}`)).map(([code]) => code)).not.toEqual(['KEYWORD_ID']);
  });

  it('is no concern without expressions, nor where the id is another word', () => {
    expect(problemsOf(named('input', 'inputs.input'))).toEqual([]);
    expect(codesOf(named('in', 'x', 1)).map(([code]) => code)).not.toContain('KEYWORD_ID');
  });
});

describe('a text with what looks like a reference', () => {
  it('is warned of where it would name a node, and stays as it is', () => {
    const prompt = 'a {{b-c}} {{ b }} {{b}} {{b-c.data}} {{c-b}} {{ c }} {{b c}}';
    const nodes = [agent('b'), agent('b-c'), agent('a', { config: { prompt } })];
    expect(codesOf({ name: 'w', nodes, edges: [edge('b', 'b-c'), edge('b-c', 'a')] }, 'warning')).toEqual([
      ['UNKNOWN_REFERENCE', 'nodes[2].config.prompt', 2],
      ['UNKNOWN_REFERENCE', 'nodes[2].config.prompt', 10],
      ['UNKNOWN_REFERENCE', 'nodes[2].config.prompt', 24],
    ]);
  });
});

describe('a text with what looks like an expression', () => {
  it('is warned of in a definition that uses the language, without language 2', () => {
    const nodes = [agent('a', { config: { prompt: 'x ${1}', data: { a: ['${', '${2}'] } } })];
    expect(problemsOf({ name: 'w', nodes })).toEqual([]);
    expect(codesOf({ name: 'w', nodes, deadline: '1h' }, 'warning')).toEqual([
      ['NOT_EVALUATED', 'nodes[0].config.prompt', 2],
      ['NOT_EVALUATED', 'nodes[0].config.data.a[1]', 0],
    ]);
    expect(codesOf({ name: 'w', nodes, deadline: '1h', language: 2 }, 'warning')).toEqual([]);
  });
});

describe('a text of a config that is no template', () => {
  const literal = (config: JsonObject, type = 'agent'): JsonObject => ({
    name: 'w',
    nodes: [
      { id: 'x', type: 'input', config: { default: '{{a}} ${x}', description: '{{a}} ${x}' } },
      { id: 'a', type, config: { prompt: '{{x}}', ...config } },
    ],
    edges: [{ from: 'x', to: 'a' }],
  });
  const found = (sent: JsonObject) => codesOf(sent, 'warning').filter(([code]) => code === 'NOT_EVALUATED');

  it.each<[string, JsonObject, string]>([
    ['system_prompt', { system_prompt: 'In ${inputs.x} of {{x}}' }, 'agent'],
    ['assignee', { assignee: 'As ${inputs.x}' }, 'human'],
  ])('is warned of where it looks like one: %s', (key, config, type) => {
    const sent = literal(config, type);
    expect(found({ ...sent, language: 2 })).toEqual([['NOT_EVALUATED', `nodes[1].config.${key}`, 3]]);
    const [said] = problemsOf({ ...sent, language: 2 }).filter(({ code }) => code === 'NOT_EVALUATED');
    expect(said?.detail).toBe(`${type} node "a": \${…} in config.${key} stays unchanged: it is not a template`);
  });

  it('is warned of where it names a node, in any language', () => {
    const sent = literal({ system_prompt: 'Of {{stranger}}, {{x.data}} ${inputs.x}' });
    expect(found(sent)).toEqual([['NOT_EVALUATED', 'nodes[1].config.system_prompt', 17]]);
  });

  it.each<[JsonObject, string]>([
    [{ system_prompt: 'Say {{name}}, $x and ${' }, 'agent'],
    [{ until: "now + duration('1h')" }, 'wait'],
    [{ form: { type: 'string', pattern: '${x}' } }, 'human'],
  ])('is no matter otherwise: %j', (config, type) => {
    expect(found({ ...literal(config, type), language: 2 })).toEqual([]);
  });
});

describe('a definition in a node', () => {
  const child = (body: JsonObject): JsonObject => ({
    name: 'w',
    nodes: [{ id: 'run', type: 'workflow', config: { body } }],
  });

  it('is checked like any other, under its path', () => {
    expect(problemsOf(child({ nodes: [agent('a')] }))).toEqual([]);
    const wrong = child({
      nodes: [agent('a'), agent('a'), agent('b', { retry: { attempts: 0 } })],
      budget: {},
      stranger: 1,
    });
    expect(problemsOf(wrong)).toEqual([
      expect.objectContaining({
        code: 'DUPLICATE_NODE',
        path: 'nodes[0].config.body.nodes[1].id',
        node: 'run',
        detail: 'workflow node "run": build DAG: duplicate node ID: a',
      }),
      expect.objectContaining({ code: 'EMPTY_BUDGET', path: 'nodes[0].config.body.budget' }),
      expect.objectContaining({ code: 'OUT_OF_RANGE', path: 'nodes[0].config.body.nodes[2].retry.attempts' }),
      expect.objectContaining({ code: 'UNKNOWN_KEY', severity: 'warning', path: 'nodes[0].config.body.stranger' }),
    ]);
    expect(codesOf(child({ nodes: [agent('a')], stranger: 1 }), 'warning')).toEqual([
      ['UNKNOWN_KEY', 'nodes[0].config.body.stranger'],
    ]);
    const later = child({ nodes: [agent('a', { each: { items: '[1] + nodes.a.data' } })] });
    expect(codesOf(later)).toEqual([['LATER_REFERENCE', 'nodes[0].config.body.nodes[0].each.items', 12]]);
  });

  it('is a definition', () => {
    expect(codesOf(child({}))[0]).toEqual(['MALFORMED', 'nodes[0].config.body.nodes']);
    expect(codesOf(child({ nodes: [{ id: 5 }] })).map(([, path]) => path)).toEqual([
      'nodes[0].config.body.nodes[0].id',
      'nodes[0].config.body.nodes[0].type',
    ]);
  });

  it('has the language of what it is in, unless it says another', () => {
    const own = (around: JsonObject, body: JsonObject): Found[] =>
      codesOf({ ...child({ nodes: [agent('a', { config: { prompt: '${' } })], ...body }), ...around });
    const wrong: Found = ['INVALID_EXPRESSION', 'nodes[0].config.body.nodes[0].config.prompt', 0];
    expect(own({ language: 2 }, {})).toEqual([wrong]);
    expect(own({ language: 2 }, { language: null })).toEqual([wrong]);
    expect(own({ language: 2 }, { language: 1 })).toEqual([]);
    expect(own({}, { language: 2 })).toEqual([wrong]);
    expect(own({ language: 3 }, {})).toEqual([['UNKNOWN_LANGUAGE', 'language']]);
  });

  it('is given the inputs that it has', () => {
    const given = (inputs: JsonObject): JsonObject => {
      const body = {
        nodes: [{ id: 'who', type: 'input' }, { id: 'spare', type: 'input', config: { default: 1 } }, agent('a')],
      };
      return { name: 'w', nodes: [{ id: 'run', type: 'workflow', config: { body, inputs } }] };
    };
    expect(codesOf(given({ who: 1 }))).toEqual([]);
    expect(codesOf(given({ who: 1, a: 1 }))).toEqual([]);
    expect(codesOf(given({ why: 1 }))).toEqual([
      ['UNKNOWN_INPUT', 'nodes[0].config.inputs.why'],
      ['MISSING_INPUT', 'nodes[0].config.inputs.who'],
    ]);
  });

  it('does not run what it is in, nor lies deeper than runs may', () => {
    const own = { nodes: [{ id: 'again', type: 'workflow', config: { workflow: 'w' } }] };
    expect(codesOf({ name: 'w', ...own })).toEqual([['LOOP_DETECTED', 'nodes[0].config.workflow']]);
    expect(codesOf(child(own))).toEqual([['LOOP_DETECTED', 'nodes[0].config.body.nodes[0].config.workflow']]);
    let nested: JsonObject = { nodes: [agent('a')] };
    for (let depth = 0; depth < 9; depth += 1) nested = { nodes: child(nested)['nodes'] ?? [] };
    expect(codesOf(child(nested))).toEqual([]);
    const [[code] = []] = codesOf(child({ nodes: child(nested)['nodes'] ?? [] }));
    expect(code).toBe('DEPTH_EXCEEDED');
  });

  it('shares with it what there may be of expressions', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => agent(`a${index}`, { retry: { attempts: 1, when: 'true' } }));
    const nodes = [...many(600), ...(child({ nodes: many(400) })['nodes'] as JsonObject[])];
    expect(codesOf({ name: 'w', nodes })).toEqual([]);
    const more = [...many(600), ...(child({ nodes: many(401) })['nodes'] as JsonObject[])];
    expect(codesOf({ name: 'w', nodes: more })).toEqual([
      ['TOO_MANY_EXPRESSIONS', 'nodes[600].config.body.nodes[400].retry.when'],
    ]);
  });
});

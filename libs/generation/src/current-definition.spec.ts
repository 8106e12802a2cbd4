import type { JsonObject, JsonValue } from '#libs/protocol';
import { CurrentDefinition } from './current-definition.js';

const URL = 'https://agent.example.com/a2a';

const OTHER = 'https://other.example.com/';

interface Changed {
  config: unknown;
  /** Paths of the warnings. */
  lost: string[];
}

/** Returns the only node after a model has answered with another config. */
function changed(type: string, config: JsonObject, answered: JsonObject, id = 'a'): Changed {
  const current = new CurrentDefinition({ name: 'w', nodes: [{ id: 'a', type, config }] });
  const { workflow, lost } = current.applyAnswer({ name: 'w', nodes: [{ id, type, config: answered }] });
  return { config: (workflow['nodes'] as JsonObject[])[0]?.['config'], lost: lost.map(({ path }) => path) };
}

/** Returns a config after a model has answered with another one, and has lost no credential. */
function configAfter(type: string, config: JsonObject, answered: JsonObject, id?: string): unknown {
  const { lost, config: after } = changed(type, config, answered, id);
  expect(lost).toEqual([]);
  return after;
}

describe('a definition that a model changes', () => {
  const secret = (config: JsonObject): JsonObject => ({ ...config, auth: 'partner-key', credential_ref: 'team-key' });

  it.each<[string, string, JsonObject, JsonObject]>([
    ['a node', 'external', secret({ endpoint_url: URL }), { endpoint_url: URL }],
    ['an agent of a brainstorm', 'brainstorm', { agents: [secret({ agent: URL })] }, { agents: [{ agent: URL }] }],
    ['an agent that is a tool', 'agent', { tools: ['x', secret({ agent: URL })] }, { tools: ['x', { agent: URL }] }],
    ['a side of a conversation', 'conversation', { target: URL, auth: { target: 'partner-key' } }, { target: URL }],
    ['models', 'brainstorm', { llmConfig: secret({ model: 'm' }) }, { llmConfig: { model: 'm' } }],
    [
      'a node of an inner workflow',
      'workflow',
      { body: { nodes: [{ id: 'x', type: 'agent', config: { tools: [secret({ agent: URL })] } }] } },
      { body: { nodes: [{ id: 'x', type: 'agent', config: { tools: [{ agent: URL }] } }] } },
    ],
    ['a malformed list', 'agent', { tools: { a: secret({ agent: URL }) } }, { tools: { a: { agent: URL } } }],
    ['a malformed inner workflow', 'workflow', { body: [secret({})] }, { body: [{}] }],
    ['data, which is no credential', 'agent', { data: { auth: 'none' } }, { data: { auth: 'none' } }],
  ])('shows no name of a credential of %s', (_, type, config, shown) => {
    const current = new CurrentDefinition({ name: 'w', nodes: [{ id: 'a', type, config }] });
    expect(current.visible['nodes']).toEqual([{ id: 'a', type, config: shown }]);
  });

  it('keeps the notes, which the model does not see', () => {
    const notes = [{ text: 'Why so?', position: { x: 1, y: 2 } }];
    const nodes = [{ id: 'a', type: 'agent', config: {} }];
    const current = new CurrentDefinition({ name: 'w', nodes, notes });
    expect(current.visible).toEqual({ name: 'w', nodes });
    expect(current.applyAnswer({ name: 'w', nodes }).workflow).toMatchObject({ notes });
  });

  it('keeps the credential of a changed node that calls the same agent, and of no other', () => {
    const config = { endpoint_url: URL, auth: 'partner-key' };
    expect(configAfter('external', config, { endpoint_url: URL, timeout: 5 })).toEqual({ ...config, timeout: 5 });
    const other = { endpoint_url: OTHER, timeout: 5 };
    expect(changed('external', config, other)).toEqual({ config: other, lost: ['nodes[0].config.auth'] });
  });

  it('keeps the credentials of the sides of a conversation that stay the same', () => {
    const config = { requester: OTHER, target: URL, message: 'Hello', auth: { requester: 'one', target: 'two' } };
    const { auth: _auth, ...visible } = config;
    const answer = { ...visible, message: 'Goodbye' };
    expect(configAfter('conversation', config, answer)).toEqual({ ...config, message: 'Goodbye' });
    expect(changed('conversation', config, { ...answer, requester: `${OTHER}b` })).toEqual({
      config: { ...answer, requester: `${OTHER}b`, auth: { target: 'two' } },
      lost: ['nodes[0].config.auth.requester'],
    });
    expect(configAfter('conversation', config, { target: URL, message: 'Goodbye' })).toEqual({
      target: URL,
      message: 'Goodbye',
      auth: { target: 'two' },
    });
  });

  it('keeps the credentials of the agents of a brainstorm, wherever they stand now', () => {
    const config: JsonObject = {
      agents: [
        { agent: URL, auth: 'one' },
        { agent: 'workflows/b/nodes/c', credential_ref: 'two' },
      ],
    };
    const agents: JsonObject[] = [
      { agent: 'workflows/d' },
      { agent: 'workflows/b/nodes/c', role: 'review' },
      { agent: URL },
    ];
    expect(configAfter('brainstorm', config, { agents: agents.slice(1), idea: 'x' })).toEqual({
      idea: 'x',
      agents: [
        { agent: 'workflows/b/nodes/c', role: 'review', credential_ref: 'two' },
        { agent: URL, auth: 'one' },
      ],
    });
    expect(changed('brainstorm', config, { agents: agents.slice(0, 2) })).toEqual({
      config: { agents: [agents[0], { ...agents[1], credential_ref: 'two' }] },
      lost: ['nodes[0].config.agents'],
    });
  });

  it('keeps the credentials of agents that are tools, also of one that is named as a text now', () => {
    const tool = { agent: URL, auth: 'one' };
    const config = { tools: ['calculator', tool], prompt: 'x' };
    const answers: [JsonValue[], JsonValue[]][] = [
      [[{ agent: URL, maxCalls: 2 }], [{ ...tool, maxCalls: 2 }]],
      [
        [`agent:${URL}`, 'calculator'],
        [tool, 'calculator'],
      ],
      [['calculator'], ['calculator']],
    ];
    for (const [tools, expected] of answers)
      expect(configAfter('agent', config, { tools })).toEqual({ tools: expected });
    const other = { tools: ['calculator', { agent: OTHER }] };
    expect(changed('agent', config, other)).toEqual({ config: other, lost: ['nodes[0].config.tools'] });
  });

  it('takes an agent that is listed twice for the one of its name or place, and for none where that is unclear', () => {
    const named = (name: string, auth?: string): JsonObject => ({ agent: URL, name, ...(auth && { auth }) });
    const config = { tools: [named('a', 'one'), named('b', 'two')] };
    expect(configAfter('agent', config, { tools: [named('b'), named('a')] })).toEqual({
      tools: [named('b', 'two'), named('a', 'one')],
    });
    expect(configAfter('agent', config, { tools: [named('c'), named('b')] })).toEqual({
      tools: [named('c', 'one'), named('b', 'two')],
    });
    const tools = [named('a'), 'calculator', named('c')];
    expect(changed('agent', config, { tools })).toEqual({
      config: { tools: [named('a', 'one'), 'calculator', named('c')] },
      lost: ['nodes[0].config.tools[2]'],
    });
  });

  it('keeps the credentials inside a changed inner workflow', () => {
    const call = (endpoint: string, auth?: string): JsonObject => {
      return { id: 'x', type: 'external', config: { endpoint_url: endpoint, ...(auth && { auth }) } };
    };
    const body = { nodes: [{ id: 'in', type: 'input', position: { x: 1, y: 2 } }, call(URL, 'partner-key')] };
    const said = { id: 'said', type: 'output', config: {} };
    const answer = { body: { nodes: [{ id: 'in', unchanged: true }, call(URL), said] } };
    expect(configAfter('workflow', { body }, answer)).toEqual({ body: { nodes: [...body.nodes, said] } });
    const { lost } = changed('workflow', { body }, { body: { nodes: [call(OTHER)] } });
    expect(lost).toEqual(['nodes[0].config.body.nodes[0].config.auth']);
  });

  it('keeps the credential of a node that has another id now, if it calls the same agent', () => {
    const config = { endpoint_url: URL, auth: 'partner-key' };
    expect(configAfter('external', config, { endpoint_url: URL, timeout: 5 }, 'b')).toEqual({ ...config, timeout: 5 });
    const other = { endpoint_url: OTHER };
    expect(configAfter('external', config, other, 'b')).toEqual(other);
  });

  it('leaves out a credential of which it does not know which agent it is for, and says so', () => {
    const current = new CurrentDefinition({
      nodes: [
        { id: 'a', type: 'plugged', config: { url: URL, auth: 'partner-key' } },
        { id: 'b', type: 'external', config: { endpoint_url: URL, auth: 'partner-key' } },
      ],
    });
    const nodes: JsonObject[] = [
      { id: 'a', type: 'plugged', config: { url: OTHER } },
      { id: 'b', type: 'conversation', config: { target: URL } },
    ];
    const left = { severity: 'warning', code: 'CREDENTIAL_LEFT_OUT' };
    expect(current.applyAnswer({ nodes })).toEqual({
      workflow: { nodes },
      lost: [
        {
          ...left,
          detail: 'plugged node "a": the credential is left out, because the node has changed',
          path: 'nodes[0].config',
          node: 'a',
        },
        {
          ...left,
          detail: 'conversation node "b": the credential is left out, because the node has another type now',
          path: 'nodes[1].config',
          node: 'b',
        },
      ],
    });
  });

  describe('of tens of thousands of entries', () => {
    let reads: number;
    const entry = (name: string): JsonObject => ({
      name,
      auth: `key of ${name}`,
      get agent() {
        reads += 1;
        return URL;
      },
    });
    const agent = (id: string, tools: JsonValue[]): JsonObject => ({ id, type: 'agent', config: { tools } });
    const times = <T>(count: number, make: (nth: string) => T): T[] =>
      Array.from({ length: count }, (_, nth) => make(`${nth}`));

    it.each<[string, () => JsonObject[], () => JsonObject[]]>([
      [
        'one list',
        () => [agent('a', times(1_000, entry))],
        () => [
          agent(
            'a',
            times(1_000, (nth) => entry(`new ${nth}`)),
          ),
        ],
      ],
      ['nodes with one id', () => [agent('a', times(1_000, entry))], () => times(1_000, () => agent('a', []))],
      [
        'nodes with other ids',
        () => times(500, (nth) => agent(nth, [entry('one'), entry('two')])),
        () => times(500, (nth) => agent(`new ${nth}`, [entry('three')])),
      ],
    ])('compares %s in proportion to the size', (_, before, after) => {
      reads = 0;
      const current = new CurrentDefinition({ name: 'w', nodes: before() });
      current.applyAnswer({ name: 'w', nodes: after() });
      expect(reads).toBeLessThan(100_000);
    });
  });

  it('puts a node back to the letter where the model only says so or repeats it, in whichever order', () => {
    const node = { id: 'a', type: 'agent', config: { prompt: 'x', model: 'm' }, position: { x: 1, y: 2 } };
    const current = new CurrentDefinition({ name: 'w', nodes: [node, { id: 'b', type: 'output' }] });
    const answers: JsonObject[] = [
      { id: 'a', unchanged: true },
      { config: { model: 'm', prompt: 'x' }, type: 'agent', id: 'a' },
      { id: 'a', type: 'agent', config: { prompt: 'x', model: 'm' }, position: { x: 9, y: 9 } },
    ];
    for (const answer of answers) expect(current.applyAnswer({ nodes: [answer] }).workflow['nodes']).toEqual([node]);
    expect(current.applyAnswer({ nodes: [{ id: 'b', type: 'output', config: {} }] }).workflow['nodes']).toEqual([
      { id: 'b', type: 'output' },
    ]);
  });

  it('leaves a new node as the model wrote it, and what is no node to the checks', () => {
    const current = new CurrentDefinition({ nodes: 'none' });
    const nodes: JsonValue[] = [{ id: 'new', unchanged: true }, { type: 'agent' }, 7];
    expect(current.applyAnswer({ nodes })).toEqual({ workflow: { nodes }, lost: [] });
    expect(current.applyAnswer({ nodes: 1 })).toEqual({ workflow: { nodes: 1 }, lost: [] });
    expect(current.visible).toEqual({ nodes: 'none' });
  });
});

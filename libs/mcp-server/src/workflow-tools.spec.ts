import type { AgentSource, ServedAgent } from '#libs/agents';
import type { JsonObject } from '#libs/protocol';
import { agentArgumentFault, RegisteredTools } from './agent-tools.js';
import { callMessage, toolPath, toolsOf } from './workflow-tools.js';

/** Creates a service whose workflows have these inputs, by the name of the workflow. */
function service(inputs: Record<string, JsonObject>, name = 'parley', path = ''): ServedAgent {
  const skill = (id: string) => ({ id, name: id, description: `Does ${id}`, tags: [] });
  const schemas = Object.entries(inputs).map(([id, properties]) => {
    return [id, { input: { type: 'object', properties }, artifacts: [] }] as const;
  });
  const details = { skills: [...Object.keys(inputs), 'a-node'].map(skill), schemas: Object.fromEntries(schemas) };
  return { path, name, details: async () => details } as unknown as ServedAgent;
}

/** Creates RegisteredTools for registered agents with these names. */
function agentTools(names: readonly string[]): RegisteredTools {
  const listAgents: AgentSource['listAgents'] = async (_tenant, limit, after) =>
    names
      .filter((name) => name > after)
      .slice(0, limit)
      .map((name) => ({ path: `agents/${name}`, name, description: `Is ${name}` }));
  return new RegisteredTools(
    { findSource: () => ({ root: 'agents', findAgent: async () => undefined, listAgents }) },
    '',
  );
}

const NO_AGENTS = agentTools([]);

const workflow = (properties: JsonObject) => service({ w: properties }, 'w', 'workflows/w');

describe('tools', () => {
  it('are workflows, and not their nodes; one without inputs takes a text', async () => {
    const { tools, nextCursor } = await toolsOf(
      service({ a: { topic: { description: 'Of what' }, n: { type: 'integer' }, d: { default: 1 } }, b: {} }),
      NO_AGENTS,
    );
    expect(tools).toEqual([
      {
        name: 'a',
        description: 'Does a',
        inputSchema: {
          type: 'object',
          properties: { topic: { type: 'string', description: 'Of what' }, n: { type: 'integer' }, d: { default: 1 } },
        },
      },
      expect.objectContaining({
        name: 'b',
        inputSchema: expect.objectContaining({ properties: { text: expect.anything() } }),
      }),
    ]);
    expect(nextCursor).toBeUndefined();
  });

  it('are told page by page', async () => {
    const names = Array.from({ length: 450 }, (_, index) => `w${String(index).padStart(3, '0')}`);
    const all = service(Object.fromEntries(names.map((name) => [name, {}])));
    const registered = Array.from({ length: 230 }, (_, index) => `a${String(index).padStart(3, '0')}`);
    const agents = agentTools(registered);
    const seen: string[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await toolsOf(all, agents, cursor);
      seen.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    }
    expect(seen).toEqual([...names, ...registered.map((name) => `agents.${name}`)]);
  });

  it.each(['', 'a/b', '..', 'a%2Fb', '-a', 'x'.repeat(65), 'agents.', 'agents.a/b', 7, undefined])(
    'have no name like %j',
    (name) => {
      expect(() => toolPath(name)).toThrow('not found');
    },
  );
});

describe('a registered agent', () => {
  const agent = { path: 'agents/a', name: 'A card', description: 'Translates' } as ServedAgent;

  it('is one tool at its own endpoint', async () => {
    const { tools } = await toolsOf(agent, NO_AGENTS);
    expect(tools).toEqual([{ name: 'agents.a', description: 'Translates', inputSchema: expect.anything() }]);
    expect(toolPath('agents.a')).toBe('agents/a');
  });

  it('gets a text, data of any kind and a skill', async () => {
    const message = await callMessage(agent, { text: 'x', data: [1, null], skill: 'echo' }, {}, undefined);
    expect(message).toMatchObject({ parts: [{ text: 'x' }, { data: [1, null] }], metadata: { skillId: 'echo' } });
    expect((await callMessage(agent, { data: null }, {}, undefined)).parts).toMatchObject([{ data: null }]);
  });

  it.each<[JsonObject, string]>([
    [{}, 'text: is required, unless there is data'],
    [{ text: 1 }, 'text: must be a string'],
    [{ text: 'x', skill: '' }, 'skill: must be the id of a skill'],
    [{ text: 'x', file: 'y' }, 'file: is not an argument of an agent'],
  ])('does not take %j', (args, fault) => {
    expect(agentArgumentFault(args)).toBe(fault);
  });
});

describe('the Message of a call', () => {
  it('has the arguments by the names of the inputs', async () => {
    const { parts, messageId } = await callMessage(workflow({ text: {} }), { text: 'x' }, {}, undefined);
    expect(parts).toMatchObject([{ data: { text: 'x' } }]);
    expect(messageId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    [{ text: 'x' }, { text: 'x' }],
    [{}, { text: '' }],
    [{ text: 7 }, { data: { text: 7 } }],
    [{ text: 'x', other: 1 }, { data: { text: 'x', other: 1 } }],
  ])('is the text where the workflow has no inputs: %j', async (args, part) => {
    expect((await callMessage(workflow({}), args, {}, undefined)).parts).toEqual([expect.objectContaining(part)]);
  });

  it('is the same for the same key, and in the context and the trace that the client names', async () => {
    const trace = { traceparent: '00-1-2-01', tracestate: 'a=b' };
    const meta = { 'parley/contextId': 'c', ...trace, progressToken: 1 };
    const made = ['k', 'k', 'l'].map((key) => callMessage(workflow({}), {}, meta, key));
    const [first, again, other] = await Promise.all(made);
    expect(first).toMatchObject({ contextId: 'c', metadata: trace });
    expect(again).toEqual(first);
    expect(other?.messageId).not.toBe(first?.messageId);
    expect(
      await callMessage(workflow({}), {}, { 'parley/contextId': '', traceparent: 7 }, undefined),
    ).not.toMatchObject({
      contextId: expect.anything(),
      metadata: expect.anything(),
    });
  });

  it.each(['a\0b', 'a\ud800', 'c'.repeat(257), 7, {}])(
    'is none in a context that can be none: %j',
    async (contextId) => {
      await expect(callMessage(workflow({}), {}, { 'parley/contextId': contextId }, undefined)).rejects.toThrow(
        '_meta["parley/contextId"]: must be a string of at most 256 characters',
      );
      const longest = { 'parley/contextId': '\u{1f600}'.repeat(256) };
      expect((await callMessage(workflow({}), {}, longest, undefined)).contextId).toHaveLength(512);
    },
  );
});

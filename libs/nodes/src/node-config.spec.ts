import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { AgentDirectory } from '#libs/a2a-client';
import { CallChains, type NodeProblem, type NodeType } from '#libs/agents';
import type { JsonObject, JsonValue } from '#libs/protocol';
import { AgentNode } from './agent/agent-node.js';
import { BuiltInTools } from './agent/agent-tools.js';
import { ExternalNode } from './external-node.js';
import { SetNode } from './flow-nodes.js';
import { OutputNode } from './node-executor.js';
import { ScriptNode } from './script/script-node.js';
import { FakeCalledAgents } from './testing/fake-called-agents.js';
import { FakeModels } from './testing/fake-models.js';
import { ToolNode } from './tool-node.js';
import { Calculator } from './tools/built-in-tools.js';
import { ToolRegistry } from './tools/tool-registry.js';

const TYPES: NodeType[] = [
  new AgentNode({
    models: new FakeModels(),
    tools: new BuiltInTools(new ToolRegistry([new Calculator()])),
    agents: new FakeCalledAgents({}),
  }),
  new ToolNode(new ToolRegistry([new Calculator()])),
  new OutputNode(),
  new ExternalNode({} as AgentDirectory, new CallChains(Buffer.from('a secret'))),
  new ScriptNode(),
  new SetNode(),
];

const SCRIPT: JsonObject = {
  agent: {
    inputModes: ['text/plain'],
    streaming: true,
    extensions: [{ uri: 'urn:x', required: false, params: {} }],
  },
  rules: [{ when: { text: 'a', messageId: 'b', data: { c: 1 }, turn: 2 }, steps: [{ echo: true }] }],
  otherwise: [
    { status: 'working', text: 'soon' },
    { artifact: { artifactId: 'a', name: 'n', parts: [{ text: 't' }, { data: null }], append: false } },
    { sleep: 10 },
    { reply: [{ url: 'http://a.test' }] },
    { ask: 'what?' },
    { authorize: 'who?' },
    { complete: true },
    { complete: 'done' },
    { fail: 'no' },
    { reject: 'no' },
    { throw: 'TASK_NOT_FOUND', text: 'gone' },
  ],
};

const GOOD: Record<string, JsonObject> = {
  agent: {
    prompt: 'p',
    system_prompt: 's',
    model: 'm',
    data: 1,
    fallbacks: ['n', 'o'],
    temperature: 0.5,
    topP: 0.9,
    stop: ['END'],
    maxTokens: 1000,
    tools: [
      'calculator',
      'files/read_*',
      'agent:workflows/w/nodes/n',
      {
        agent: 'https://a.test/a2a',
        name: 'critic',
        description: 'd',
        auth: 'key',
        protocol: 'founding',
        timeout: 5,
        maxCalls: 3,
        onQuestion: 'ask',
      },
      { agent: 'poet', talk: { maxTurns: 2, announce: 'critic', wait: false } },
    ],
    maxSteps: 5,
    output: { type: 'object' },
    history: 'none',
    historyTokens: 100,
    approve: ['files/*', 'agent:*'],
    onUncertain: 'fail',
    budget: { tokens: 10 },
  },
  tool: { tool: 'calculator', args: { expression: '1' }, prompt: 'p' },
  output: { prompt: 'p', data: { a: 1 }, schema: { type: 'string' } },
  external: {
    endpoint_url: 'http://a.test',
    timeout: 5,
    auth: 'key',
    protocol: 'founding',
    history: 'none',
    prompt: 'p',
    data: [1],
  },
  script: { script: SCRIPT, prompt: 'p', data: null },
  set: { values: { a: 'x', b: [1] } },
};

/** Valid configs with the members that cannot be combined with members of the configs in GOOD. */
const ALTERNATIVES: Record<string, JsonObject> = {
  external: { agent: 'writer', skill: 'essay', timeout: 5, history: 'none', prompt: 'p', data: [1] },
};

const STRANGE: JsonValue[] = [null, true, false, 0, -1, 1.5, 3e9, '', 'x', '1000', [], [1], {}, { text: 'x' }, 'a/b'];

/**
 * Returns a copy of the value with one change. The places of a value are the value itself and everything in it, at any
 * depth.
 * @param place number of the place to change, counted from 0; after the last place the count begins again
 * @param other new value of the place. If it is `x`, a member of an object is removed instead. If it is `1000`, a
 * member is added beside the place instead.
 */
function changed(value: JsonValue, place: number, other: JsonValue): JsonValue {
  const places = placesOf(value);
  const path = places[place % places.length] ?? [];
  const copy = structuredClone({ value });
  const holder = path.slice(0, -1).reduce<JsonValue>((at, key) => (at as JsonObject)[key] as JsonValue, copy);
  const key = path.at(-1) ?? 'value';
  if (other === 'x' && !Array.isArray(holder)) delete (holder as JsonObject)[key];
  else if (other === '1000') (holder as JsonObject)['more'] = 1;
  else (holder as JsonObject)[key] = other;
  return copy.value;
}

function placesOf(value: JsonValue, path: string[] = ['value']): string[][] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, it]) => placesOf(it as JsonValue, [...path, key]))];
}

describe.each(TYPES.map((type) => [type.name, type] as const))('the schema of the config of %s', (name, type) => {
  const schema = type.configSchema as JsonObject & { properties: JsonObject };
  const fits = new Ajv2020({ strict: true }).compile(schema);
  const problemsOf = (config: JsonObject): NodeProblem[] => type.findProblems({ id: 'n', type: name, config });
  const configs = [GOOD[name], ALTERNATIVES[name]].filter((it) => it !== undefined);

  it('takes a config with all members', () => {
    for (const good of configs) {
      expect(problemsOf(good)).toEqual([]);
      expect(fits(good) || fits.errors).toBe(true);
    }
    const members = new Set(configs.flatMap((good) => Object.keys(good)));
    expect([...members].toSorted()).toEqual(Object.keys(schema.properties).toSorted());
  });

  it('describes every member', () => {
    for (const member of Object.values(schema.properties)) {
      expect(member).toHaveProperty('description', expect.stringMatching(/\.$/));
    }
  });

  it('says the same as the node: what has one wrong member is refused by both, or by neither', () => {
    const config = fc.record({
      good: fc.constantFrom(...configs),
      place: fc.nat(200),
      other: fc.constantFrom(...STRANGE),
    });
    fc.assert(
      fc.property(config, ({ good, place, other }) => {
        const wrong = changed(good, place, other);
        fc.pre(typeof wrong === 'object' && wrong !== null && !Array.isArray(wrong));
        const problems = problemsOf(wrong as JsonObject);
        expect({ wrong, problems, refused: !fits(wrong) }).toEqual({ wrong, problems, refused: problems.length > 0 });
      }),
      { numRuns: 1_000 },
    );
  });
});

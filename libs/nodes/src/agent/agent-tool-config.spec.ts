import type { JsonObject, JsonValue } from '#libs/protocol';
import { FakeCalledAgents } from '../testing/fake-called-agents.js';
import { FakeModels } from '../testing/fake-models.js';
import { NotedTools } from '../testing/noted-agent.js';
import { AgentNode } from './agent-node.js';
import { agentToolConfigs } from './agent-tool-config.js';

const services = { models: new FakeModels(), tools: new NotedTools() };
const node = new AgentNode({ ...services, agents: new FakeCalledAgents({}) });

/** Returns the problems of a config, each with its path and text. */
function problems(config: JsonObject, type = node): string[][] {
  return type.findProblems({ id: 'a', type: 'agent', config }).map((problem) => {
    if (typeof problem === 'string') return [problem];
    return [problem.path, problem.detail.replace('agent node "a": ', '')];
  });
}

const REFERENCE = 'must name an agent: a workflow or a node, a path below /a2a, or a URL';

describe('agents in the config of an agent node', () => {
  it.each<[string, string, JsonValue]>([
    ['a workflow by its name', 'agent:poet', 'agent:poet'],
    ['a workflow by its path', 'agent:poet', 'agent:/a2a/workflows/poet'],
    ['a node by its path', 'agent:fan_judge', 'agent:workflows/fan/nodes/judge'],
    ['a node by its alias', 'agent:judge', 'agent:nodes/judge'],
    ['a URL', 'agent:a.example:8080/b/c', 'agent:https://a.example:8080/b/c/?d=e'],
    ['the URL of a card', 'agent:a.example', 'agent:https://a.example/.well-known/agent-card.json'],
    ['a name of its own', 'agent:bard', { agent: 'poet', name: 'bard' }],
  ])('are named after %s', (_what, name, entry) => {
    expect(problems({ tools: [entry] })).toEqual([]);
    expect(agentToolConfigs([entry]).map(({ tool }) => tool)).toEqual([name]);
  });

  it('have their settings, and the usual ones for what is left out', () => {
    const settings = { timeout: 5, maxCalls: 3, onQuestion: 'ask', description: 'D' };
    const entry = { agent: 'https://a.example', auth: 'key', protocol: 'founding', ...settings };
    expect(agentToolConfigs([entry, 'agent:poet', 'calculator'])).toEqual([
      {
        tool: 'agent:a.example',
        reference: 'https://a.example',
        credential: 'key',
        protocol: 'founding',
        limit: 5_000,
        maxCalls: 3,
        onQuestion: 'ask',
        description: 'D',
      },
      { tool: 'agent:poet', reference: 'poet', limit: 60_000, maxCalls: 10, onQuestion: 'model' },
    ]);
  });

  it('may be conversations, of at most five turns that are waited for, unless said otherwise', () => {
    const talk = { maxTurns: 0, announce: 'https://a.example', wait: false };
    const entries = [
      { agent: 'poet', talk: {} },
      { agent: 'critic', talk },
    ];
    expect(problems({ tools: entries })).toEqual([]);
    expect(agentToolConfigs(entries).map((it) => it.talk)).toEqual([{ maxTurns: 5, wait: true }, talk]);
  });

  it.each<[JsonValue, string[][]]>([
    ['agent:', [['', REFERENCE]]],
    ['agent:a b', [['', REFERENCE]]],
    [
      'agent:https://user:secret@a.example',
      [['', 'must not carry a user name or password; name a credential in auth']],
    ],
    [{}, [['.agent', REFERENCE]]],
    [{ agent: 1 }, [['.agent', REFERENCE]]],
    [{ agent: 'poet', auth: 'key' }, [['.auth', 'is for an agent that is named by its URL']]],
    [{ agent: 'https://a.example', auth: '-' }, [['.auth', 'must be the name of a credential']]],
    [{ agent: 'poet', protocol: 'founding' }, [['.protocol', 'is for an agent that is named by its URL']]],
    [{ agent: 'https://a.example', protocol: '1.0' }, [['.protocol', 'must be "founding", or absent']]],
    [{ agent: 'poet', onQuestion: 'never' }, [['.onQuestion', 'must be model or ask']]],
    [{ agent: 'poet', maxCalls: 0 }, [['.maxCalls', 'must be a whole number from 1 to 1000']]],
    [{ agent: 'poet', talk: true }, [['.talk', 'must be an object']]],
    [
      { agent: 'poet', talk: { maxTurns: 21, announce: 'a b', wait: 1, turns: 2 } },
      [
        ['.talk.turns', 'is not a field of talk'],
        ['.talk.maxTurns', 'must be a whole number from 0 to 20'],
        ['.talk.announce', REFERENCE],
        ['.talk.wait', 'must be true or false'],
      ],
    ],
    [
      { agent: 'https://a.example', protocol: 'founding', onQuestion: 'ask', timeout: 3_601, talk: {} },
      [
        ['.protocol', 'is not for an agent tool with talk'],
        ['.onQuestion', 'is not for an agent tool with talk'],
        ['.timeout', 'must be at most 3600 with talk'],
      ],
    ],
    [{ agent: 'poet', constructor: 1 }, [['.constructor', 'is not a field of an agent tool']]],
    [
      { agent: 'poet', name: 'a b' },
      [['.name', 'must be 1 to 64 letters, digits, underscores or hyphens, and not begin with a hyphen']],
    ],
  ])('are refused with the place of what is wrong: %j', (entry, faults) => {
    const expected = faults.map(([member, rule]) => [`config.tools[1]${member}`, `tools[1]${member} ${rule}`]);
    expect(problems({ tools: ['look', entry] })).toEqual(expected);
    expect(agentToolConfigs([entry])).toEqual([]);
  });

  it('are refused where two have one name, where there are more than 100, and where no agents can be tools', () => {
    const taken = 'is the name of another tool: set another name';
    expect(problems({ tools: ['agent:poet', 'agent:workflows/poet', { agent: 'x', name: 'poet' }] })).toEqual([
      ['config.tools[1]', `tools[1] ${taken}`],
      ['config.tools[2].name', `tools[2].name ${taken}`],
    ]);
    const many = Array.from({ length: 101 }, (_, index) => `agent:a${index}`);
    expect(problems({ tools: many })).toEqual([['config.tools', 'tools must be a list of at most 100 tools']]);
    expect(problems({ tools: ['agent:poet'] }, new AgentNode(services))).toMatchObject([
      ['config.tools[0]', expect.any(String)],
    ]);
  });

  it('may have their calls approved by a glob', () => {
    expect(problems({ tools: ['agent:poet'], approve: ['agent:*', 'agent:a.example/b'] })).toEqual([]);
    expect(problems({ approve: ['agent:'] })).toHaveLength(1);
  });
});

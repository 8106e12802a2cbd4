import type { JsonObject } from '#libs/protocol';
import { BrainstormNode } from './brainstorm-node.js';

describe('the config of a brainstorm node', () => {
  const problems = (config: JsonObject) =>
    new BrainstormNode({} as never, {} as never).problems({ id: 'storm', type: 'brainstorm', config });
  const agents = [{ agent: 'a' }, { agent: 'b' }];

  it.each<[JsonObject, string, string]>([
    [{}, 'agents', 'must be an array of objects'],
    [{ agents, maxIterations: '3' }, 'maxIterations', 'must be a number'],
    [{ agents, llmConfig: { secret: 'x' } }, 'llmConfig', 'must be an object with no members but'],
    [{ agents: [{ agent: 'a', skills: ['nosuch'] }, { agent: 'b' }] }, 'agents[0].skills[0]', 'is no known skill'],
    [
      { agents: [{ agent: 'a', modle: 'small' }, { agent: 'b' }] },
      'agents[0].modle',
      "is not a field of a brainstorm's agent",
    ],
    [{ agents: [{ agent: 'a', credential_ref: 7 }, { agent: 'b' }] }, 'agents', 'must be an array of objects'],
    [
      { agents: [{ agent: 'a' }, { agent: 'workflows/b', credential_ref: 'team' }] },
      'agents[1].credential_ref',
      'is not a credential that this agent can use',
    ],
    [
      { agents: [{ agent: 'workflows/a/nodes/b', credential_ref: 'a b' }, { agent: 'b' }] },
      'agents[0].credential_ref',
      'is not a credential that this agent can use',
    ],
  ])('%j is wrong at %s', (config, member, rule) => {
    expect(problems(config)).toEqual([
      { path: `config.${member}`, detail: expect.stringContaining(`brainstorm node "storm": ${member} ${rule}`) },
    ]);
  });
});

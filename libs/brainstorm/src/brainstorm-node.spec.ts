import { Ajv2020 } from 'ajv/dist/2020.js';
import { readBody } from '#libs/http-server';
import { type JsonObject, type JsonValue, userMessage } from '#libs/protocol';
import { BrainstormBody } from './api/brainstorm-body.js';
import { BrainstormNode } from './brainstorm-node.js';

describe('the config of a brainstorm node', () => {
  const node = new BrainstormNode({} as never, {} as never);
  const problems = (config: JsonObject) => node.findProblems({ id: 'storm', type: 'brainstorm', config });
  const fits = new Ajv2020({ strict: true }).compile(node.configSchema);
  const agents = [{ agent: 'a' }, { agent: 'b' }];

  it.each<[JsonObject, string, string]>([
    [{}, 'agents', 'must be an array of objects'],
    [{ agents, maxIterations: '3' }, 'maxIterations', 'must be a number'],
    [{ agents, llmConfig: { secret: 'x' } }, 'llmConfig', 'must be an object with only the members'],
    [{ agents: [{ agent: 'a', skills: ['nosuch'] }, { agent: 'b' }] }, 'agents[0].skills[0]', 'is not a known skill'],
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

  it.each<[string, JsonObject]>([
    ['an unknown member', { agent: 'a', modle: 'small' }],
    ['auth, but no URL', { agent: 'a', auth: 'key' }],
  ])('and its schema refuse an agent with %s', (_, agent) => {
    const config = { agents: [agent, { agent: 'b' }] };
    expect(problems(config)).toHaveLength(1);
    expect(fits(config)).toBe(false);
  });

  it.each<[string, JsonObject, string]>([
    ['temperature', { temperature: 9 }, 'must be a number from 0 to 2'],
    ['max_tokens', { max_tokens: 0 }, 'must be a whole number from 1 to 1000000'],
  ])('ends a run by the name of its field where it was saved before it had a range: %s', (member, llmConfig, rule) => {
    const executor = node.createExecutor({ id: 'storm', type: 'brainstorm', config: { agents, llmConfig } });
    const start = () => executor.taskMetadata?.({ message: userMessage('an idea') }, {} as never);
    const violations = [{ field: `config.llmConfig.${member}`, description: rule }];
    expect(start).toThrow(expect.objectContaining({ reason: 'INVALID_PARAMS', violations }));
  });

  it.each<[string, JsonValue, string | undefined]>([
    ['temperature', 0, undefined],
    ['temperature', 2, undefined],
    ['temperature', 9, 'must be a number from 0 to 2'],
    ['temperature', -0.1, 'must be a number from 0 to 2'],
    ['temperature', '0.2', 'must be a number from 0 to 2'],
    ['max_tokens', 1, undefined],
    ['max_tokens', 1_000_000, undefined],
    ['max_tokens', 1_000_001, 'must be a whole number from 1 to 1000000'],
    ['max_tokens', 0, 'must be a whole number from 1 to 1000000'],
    ['max_tokens', 1.5, 'must be a whole number from 1 to 1000000'],
    ['max_tokens', [5], 'must be a whole number from 1 to 1000000'],
    ['provider', 'openai-compatible', undefined],
    ['provider', 7, 'must be a string'],
    ['model', {}, 'must be a string'],
  ])('and its schema, and a request for a brainstorm, have one rule: llmConfig.%s %j', (member, value, rule) => {
    const llmConfig = { [member]: value };
    const path = `llmConfig.${member}`;
    const detail = `brainstorm node "storm": ${path} ${rule}`;
    expect(problems({ agents, llmConfig })).toEqual(rule === undefined ? [] : [{ path: `config.${path}`, detail }]);
    expect(fits({ agents, llmConfig })).toBe(rule === undefined);
    const read = () => readBody(BrainstormBody, { idea: 'x', agents, llmConfig });
    if (rule === undefined) expect(read).not.toThrow();
    else expect(read).toThrow(expect.objectContaining({ status: 400, errors: [{ path, detail: rule }] }));
  });
});

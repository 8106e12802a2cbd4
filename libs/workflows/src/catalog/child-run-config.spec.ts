import { Ajv2020 } from 'ajv/dist/2020.js';
import type { NodeProblem } from '#libs/agents';
import type { JsonObject } from '#libs/protocol';
import { CHILD_RUN_CONFIG, findChildRunProblems } from './child-run-node.js';

const fits = new Ajv2020({ strict: true }).compile(CHILD_RUN_CONFIG);

function judged(config: JsonObject): { problems: NodeProblem[]; fits: boolean } {
  return { problems: findChildRunProblems({ id: 'n', type: 'workflow', config }), fits: fits(config) };
}

describe('the config of a workflow node', () => {
  it.each<[JsonObject]>([
    [{ workflow: 'translate', revision: '12', inputs: { text: '${item}' } }],
    [{ workflow: 'translate' }],
    [{ body: { nodes: [] } }],
  ])('may be %j', (config) => {
    expect(judged(config)).toEqual({ problems: [], fits: true });
  });

  it.each<[JsonObject, string, string?]>([
    [{}, 'must have exactly one of workflow and body'],
    [{ workflow: 'a', body: {} }, 'must have exactly one of workflow and body'],
    [{ workflow: 'a b' }, 'workflow must be the name', 'workflow'],
    [{ workflow: null }, 'workflow must be the name', 'workflow'],
    [{ workflow: 'a', revision: 12 }, 'revision must be', 'revision'],
    [{ workflow: 'a', revision: 'latest' }, 'revision must be', 'revision'],
    [{ workflow: 'a', revision: '0' }, 'revision must be', 'revision'],
    [{ body: {}, revision: '1' }, 'revision is allowed only with workflow', 'revision'],
    [{ body: 'a' }, 'body must be an object', 'body'],
    [{ workflow: 'a', inputs: 'x' }, 'inputs must be an object', 'inputs'],
  ])('may not be %j: %s', (...[config, problem, member]) => {
    const path = member === undefined ? 'config' : `config.${member}`;
    expect(judged(config)).toEqual({
      problems: [{ path, detail: expect.stringContaining(`workflow node "n": ${problem}`) }],
      fits: false,
    });
  });

  it('has a description of every member', () => {
    for (const member of Object.values(CHILD_RUN_CONFIG.properties))
      expect(member).toHaveProperty('description', expect.stringMatching(/\.$/));
  });
});

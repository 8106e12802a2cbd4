import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ConfigSchema, NodeProblem, NodeSpec } from '#libs/agents';
import type { JsonObject } from '#libs/protocol';
import { HUMAN_CONFIG, humanProblems, SET_CONFIG, setProblems, WAIT_CONFIG, waitProblems } from './flow-nodes.js';

interface Kind {
  schema: ConfigSchema;
  problems: (node: NodeSpec) => NodeProblem[];
}

const KINDS: Record<string, Kind> = {
  set: { schema: SET_CONFIG, problems: setProblems },
  wait: { schema: WAIT_CONFIG, problems: waitProblems },
  human: { schema: HUMAN_CONFIG, problems: humanProblems },
};

const ajv = new Ajv2020({ strict: true });
const FITS = Object.fromEntries(Object.entries(KINDS).map(([type, { schema }]) => [type, ajv.compile(schema)]));

function judged(type: string, config: JsonObject): { problems: NodeProblem[]; fits: boolean } {
  return { problems: KINDS[type]?.problems({ id: 'n', type, config }) ?? [], fits: FITS[type]?.(config) === true };
}

describe('the configs of nodes that decide, wait and ask', () => {
  it.each<[string, JsonObject]>([
    ['set', { values: {} }],
    ['set', { values: { a: [1, '${x}'] } }],
    ['wait', { for: '365d' }],
    ['wait', { for: "${nodes.a.data + 's'}" }],
    ['wait', { until: 'now' }],
    ['human', {}],
    ['human', { prompt: 'Publish?', form: {}, assignee: 'editors' }],
  ])('%s takes %j', (type, config) => {
    expect(judged(type, config)).toEqual({ problems: [], fits: true });
  });

  it.each<[string, JsonObject, string]>([
    ['set', {}, 'missing values config'],
    ['set', { values: [] }, 'values must be an object'],
    ['set', { values: null }, 'values must be an object'],
    ['wait', {}, 'must have exactly one of for and until'],
    ['wait', { for: '1s', until: 'now' }, 'must have exactly one of for and until'],
    ['wait', { for: '1 hour' }, 'for must be a duration'],
    ['wait', { for: 5 }, 'for must be a duration'],
    ['wait', { until: '' }, 'until must be an expression'],
    ['wait', { until: 5 }, 'until must be an expression'],
    ['human', { prompt: 5 }, 'prompt must be a string'],
    ['human', { form: [] }, 'form must be an object'],
    ['human', { assignee: {} }, 'assignee must be a text'],
    ['human', { assignee: '' }, 'assignee must be a text'],
  ])('%s refuses %j: %s', (type, config, problem) => {
    const { problems, fits } = judged(type, config);
    expect(fits).toBe(false);
    const [, member] = /^(?:missing )?(values|for|until|prompt|form|assignee)\b/.exec(problem) ?? [];
    const path = member === undefined ? 'config' : `config.${member}`;
    expect(problems).toEqual([{ path, detail: expect.stringContaining(`${type} node "n": ${problem}`) }]);
  });

  it('waits for no more than a year', () => {
    expect(judged('wait', { for: '366d' }).problems).toHaveLength(1);
    expect(judged('wait', { for: `${'9'.repeat(400)}d` }).problems).toHaveLength(1);
  });

  it.each(Object.entries(KINDS))('describes every member of %s', (_, { schema }) => {
    for (const member of Object.values(schema.properties))
      expect(member).toHaveProperty('description', expect.stringMatching(/\.$/));
  });
});

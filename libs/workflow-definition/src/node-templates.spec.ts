import type { JsonObject } from '#libs/protocol';
import { templatesOf, templateValues } from './node-templates.js';
import type { WorkflowNode } from './workflow.js';

function paths(type: string, config: JsonObject, more: Partial<WorkflowNode> = {}): string[] {
  return templateValues({ id: 'n', type, config, ...more }).map(({ path }) => path);
}

describe('templateValues', () => {
  it.each<[string, JsonObject, string[]]>([
    ['agent', { prompt: '', data: { a: 1 }, system_prompt: 's' }, ['config.prompt', 'config.data']],
    ['agent', { prompt: 5, data: null }, ['config.data']],
    ['conversation', { message: 'm', prompt: 'p' }, ['config.message']],
    ['brainstorm', { idea: 'i' }, ['config.idea']],
    ['tool', { tool: 't', args: {}, data: 1, prompt: 'p' }, ['config.prompt', 'config.args']],
    ['set', { values: {}, data: 1 }, ['config.values']],
    ['workflow', { workflow: 'w', inputs: {} }, ['config.inputs']],
    ['wait', { for: '5s', until: 'now' }, ['config.for']],
    ['human', { prompt: 'p', form: {} }, ['config.prompt']],
    ['input', { default: 'x', prompt: 'p' }, []],
  ])('of %s %j are %j', (type, config, expected) => {
    expect(paths(type, config)).toEqual(expected);
  });

  it('have those of the fallback', () => {
    expect(paths('input', {}, { fallback: { parts: [] } })).toEqual(['fallback.parts']);
  });

  it('have their texts at any depth', () => {
    const config = { prompt: 'p', data: [{ a: 'x', b: [1, 'y'] }] };
    const node: WorkflowNode = { id: 'n', type: 'agent', config, fallback: { parts: [{ text: 'z' }, { data: null }] } };
    expect(templatesOf(node)).toEqual([
      { path: 'config.prompt', text: 'p' },
      { path: 'config.data[0].a', text: 'x' },
      { path: 'config.data[0].b[1]', text: 'y' },
      { path: 'fallback.parts[0].text', text: 'z' },
    ]);
  });
});

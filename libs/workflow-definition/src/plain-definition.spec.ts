import { mayReadBytes } from './workflow-graph.js';
import type { WorkflowDefinition } from './workflow.js';

const definition = (value: string, language?: 1 | 2): WorkflowDefinition =>
  ({
    name: 'w',
    nodes: [{ id: 'a', type: 'set', config: { values: { value } } }],
    edges: [],
    ...(language && { language }),
  }) as unknown as WorkflowDefinition;

describe('mayReadBytes', () => {
  it.each<[string, 1 | 2 | undefined, boolean]>([
    ['${size(nodes.a.artifacts[0].parts[0].raw)}', 2, true],
    ['${nodes.a["artifacts"].size()}', 2, true],
    [String.raw`${'${'}nodes.a["\u0061rtifacts"].size()}`, 2, true],
    ['${nodes.a.text}\n{{a}}', 2, false],
    ['${size(nodes.a.artifacts[0].parts[0].raw)}', undefined, true],
    ['{{a}}', undefined, false],
  ])('says of %j in language %j: %j', (value, language, expected) => {
    expect(mayReadBytes(definition(value, language))).toBe(expected);
  });

  it('looks at a definition once, however many ends of nodes ask', () => {
    let looks = 0;
    const looked = { ...definition('{{a}}'), toJSON: () => ((looks += 1), {}) };
    for (let end = 0; end < 100; end += 1) mayReadBytes(looked);
    expect(looks).toBe(1);
  });
});

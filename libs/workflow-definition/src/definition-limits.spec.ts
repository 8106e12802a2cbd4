import type { JsonObject } from '#libs/protocol';
import {
  findSizeProblems,
  MOST_DEFINITION_BYTES,
  MOST_DESCRIPTION_BYTES,
  MOST_NOTE_BYTES,
  MOST_PROMPT_BYTES,
} from './definition-limits.js';
import type { WorkflowDefinition } from './workflow.js';

function definition(config: JsonObject, more: Partial<WorkflowDefinition> = {}): WorkflowDefinition {
  return { name: 'w', nodes: [{ id: 'a', type: 'agent', config }], edges: [], ...more };
}

describe('sizeProblems', () => {
  it('takes the largest prompt, description and definition that are allowed', () => {
    const prompt = 'é'.repeat(MOST_PROMPT_BYTES / 2);
    expect(findSizeProblems(definition({ prompt, system_prompt: prompt }))).toEqual([]);
    expect(findSizeProblems(definition({}, { description: 'x'.repeat(MOST_DESCRIPTION_BYTES) }))).toEqual([]);
    const rest = MOST_DEFINITION_BYTES - JSON.stringify(definition({ args: '' })).length;
    expect(findSizeProblems(definition({ args: 'x'.repeat(rest) }))).toEqual([]);
    expect(findSizeProblems(definition({ args: 'x'.repeat(rest + 1) }))).toMatchObject([
      { severity: 'error', code: 'DEFINITION_TOO_LARGE', detail: expect.stringContaining(`${MOST_DEFINITION_BYTES}`) },
    ]);
  });

  it('writes none that has too many characters for certain: that would take long', () => {
    const unwritable = {
      toJSON: (): never => {
        throw new Error('it was written');
      },
    } as never;
    const large = definition({ args: { text: '${'.repeat(MOST_DEFINITION_BYTES / 2), more: unwritable } });
    expect(findSizeProblems(large)).toMatchObject([{ code: 'DEFINITION_TOO_LARGE' }]);
  });

  it('names each note that is too long', () => {
    const position = { x: 0, y: 0 };
    const notes = [0, 1].map((more) => ({ text: 'é'.repeat(MOST_NOTE_BYTES / 2 + more), position }));
    expect(findSizeProblems(definition({}, { notes }))).toMatchObject([
      { severity: 'error', code: 'TEXT_TOO_LONG', path: 'notes[1].text' },
    ]);
  });

  it('names each text that is too long, by bytes and not by characters, also in a workflow in a node', () => {
    const long = 'é'.repeat(MOST_PROMPT_BYTES / 2 + 1);
    const inner = { nodes: [{ id: 'in', type: 'agent', config: { system_prompt: long } }], description: long };
    const problems = findSizeProblems(definition({ prompt: long, body: inner }));
    expect(problems.map(({ code, path, node }) => [code, path, node])).toEqual([
      ['TEXT_TOO_LONG', 'nodes[0].config.prompt', 'a'],
      ['TEXT_TOO_LONG', 'nodes[0].config.body.description', 'a'],
      ['TEXT_TOO_LONG', 'nodes[0].config.body.nodes[0].config.system_prompt', 'a'],
    ]);
  });
});

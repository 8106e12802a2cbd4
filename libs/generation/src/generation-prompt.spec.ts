import { describedNodeTypes } from '#libs/nodes';
import { WorkflowCheck } from '#libs/workflows';
import { GENERATION_EXAMPLES, NODE_SENTENCES } from './generation-prompt.js';
import { emptyStore } from './testing/generation-ground.js';

describe('what a model is shown of workflows', () => {
  it.each(GENERATION_EXAMPLES)('has an example without any problem: $description', async ({ workflow }) => {
    const checks = new WorkflowCheck(await describedNodeTypes([]));
    expect(await checks.findProblems(workflow, emptyStore())).toEqual([]);
  });

  it('has a sentence for every type of node', async () => {
    const { names } = await describedNodeTypes([]);
    const all = [...names, 'conversation', 'brainstorm', 'workflow'];
    expect(Object.keys(NODE_SENTENCES).sort()).toEqual(all.sort());
  });
});

import type { Config } from '../graph/graph.js';
import { type Draft, moveNodes } from './draft.js';
import { proposeName } from './workflow-name.js';
import { keepSampleInputs } from './sample-inputs.js';
import { draftOf, listWorkflows } from './workflow-api.js';

/**
 * Returns the draft of a template, with positions for its nodes and a name that no workflow has.
 * @throws Error if there is no template of this name
 */
export async function templateDraft(template: string, signal: AbortSignal): Promise<Draft> {
  const [{ INIT_TEMPLATES }, { placedAside }, workflows] = await Promise.all([
    import('./init-templates.js'),
    import('../graph/layout-aside.js'),
    listWorkflows(signal),
  ]);
  const found = INIT_TEMPLATES.find(({ definition }) => definition.name === template);
  if (!found) throw new Error(`There is no template "${template}".`);
  const taken = new Set(workflows.map(({ name }) => name));
  let name = template;
  while (taken.has(name)) name = proposeName(name);
  keepSampleInputs(name, found.inputs);
  // A file may leave out the config of a node; the service always returns one.
  const nodes = found.definition.nodes.map((node) => ({ ...node, config: (node.config as Config | undefined) ?? {} }));
  const draft = draftOf({ ...found.definition, name, nodes });
  return moveNodes(draft, await placedAside(draft));
}

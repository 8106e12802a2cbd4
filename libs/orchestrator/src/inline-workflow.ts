import type { JsonObject } from '#libs/protocol';
import { inlineDefinition } from './sent-definition.js';
import type { WorkflowRevision } from './workflow.js';
import type { WorkflowStore } from './workflow-store.js';

/** By the config of the node that they stand in: what is made of a revision is kept for as long as that is. */
const made = new WeakMap<JsonObject, WorkflowRevision>();

/**
 * The workflow that stands in a node, named `around.node` and of the same revision; `undefined` where there is none. It
 * speaks the language of the one around it unless it says otherwise.
 */
export function inlineRevision(
  { definition, ...saved }: WorkflowRevision,
  nodeId: string,
): WorkflowRevision | undefined {
  const node = definition.nodes.find(({ id }) => id === nodeId);
  if (node === undefined) return undefined;
  const known = made.get(node.config);
  if (known?.revision === saved.revision && known.definition.name === `${definition.name}.${nodeId}`) return known;
  const body = inlineDefinition(node, definition.language);
  if (body === undefined) return undefined;
  const found = { ...saved, definition: { ...body, name: `${definition.name}.${nodeId}` } };
  made.set(node.config, found);
  return found;
}

/** A revision of a workflow, or of one that stands in nodes (`around.node.node`). */
export async function revisionAt(
  store: WorkflowStore,
  name: string,
  revision?: string,
): Promise<WorkflowRevision | undefined> {
  const [workflow = '', ...nodes] = name.split('.');
  const found = await store.get(workflow, revision);
  return nodes.reduce<WorkflowRevision | undefined>((around, id) => around && inlineRevision(around, id), found);
}

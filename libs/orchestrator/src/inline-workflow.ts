import type { JsonObject } from '#libs/protocol';
import { inlineDefinition } from './sent-definition.js';
import type { WorkflowRevision } from './workflow.js';
import type { WorkflowStore } from './workflow-store.js';

/** Revisions of inline workflows, by the config of their node. They are kept for as long as the config is. */
const made = new WeakMap<JsonObject, WorkflowRevision>();

/**
 * Returns the inline workflow of a node, named `around.node` and with the same revision; `undefined` if there is none.
 * The inline workflow has the language of the enclosing one unless it sets its own.
 */
export function findInlineRevision(
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

/** Returns a revision of a workflow, or of an inline workflow in its nodes (`around.node.node`). */
export async function findRevision(
  store: WorkflowStore,
  name: string,
  revision?: string,
): Promise<WorkflowRevision | undefined> {
  const [workflow = '', ...nodes] = name.split('.');
  const found = await store.get(workflow, revision);
  return nodes.reduce<WorkflowRevision | undefined>((around, id) => around && findInlineRevision(around, id), found);
}

import { inputsSchema, isRequired } from './api/inputs-schema.js';
import { MOST_DEFINITION_BYTES, MOST_DESCRIPTION_BYTES } from './definition-limits.js';
import { findInlineRevision } from './inline-workflow.js';
import type { WorkflowNode, WorkflowRevision } from './workflow.js';
import type { ListedNode, WorkflowInterface, WorkflowSummary } from './workflow-outline.js';

/** Summarizes a revision. Linear in the size of its definition. */
export function summaryOf(revision: WorkflowRevision): WorkflowSummary {
  const { description, nodes } = revision.definition;
  return {
    ...(description && { description: briefDescription(description) }),
    interface: boundedInterface(nodes),
    nodes: boundedNodes(listedNodes(revision)),
  };
}

/** Returns the inputs and outputs of a workflow's nodes. */
export function interfaceOf(nodes: readonly WorkflowNode[]): WorkflowInterface {
  const inputs = nodes.filter(({ type }) => type === 'input').map(({ id }) => id);
  const artifacts = nodes.filter(({ type }) => type === 'output').map(({ id }) => id);
  const example = JSON.stringify(Object.fromEntries(inputs.map((id) => [id, 'text'])));
  return { input: inputsSchema(nodes), artifacts, ...(inputs.length > 0 && { example }) };
}

/** Returns the description that the author of a node wrote for callers, if any. */
export function writtenOf({ config: { description } }: Pick<WorkflowNode, 'config'>): string | undefined {
  return typeof description === 'string' && description.trim() !== '' ? description : undefined;
}

/** Truncates a description from before descriptions were limited. */
function briefDescription(text: string): string {
  if (Buffer.byteLength(text) <= MOST_DESCRIPTION_BYTES) return text;
  return `${text.slice(0, MOST_DESCRIPTION_BYTES / 4)}…`;
}

/**
 * Returns the interface of a workflow. For a definition from before sizes were limited, schemas that are too large are
 * left out.
 */
function boundedInterface(nodes: readonly WorkflowNode[]): WorkflowInterface {
  const whole = interfaceOf(nodes);
  if (isBounded(whole)) return whole;
  return interfaceOf(nodes.map((node) => ({ ...node, config: { optional: !isRequired(node) } })));
}

function boundedNodes(nodes: ListedNode[]): ListedNode[] {
  return isBounded(nodes) ? nodes : nodes.map(({ id, type }) => ({ id, type }));
}

function isBounded(value: object): boolean {
  return Buffer.byteLength(JSON.stringify(value)) <= MOST_DEFINITION_BYTES;
}

function listedNodes(revision: WorkflowRevision): ListedNode[] {
  const found = revision.definition.nodes.flatMap((node): ListedNode[] => {
    const description = writtenOf(node);
    const own = { id: node.id, type: node.type, ...(description && { description: briefDescription(description) }) };
    const inner = node.type === 'workflow' ? findInlineRevision(revision, node.id) : undefined;
    return [own, ...(inner ? listedNodes(inner).map((it) => ({ ...it, id: `${node.id}.${it.id}` })) : [])];
  });
  return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}
